#pragma once

#include "hpsearch/engine/searcher.hpp"

// The programs, for a main() that knows more searchers than this build does (docs/searchers/own-sampler.md).

namespace hpsearch::programs {

/// hpsearchd, with the searchers that experiments can name; their names are in ascending order. Returns the
/// exit status. Once in a process. The registry outlives it.
///
/// A stored experiment whose searcher is not among them cannot be restored, and the daemon says so and ends.
[[nodiscard]] int run_daemon(int argc, char** argv, engine::SearcherRegistry registry);

/// hpsearch, which reads experiment files, previews and simulates them, with the same searchers as the
/// daemon. As run_daemon().
[[nodiscard]] int run_command_line(int argc, char** argv, engine::SearcherRegistry registry);

}  // namespace hpsearch::programs
