#pragma once

#include <optional>
#include <string>

#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {

/// The commit that a directory has checked out, and whether the directory differs from it. The program `git`
/// is asked; it writes nothing, and it refuses checkouts of other users (its safe.directory). Nothing if
/// there is no git, no checkout, no commit yet, or no answer within seconds: no user should notice the
/// question.
///
/// `left_out`: an absolute path whose changes don't count; "" = all of them count.
[[nodiscard]] std::optional<api::GitState> git_state(const std::string& directory,
                                                     const std::string& left_out = "");

}  // namespace hpsearch::cli
