#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::files {

/// A failed action, for the caller's sentence: `doing` and `path` ("cannot write", "/var/x"), and
/// errno.
struct FileFailure {
  std::string doing;
  std::filesystem::path path;
  int error = 0;

  /// "cannot write /var/x: No space left on device". unavailable.
  [[nodiscard]] engine::Error as_error() const;
};

enum class Readers : std::uint8_t { as_the_umask_says, owner };
/// Whether new content survives only the end of this process, or a power failure, too.
enum class Durability : std::uint8_t { of_the_process, of_the_disk };

/// Replaces the content of the file, or leaves the old content: readers never see a mixture, even after a
/// crash. The draft is PATH.new, so only one process at a time may replace a file. Nothing: success.
[[nodiscard]] std::optional<FileFailure> replace_file(const std::filesystem::path& path,
                                                      std::string_view text, Durability durability,
                                                      Readers readers = Readers::as_the_umask_says);

/// Makes the directory and missing ones above it; only its owner may enter it (mode 0700). An existing one
/// keeps its mode. Nothing: success.
[[nodiscard]] std::optional<FileFailure> make_private_directory(const std::filesystem::path& path);

/// Flushes a file or the names in a directory to the disk. Some file systems can't sync a directory; they
/// keep its order themselves. Nothing: success.
[[nodiscard]] std::optional<FileFailure> sync_path(const std::filesystem::path& path);

}  // namespace hpsearch::files
