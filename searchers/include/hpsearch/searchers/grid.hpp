#pragma once

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// Every point of the product of the axes, the first key varying slowest, each trained to max_length. Points
/// are made by their number, so a grid of any size costs nothing until it runs.
[[nodiscard]] engine::SearcherKind grid_kind() noexcept;

}  // namespace hpsearch::searchers
