#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/descriptor.hpp"

namespace hpsearch::daemon {

// Files of a state directory that a daemon and commands beside it both change.

/// Makes a change of such a file: keeps the new content elsewhere, and then calls `write`, which writes the
/// file. An error: the file is as it was.
using KeepAsWell =
    std::function<engine::Status(std::string_view content, const std::function<engine::Status()>& write)>;

/// Differs between a file and the file that was there before.
struct FileStamp {
  std::uint64_t inode = 0;
  std::int64_t size = -1;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;

  /// Costs one stat(). The default value means that there is no file.
  [[nodiscard]] static FileStamp of(const std::string& path) noexcept;
};

/// Waits until no other process changes the file. unavailable: the lock file cannot be made.
[[nodiscard]] engine::Result<files::Descriptor> lock_beside(const std::string& path);

/// The content, or "" without a file. corrupt: others may write it (check_written_by_owner_alone()).
[[nodiscard]] engine::Result<std::string> text_of_own_file(const std::string& path);

}  // namespace hpsearch::daemon
