#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/transfer/daemon_access.hpp"

namespace hpsearch::workers {

/// Sends what is to be kept of an attempt's output to the daemon, one part for each stream of each process:
/// of stderr only where something is in it. Tries again while the daemon is away or has no room, until the
/// time is over or `stop` is requested. Why it does not have all of it, or "".
///
/// Threads: any; it waits. Memory: about 10 MiB, whatever the log's size.
[[nodiscard]] std::string deliver_log(const AttemptDirectory& directory, const engine::AttemptKey& key,
                                      const DaemonAccess& daemon, std::chrono::milliseconds within,
                                      const std::stop_token& stop);

}  // namespace hpsearch::workers
