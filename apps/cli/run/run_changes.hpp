#pragma once

#include "cli/run/run_session.hpp"

namespace hpsearch::cli {

/// A second run on a directory: whether the command asks for the search that is there. Limits that may change
/// are changed, and an edited program is handed over with --with-new-program; everything else that differs is
/// a conflict that says what to do. `run.edited` tells of an edited program of a search that has ended.
[[nodiscard]] Outcome<engine::Done> match_record(RunSession& run);

}  // namespace hpsearch::cli
