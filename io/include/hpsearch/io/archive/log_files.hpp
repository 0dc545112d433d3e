#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/archive/kept_log.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::logs {

// A growing log has several files: stdout.log from the first byte of the stream, and stdout.log.OFFSET
// from a later byte. Files in the middle may be missing.

/// One file of a log.
struct LogFile {
  std::uint64_t begin = 0;  ///< Its place in the stream.
  std::uint64_t size = 0;
  [[nodiscard]] std::uint64_t end() const noexcept { return begin + size; }
};

[[nodiscard]] std::string log_file_name(const std::string& name, std::uint64_t begin);

/// Nothing if that file of the log doesn't exist.
[[nodiscard]] std::optional<LogFile> log_file_at(const files::Directory& directory, const std::string& name,
                                                 std::uint64_t begin);

/// Reads a log on the disk without changing its bytes.
class LogReader {
 public:
  /// not_found: there is no such log. The directory must outlive this.
  [[nodiscard]] static engine::Result<LogReader> open(const files::Directory& directory, std::string name);

  [[nodiscard]] std::uint64_t size() const noexcept;   ///< The size of the stream.
  [[nodiscard]] std::uint64_t front() const noexcept;  ///< Bytes before it can be read.
  [[nodiscard]] std::uint64_t back() const noexcept;   ///< Bytes after it can be read.
  /// Up to `limit` bytes; fewer at the end and at a gap.
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t limit) const;
  /// The bytes that unpack() would give for a kept log.
  [[nodiscard]] Stretch stretch(std::uint64_t offset, std::uint64_t limit, bool from_end) const;

 private:
  LogReader(const files::Directory& directory, std::string name, std::vector<LogFile> files)
      : directory_(&directory), name_(std::move(name)), files_(std::move(files)) {}

  const files::Directory* directory_;
  std::string name_;
  std::vector<LogFile> files_;  ///< In order; at least one.
};

}  // namespace hpsearch::logs
