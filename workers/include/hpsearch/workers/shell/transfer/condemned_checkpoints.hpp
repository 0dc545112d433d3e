#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/workers/shell/transfer/daemon_access.hpp"

namespace hpsearch::workers {

/// Removes checkpoints of an experiment, each with the rights of the owner of the experiment's
/// directory, and returns the paths that don't exist any more. Others are left unchanged: those of users with
/// a smaller uid than `min_uid`, of another store, and those in directories that this machine lacks.
///
/// For a worker that is root. Threads: any.
[[nodiscard]] std::vector<std::string> remove_as_owner(engine::ExperimentId experiment,
                                                       const std::vector<std::string>& paths,
                                                       std::uint64_t store, std::uint64_t min_uid);

/// Asks the daemon for checkpoints that it may not remove itself, removes them, and reports the removed
/// ones. The daemon names the others again. Threads: any; it waits for the daemon and for the disk.
void remove_condemned_checkpoints(const DaemonAccess& daemon, std::uint64_t store, std::uint64_t min_uid);

}  // namespace hpsearch::workers
