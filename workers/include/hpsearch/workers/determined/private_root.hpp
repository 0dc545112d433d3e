#pragma once

#include <filesystem>
#include <map>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::workers {

/// Gives this process and its children a private root: all directories of the machine at their usual paths,
/// and each of `places` (absolute path → directory) mounted over it, even if the machine has no such path.
/// It isn't visible outside, and nothing outside changes.
///
/// As root by a mount namespace; else by a user namespace with the same user. Only for a process with one
/// thread, before it runs another program. `scratch`: an empty directory for the mounts.
///
/// unavailable: the machine doesn't allow it; the sentence has the refused step. The process must end then.
[[nodiscard]] engine::Status enter_private_root(
    const std::filesystem::path& scratch,
    const std::map<std::filesystem::path, std::filesystem::path>& places);

}  // namespace hpsearch::workers
