#include "model/numeric/dense.hpp"

namespace hpsearch::searchers::model {

const Dense& dense() noexcept {
#if defined(__x86_64__)
  static const bool is_wide = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (is_wide) {
    return dense_avx2;
  }
#endif
  return dense_everywhere;
}

}  // namespace hpsearch::searchers::model
