#pragma once

#include "hpsearch/engine/searcher.hpp"

// The programs, for a main() with more searchers than this build has (docs/searchers/own-sampler.md).

namespace hpsearch::programs {

/// hpsearchd, with the searchers that experiments can name; their names must be in ascending order. Returns
/// the exit code. Call it once per process. The registry must outlive it.
///
/// If a stored experiment names another searcher, it cannot be restored: the daemon reports it and ends.
[[nodiscard]] int run_daemon(int argc, char** argv, engine::SearcherRegistry registry);

/// hpsearch, which reads experiment files, previews and simulates them, with the same searchers as the
/// daemon. As run_daemon().
[[nodiscard]] int run_command_line(int argc, char** argv, engine::SearcherRegistry registry);

}  // namespace hpsearch::programs
