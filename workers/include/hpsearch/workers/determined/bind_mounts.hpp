#pragma once

#include <filesystem>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::workers {

/// Makes the experiment's `bind_mounts` in this process's private root, after enter_private_root(). A
/// relative container_path is made in `directory`, and one whose first part the machine's root does not have
/// in the private root alone; nothing else is made.
///
/// not_found: a host_path is not there, or a container_path that may not be made. unavailable: a mount is
/// refused.
[[nodiscard]] engine::Status make_bind_mounts(const engine::Value& mounts,
                                              const std::filesystem::path& directory);

}  // namespace hpsearch::workers
