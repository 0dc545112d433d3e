#pragma once

#include <filesystem>

namespace hpsearch::workers {

// bind_mounts name places that a worker's machine may not have. A program in a mount namespace of its own can
// be given its own view of the directory that lacks one: all that the machine has there, and the place
// besides.

/// The directory that lacks the first missing part of an absolute path: "/" of "/data/x" where there is no
/// /data; "" when all of it is there.
[[nodiscard]] std::filesystem::path lacking_directory(const std::filesystem::path& path);

/// Whether a program may get its own view of this directory: the root, and those that exist to be mounted in.
/// A program's files in another one would be lost with the view.
[[nodiscard]] bool may_be_remade(const std::filesystem::path& directory);

}  // namespace hpsearch::workers
