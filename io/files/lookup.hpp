#pragma once

#include <sys/types.h>

#include <filesystem>

#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::files {

/// Whether the path is relative and every name in it is literal, without "." and "..".
[[nodiscard]] bool is_plain(const std::filesystem::path& path);

/// A descriptor of the file at `path` below `directory`, or none and errno: ELOOP or ENOTDIR if a link is
/// in the way, EXDEV for a mount, EINVAL for a path that isn't plain.
[[nodiscard]] Descriptor look_up_below(int directory, const std::filesystem::path& path, int flags,
                                       mode_t mode, Rules rules);

}  // namespace hpsearch::files
