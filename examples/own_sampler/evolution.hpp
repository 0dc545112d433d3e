#pragma once

#include <hpsearch/engine/searcher.hpp>

/// `searcher.name: evolution`: asynchronous halving whose configurations are children of good ones.
[[nodiscard]] hpsearch::engine::SearcherKind evolution_kind() noexcept;
