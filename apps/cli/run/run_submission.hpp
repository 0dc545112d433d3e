#pragma once

#include <optional>
#include <string>

#include "cli/run/run_session.hpp"

namespace hpsearch::cli {

/// Begins a new search: everything that makes its submission repeatable is on the disk before it is sent.
[[nodiscard]] Outcome<engine::Done> begin_record(RunSession& run);

/// The present files of the program. They may be missing: packed files are not needed any more.
[[nodiscard]] std::optional<engine::Value> program_now(const RunSession& run);

/// Uploads the present context if necessary, and returns its digest; "" if it is not packed.
[[nodiscard]] Outcome<std::string> hand_over_context(const RunSession& run);

/// Submits the search to the daemon and stores its number in the record.
[[nodiscard]] Outcome<engine::Done> submit(RunSession& run);

}  // namespace hpsearch::cli
