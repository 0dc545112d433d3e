#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/file_system_kind.hpp"

namespace hpsearch::files {

/// Whether --allow-network-filesystem is set: state may be on file systems with Trust on_request.
enum class NetworkFileSystems : std::uint8_t { refused, allowed };

/// bad_request: state in `directory`, which is on such a file system, needs the user's consent. Reads no
/// files.
[[nodiscard]] engine::Status accept_place(const std::string& directory, const FileSystemKind& on,
                                          NetworkFileSystems network);

/// Runs check_file_system() if the directory, which exists, isn't on a local file system. bad_request: it
/// failed, with the directory, the step and the remedy.
[[nodiscard]] engine::Status check_place(const std::string& directory, const FileSystemKind& on);

/// The warning, shown once, to the owner of state in `directory`, which isn't on a local file system.
[[nodiscard]] std::string warning_of(const std::string& directory, const FileSystemKind& on);
/// False until note_warning() was called there for that file system; true on a local one.
[[nodiscard]] bool is_warned(const std::string& directory, const FileSystemKind& on);
/// Records in the directory that its owner was warned. If that fails, the warning is repeated.
void note_warning(const std::string& directory, const FileSystemKind& on) noexcept;

}  // namespace hpsearch::files
