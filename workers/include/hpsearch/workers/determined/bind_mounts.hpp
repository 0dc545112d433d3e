#pragma once

#include <filesystem>
#include <map>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::workers {

/// The items of the experiment's `bind_mounts` whose directory above doesn't exist on the machine,
/// such as /mnt/data: enter_private_root() makes them.
[[nodiscard]] std::map<std::filesystem::path, std::filesystem::path> missing_places(
    const engine::Value& mounts);

/// Mounts the experiment's `bind_mounts` in this process's private root, after enter_private_root(). A
/// relative container_path is created in `directory`, and one whose first part the machine lacks
/// only in the private root; no other directories are created.
///
/// not_found: a host_path doesn't exist, or a container_path that may not be created. unavailable: a mount is
/// refused.
[[nodiscard]] engine::Status make_bind_mounts(const engine::Value& mounts,
                                              const std::filesystem::path& directory);

}  // namespace hpsearch::workers
