#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// How large one stream's log may become.
struct LogLimits {
  std::uint64_t whole = std::uint64_t{64} * 1024 * 1024;  ///< Then it is cut down to …
  std::uint64_t head = std::uint64_t{1} * 1024 * 1024;    ///< … its beginning, …
  std::uint64_t tail = std::uint64_t{16} * 1024 * 1024;   ///< … a line that says so, and its end.
};

/// The log of one stream of a program. Writing never makes the program wait: what the disk does not take is
/// dropped.
class ProgramLog {
 public:
  [[nodiscard]] static engine::Result<ProgramLog> create(std::filesystem::path path, LogLimits limits = {});

  /// False when something could not be written.
  bool append(std::string_view bytes);

  /// The last whole lines, clean UTF-8, at most `limit` bytes.
  [[nodiscard]] std::string last_lines(std::size_t limit) const;

 private:
  ProgramLog(std::filesystem::path path, LogLimits limits, Descriptor file)
      : path_(std::move(path)), limits_(limits), file_(std::move(file)) {}
  void cut_down();

  std::filesystem::path path_;
  LogLimits limits_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

/// A piece of a log file for people: clean UTF-8 without a character cut in two.
struct LogPiece {
  std::uint64_t offset = 0;  ///< Of the first byte of `text`.
  std::uint64_t size = 0;    ///< Of the file.
  std::string text;
};

/// Up to `limit` bytes from `offset`, or the last ones. not_found: there is no such file.
[[nodiscard]] engine::Result<LogPiece> read_log(const std::filesystem::path& path, std::uint64_t offset,
                                                std::uint64_t limit, bool from_end);

}  // namespace hpsearch::workers
