#pragma once

#include <cstdint>
#include <string>

namespace hpsearch::daemon {

/// One entry of a tar archive.
struct TarEntry {
  std::string path;
  std::string link{};       ///< Its target; "" = a regular file.
  std::uint64_t bytes = 0;  ///< Size of the content, which follows the header.
  bool is_executable = false;
  std::int64_t written_at = 0;  ///< Seconds since the epoch.
};

/// The bytes before the content, a multiple of 512: a ustar header, preceded by a pax header if a name or a
/// size is too long for ustar (POSIX.1-2001, pax). Cost: O(length of the names).
[[nodiscard]] std::string tar_header(const TarEntry& entry);

/// The two blocks that end an archive.
[[nodiscard]] std::string tar_end();

/// The next multiple of 512.
[[nodiscard]] std::uint64_t padded_to_blocks(std::uint64_t bytes) noexcept;

}  // namespace hpsearch::daemon
