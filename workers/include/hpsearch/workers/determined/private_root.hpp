#pragma once

#include <filesystem>
#include <map>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::workers {

/// Gives this process and what it starts a root of its own: everything of the machine under its usual path,
/// and each of `places` (absolute path → directory) on top of it, whether or not the machine has such a path.
/// Nothing of it is seen outside, and nothing outside changes.
///
/// As root by a mount namespace; else by a user namespace in which this user is itself. For a process of one
/// thread, before it runs another program. `scratch`: an empty directory to build on.
///
/// unavailable: the machine does not allow it; the sentence says what was refused. The process must end then.
[[nodiscard]] engine::Status enter_private_root(
    const std::filesystem::path& scratch,
    const std::map<std::filesystem::path, std::filesystem::path>& places);

}  // namespace hpsearch::workers
