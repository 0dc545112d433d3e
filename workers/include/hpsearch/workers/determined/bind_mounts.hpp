#pragma once

#include <filesystem>
#include <map>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::workers {

/// Those of the experiment's `bind_mounts` for which a level of the private root has to be remade below the
/// root itself, such as /mnt/data on a machine without it: what enter_private_root() shows there.
[[nodiscard]] std::map<std::filesystem::path, std::filesystem::path> missing_places(
    const engine::Value& mounts);

/// Makes the experiment's `bind_mounts` in this process's private root, after enter_private_root(). A
/// relative container_path is made in `directory`, and one whose first part the machine's root does not have
/// in the private root alone; nothing else is made.
///
/// not_found: a host_path is not there, or a container_path that may not be made. unavailable: a mount is
/// refused.
[[nodiscard]] engine::Status make_bind_mounts(const engine::Value& mounts,
                                              const std::filesystem::path& directory);

}  // namespace hpsearch::workers
