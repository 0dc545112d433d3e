#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/workers/shell/transfer/daemon_access.hpp"

namespace hpsearch::workers {

/// Removes checkpoints of an experiment, each with the rights of the user to whom the experiment's directory
/// belongs, and returns the paths where none is any more. Others are left alone: those of users with a
/// smaller uid than `min_uid`, of another store, and those in places that this machine doesn't have.
///
/// For a worker that is root. Threads: any.
[[nodiscard]] std::vector<std::string> remove_as_owner(engine::ExperimentId experiment,
                                                       const std::vector<std::string>& paths,
                                                       std::uint64_t store, std::uint64_t min_uid);

/// Asks the daemon for checkpoints that it may not remove itself, removes them, and reports those that are
/// gone. The daemon names the others again. Threads: any; it waits for the daemon and for the disk.
void remove_condemned_checkpoints(const DaemonAccess& daemon, std::uint64_t store, std::uint64_t min_uid);

}  // namespace hpsearch::workers
