#pragma once

#include <optional>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/as_written.hpp"

namespace hpsearch::daemon {

// The parts of a submission's body that say how its user wrote it. The text still has its secrets. Everything
// wrong with a part is added to `problems`; null: the client sent none.

/// `file`: its text of at most 256 KiB, and its name.
[[nodiscard]] std::optional<engine::SubmittedFile> read_submitted_file(const engine::Value& file,
                                                                       engine::Problems& problems);
/// `git`: commit, branch and whether there were uncommitted changes.
[[nodiscard]] std::optional<engine::GitState> read_git_state(const engine::Value& git,
                                                             engine::Problems& problems);

}  // namespace hpsearch::daemon
