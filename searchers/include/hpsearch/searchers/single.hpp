#pragma once

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// One trial to max_length with hyperparameters that are all constant.
[[nodiscard]] engine::SearcherKind single_kind() noexcept;

}  // namespace hpsearch::searchers
