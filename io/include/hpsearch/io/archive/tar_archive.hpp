#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::files {

/// A tar archive that is made while it is read, and can be read from any offset (POSIX.1-2001, pax). Contents
/// are read from their files, which are opened for each part: no link is followed. The same entries always
/// give the same bytes.
///
/// Threads: any, one at a time.
class TarArchive {
 public:
  /// The time of all entries, in seconds since the epoch.
  explicit TarArchive(std::int64_t written_at);

  struct Content {
    std::shared_ptr<const Directory> directory;
    std::string name;  ///< Below the directory.
    std::uint64_t bytes = 0;
  };
  void add_file(const std::string& path, Content content, bool is_executable);
  void add_link(const std::string& path, const std::string& target);
  /// Adds the mark at its end. Nothing may be added afterwards.
  void end();

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// At most `limit` bytes from `offset` on, at least one before the end. unavailable: a file can no longer
  /// be read, or became shorter. Cost: O(limit + log entries).
  [[nodiscard]] engine::Result<std::string> read(std::uint64_t offset, std::size_t limit) const;

 private:
  /// A header, the content of its file, and zeros up to a multiple of 512.
  struct Part {
    std::uint64_t begin = 0;  ///< Offset in the archive.
    std::string head;
    Content content{};
    [[nodiscard]] std::uint64_t end() const noexcept;
  };
  void add(Part part);

  std::int64_t written_at_;
  std::vector<Part> parts_;  ///< Sorted by `begin`, without gaps. The last one is the end mark.
  std::uint64_t bytes_ = 0;
};

}  // namespace hpsearch::files
