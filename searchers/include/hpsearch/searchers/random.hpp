#pragma once

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// max_trials independent draws, each trained to max_length.
[[nodiscard]] engine::SearcherKind random_kind() noexcept;

}  // namespace hpsearch::searchers
