#include "hpsearch/engine/space/parameter.hpp"

namespace hpsearch::engine {

bool is_constant(const Parameter& parameter) noexcept {
  return std::holds_alternative<ConstParameter>(parameter);
}

}  // namespace hpsearch::engine
