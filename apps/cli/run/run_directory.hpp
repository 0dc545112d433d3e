#pragma once

#include "cli/run/run_session.hpp"

namespace hpsearch::cli {

/// Finds and locks the state directory of a run, with --fresh after it moved an earlier search aside. Refuses
/// a directory that another process or host has, and file systems that cannot be trusted. Fills in `state`
/// and `lock`.
[[nodiscard]] Outcome<engine::Done> take_state_directory(RunSession& run);

}  // namespace hpsearch::cli
