#pragma once

#include <filesystem>

namespace hpsearch::workers {

// bind_mounts may name directories that a worker's machine lacks. A program in its own mount namespace can
// get its own view of the directory above: its content on the machine, and the missing directory
// in addition.

/// The directory that lacks the first missing part of an absolute path: "/" of "/data/x" if there is no
/// /data; "" if the whole path exists.
[[nodiscard]] std::filesystem::path lacking_directory(const std::filesystem::path& path);

/// Whether a program may get its own view of this directory: only the root, and directories that are for
/// mounts. In other directories, files that the program writes there would be lost with the view.
[[nodiscard]] bool may_be_remade(const std::filesystem::path& directory);

}  // namespace hpsearch::workers
