#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::files {

/// What could not be done, for the caller's sentence: `doing` and `path` ("cannot write", "/var/x"), and
/// errno.
struct FileFailure {
  std::string doing;
  std::filesystem::path path;
  int error = 0;

  /// "cannot write /var/x: No space left on device". unavailable.
  [[nodiscard]] engine::Error as_error() const;
};

enum class Readers : std::uint8_t { as_the_umask_says, owner };
/// Whether new content survives the end of this process only, or a power failure too.
enum class Durability : std::uint8_t { of_the_process, of_the_disk };

/// Gives the file the new content, or leaves the old one: never a mixture, whoever reads it or dies
/// meanwhile. The draft is PATH.new, so one process at a time may replace a file. Nothing: it is done.
[[nodiscard]] std::optional<FileFailure> replace_file(const std::filesystem::path& path,
                                                      std::string_view text, Durability durability,
                                                      Readers readers = Readers::as_the_umask_says);

/// Makes the directory and what is missing above it; only its owner may enter it (mode 0700). One that exists
/// keeps its mode. Nothing: it is done.
[[nodiscard]] std::optional<FileFailure> make_private_directory(const std::filesystem::path& path);

/// Flushes a file or the names in a directory to the disk. Some file systems can't sync a directory; they
/// keep its order themselves. Nothing: it is done.
[[nodiscard]] std::optional<FileFailure> sync_path(const std::filesystem::path& path);

}  // namespace hpsearch::files
