#pragma once

#include <string>

#include "cli/run/run_session.hpp"
#include "cli/verbs/failure.hpp"

namespace hpsearch::cli {

// `hpsearch run --on slurm`: a queue of the private daemon, for as long as the command lives, is in the place
// of the local worker.

/// usage: this machine has no commands of Slurm.
[[nodiscard]] Outcome<engine::Done> find_slurm();

/// "tcp://HOST:PORT" where the daemon listens for the nodes: the port of the last time if it is free.
/// usage: --address is not one of this machine.
[[nodiscard]] Outcome<std::string> address_for_nodes(const RunSession& run);

/// Asks Slurm whether an allocation could start, which starts none. usage: it could not, and why.
[[nodiscard]] Outcome<engine::Done> check_queue(RunSession& run);

/// Adds the queue, or continues the one that a killed command left.
[[nodiscard]] Outcome<engine::Done> begin_queue(RunSession& run);

/// The reason why the search waits, if allocations are on their way; "" = nothing is known. failed: the queue
/// has paused itself, and nothing runs.
[[nodiscard]] Outcome<std::string> look_at_queue(const RunSession& run);

/// Removes all queues of the private daemon, and waits until their jobs have ended.
void end_queues(RunSession& run);

}  // namespace hpsearch::cli
