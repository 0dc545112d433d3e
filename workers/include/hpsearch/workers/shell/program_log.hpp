#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// How much of one stream is kept: `pieces` files of `piece` bytes, the first one and the last ones.
struct LogLimits {
  std::uint64_t piece = std::uint64_t{10} * 1024 * 1024;
  std::size_t pieces = 5;  ///< At least 2.
};

/// The log of one stream of a program: its first piece at the given path, later ones beside it, named after
/// the byte of the stream with which they begin (stdout.log, stdout.log.10485760, …). When there are too many,
/// the oldest but the first goes. Writing never makes the program wait: what the disk does not take is
/// dropped and counted.
class ProgramLog {
 public:
  [[nodiscard]] static engine::Result<ProgramLog> create(std::filesystem::path path, LogLimits limits = {});

  /// False when not everything could be written.
  bool append(std::string_view bytes);

  /// For one that prints faster than a disk writes: keeps these bytes in memory, of all that were left out
  /// only the last MiB.
  void leave_out(std::string_view bytes);
  /// Writes down that something was left out, and what is in memory.
  void catch_up();

  /// The last whole lines that were written, clean UTF-8, at most `limit` bytes.
  [[nodiscard]] std::string last_lines(std::size_t limit) const;

 private:
  ProgramLog(std::filesystem::path path, LogLimits limits, Descriptor file)
      : path_(std::move(path)), limits_(limits), file_(std::move(file)) {}
  bool begin_piece();

  std::filesystem::path path_;
  LogLimits limits_;
  Descriptor file_;
  std::uint64_t begin_ = 0;          ///< Of the present piece, in the stream.
  std::uint64_t size_ = 0;           ///< Of the present piece.
  std::uint64_t dropped_ = 0;        ///< Since it was last said in the log.
  std::uint64_t left_out_ = 0;       ///< Since it was last said in the log.
  std::string recent_;               ///< The last of it.
  std::deque<std::uint64_t> later_;  ///< Where the pieces after the first begin.
};

/// A piece of a log for people: clean UTF-8 without a character cut in two.
struct LogPiece {
  std::uint64_t offset = 0;  ///< Of the first byte of `text`, in the stream.
  std::uint64_t size = 0;    ///< Of the stream.
  std::string text;
};

/// Up to `limit` bytes of the log at `path` from `offset`, or the last ones. Where a part was left out, what
/// follows it comes instead: the answer's offset is then larger. not_found: there is no such log.
[[nodiscard]] engine::Result<LogPiece> read_log(const std::filesystem::path& path, std::uint64_t offset,
                                                std::uint64_t limit, bool from_end);

}  // namespace hpsearch::workers
