#pragma once

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// Every searcher of this build, ordered by name: what Engine, parse_config and preview are given.
[[nodiscard]] engine::SearcherRegistry registry() noexcept;

}  // namespace hpsearch::searchers
