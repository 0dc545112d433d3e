#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/file_system_kind.hpp"

namespace hpsearch::files {

/// Whether --allow-network-filesystem was given: state may lie where Trust is on_request.
enum class NetworkFileSystems : std::uint8_t { refused, allowed };

/// bad_request: state in `directory`, which is on such a file system, needs the user's consent. Looks at
/// nothing.
[[nodiscard]] engine::Status accept_place(const std::string& directory, const FileSystemKind& on,
                                          NetworkFileSystems network);

/// check_file_system() where the directory, which exists, is not on a local file system. bad_request: it
/// failed, with the directory, the step and the remedy.
[[nodiscard]] engine::Status check_place(const std::string& directory, const FileSystemKind& on);

/// What the owner of the state in `directory`, which is not on a local file system, is told once.
[[nodiscard]] std::string warning_of(const std::string& directory, const FileSystemKind& on);
/// False until note_warning() was called there for that file system; true on a local one.
[[nodiscard]] bool is_warned(const std::string& directory, const FileSystemKind& on);
/// Remembers in the directory that its owner was told. If that cannot be written, he is told again.
void note_warning(const std::string& directory, const FileSystemKind& on) noexcept;

}  // namespace hpsearch::files
