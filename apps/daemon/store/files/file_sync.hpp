#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/descriptor.hpp"

namespace hpsearch::daemon {

using files::Descriptor;

/// Whether a call failed with this error because no room is left: the disk, a quota or the process's own
/// limit. Such a failure has changed nothing and may be retried; after any other the file's content is
/// unknown.
[[nodiscard]] bool is_lack_of_room(int error) noexcept;

/// The error in errno while `doing`. unavailable: no room is left, or the path refuses.
[[nodiscard]] engine::Error system_error(const std::string& doing);

[[nodiscard]] engine::Status write_all(int file, std::span<const std::byte> bytes, const std::string& path);

/// Makes the names in a directory durable.
[[nodiscard]] engine::Status sync_directory(const std::string& path);

}  // namespace hpsearch::daemon
