#include "hpsearch/engine/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace hpsearch::engine {

void check_failed(const char* expression, const char* why, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: broken promise: %s (%s)\n", file, line, why, expression);
  std::abort();
}

}  // namespace hpsearch::engine
