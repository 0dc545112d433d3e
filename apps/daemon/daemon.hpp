#pragma once

#include "daemon/options.hpp"

namespace hpsearch::daemon {

/// Runs a daemon until a signal ends it or its storage fails. Failures are said on stderr, with the remedy.
[[nodiscard]] Exit run_daemon(const Options& options);

}  // namespace hpsearch::daemon
