#pragma once

#include <optional>
#include <string>

#include "cli/run/run_session.hpp"

namespace hpsearch::cli {

/// A new search: everything that makes its submission repeatable, on disk before it is sent.
[[nodiscard]] Outcome<engine::Done> begin_record(RunSession& run);

/// The program's files as they are now. They may be gone: what is packed does not need them.
[[nodiscard]] std::optional<engine::Value> program_now(const RunSession& run);

/// The digest of the context as it is now, which the daemon has then; "" when it is not packed.
[[nodiscard]] Outcome<std::string> hand_over_context(const RunSession& run);

/// Hands the search to the daemon and keeps its number in the record.
[[nodiscard]] Outcome<engine::Done> submit(RunSession& run);

}  // namespace hpsearch::cli
