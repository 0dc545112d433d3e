#pragma once

#include "cli/run/run_session.hpp"

namespace hpsearch::cli {

/// For a second run on a directory: checks that the command requests the search that is there. Limits that
/// may change are changed, and an edited program is uploaded with --with-new-program; any other difference is
/// a conflict, whose message has the remedy. `run.edited` describes an edited program of a search that has
/// ended.
[[nodiscard]] Outcome<engine::Done> match_record(RunSession& run);

}  // namespace hpsearch::cli
