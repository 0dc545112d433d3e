#pragma once

#include <sys/types.h>

#include <filesystem>

#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::files {

/// Relative, and every name in it stands for itself.
[[nodiscard]] bool is_plain(const std::filesystem::path& path);

/// A descriptor of what is at `path` below `directory`, or none and errno: ELOOP or ENOTDIR where a link is
/// in the way, EXDEV for a mount, EINVAL for a path that is not plain.
[[nodiscard]] Descriptor look_up_below(int directory, const std::filesystem::path& path, int flags,
                                       mode_t mode, Rules rules);

}  // namespace hpsearch::files
