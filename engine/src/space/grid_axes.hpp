#pragma once

#include <memory>
#include <span>

#include "hpsearch/engine/space/combinations.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// The points of the grid of a space with conditions; nullptr where a leaf lacks its count.
[[nodiscard]] std::shared_ptr<const Combinations> grid_of(std::span<const Space::Leaf> leaves);

}  // namespace hpsearch::engine
