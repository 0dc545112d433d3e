#pragma once

#include "cli/run/run_session.hpp"

namespace hpsearch::cli {

/// Finds and locks the state directory of a run; with --fresh it then moves an earlier search aside. Refuses
/// a directory that another process or host has, and unreliable file systems. Sets `state` and `lock`.
[[nodiscard]] Outcome<engine::Done> take_state_directory(RunSession& run);

/// For the end of a command whose search has not begun: removes the state directory if this command made it.
/// Does nothing to a directory with a search, or one that had files before.
void remove_unused_directory(RunSession& run);

}  // namespace hpsearch::cli
