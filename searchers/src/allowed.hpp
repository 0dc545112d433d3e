#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::searchers {

/// So many configurations are looked at one by one, to find those that the space's conditions allow; it takes
/// some ten milliseconds.
inline constexpr engine::Cardinality most_listed = 20'000;

/// The numbers below `size` whose configurations the conditions allow, in order. `size` is at most
/// most_listed.
template <class ConfigurationAt>
[[nodiscard]] std::vector<std::uint32_t> allowed_among(const engine::Space& space, engine::Cardinality size,
                                                       ConfigurationAt configuration_at) {
  std::vector<std::uint32_t> allowed;
  for (std::uint32_t number = 0; number < size; ++number) {
    if (space.allows(configuration_at(number))) {
      allowed.push_back(number);
    }
  }
  return allowed;
}

/// The points of the grid.
[[nodiscard]] inline std::vector<std::uint32_t> allowed_points(const engine::Space& space) {
  return allowed_among(space, space.grid_size().value(),
                       [&](std::uint32_t number) { return space.grid_point(number); });
}

}  // namespace hpsearch::searchers
