#pragma once

#include "daemon/options/options.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::daemon {

/// Runs a daemon until a signal ends it or its storage fails. Prints failures and their remedy on stderr.
/// `registry` has the searchers that experiments can name.
[[nodiscard]] Exit run_daemon(const Options& options, engine::SearcherRegistry registry);

}  // namespace hpsearch::daemon
