#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::searchers {

/// The value at a leaf's place in a configuration, or nullptr. Keys may hold dots.
[[nodiscard]] inline const engine::Value* leaf_of(const engine::Value& configuration,
                                                  const std::vector<std::string>& keys) {
  const engine::Value* here = &configuration;
  for (const std::string& key : keys) {
    here = here->as_map() == nullptr ? nullptr : here->as_map()->find(key);
    if (here == nullptr) {
      return nullptr;
    }
  }
  return here;
}

}  // namespace hpsearch::searchers
