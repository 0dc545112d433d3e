#pragma once

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// One bracket of asynchronous successive halving with num_rungs rungs.
[[nodiscard]] engine::SearcherKind async_halving_kind() noexcept;

}  // namespace hpsearch::searchers
