#pragma once

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::cli {

/// The searchers that experiments can name: those of this build, unless the program was started with others.
[[nodiscard]] engine::SearcherRegistry known_searchers() noexcept;

/// Must be called first, by the program that runs the command line.
void set_known_searchers(engine::SearcherRegistry registry) noexcept;

}  // namespace hpsearch::cli
