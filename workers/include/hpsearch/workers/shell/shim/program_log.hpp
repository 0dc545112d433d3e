#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/encoding/text_piece.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// Limits for the size and the speed of one stream.
struct LogLimits {
  std::uint64_t piece =
      std::uint64_t{10} * 1024 * 1024;  ///< Bytes per file: the first file and the last ones are kept.
  std::size_t pieces = 5;               ///< At least 2.
  std::uint64_t burst = std::uint64_t{32} * 1024 * 1024;  ///< Bytes that are written at any speed, …
  std::uint64_t bytes_per_second = std::uint64_t{16} * 1024 * 1024;  ///< … and the rate beyond them.
};

/// The log of one stream of a program: its first file at the given path, later ones beside it, named after
/// the offset of their first byte in the stream (stdout.log, stdout.log.10485760, …). If there are too
/// many, the oldest except the first is removed. Writing never makes the program wait: bytes that the disk
/// rejects are dropped and counted.
///
/// Most bytes of a flood would be written only to be deleted, and the program would have to wait, because
/// its pipe is read more slowly. So bytes beyond the rate of LogLimits are left out; the last MiB of each
/// such stretch is kept, and the log notes how much is missing before it.
class ProgramLog {
 public:
  /// The directory must be the attempt's own then. Later files are made in it even if its name changes, and
  /// never replace a file of the program.
  [[nodiscard]] static engine::Result<ProgramLog> create(const std::filesystem::path& path,
                                                         LogLimits limits = {});

  /// The buffer for the next bytes of the stream; never empty.
  [[nodiscard]] std::span<char> room() noexcept;
  /// The first `bytes` of room() were filled by `now`, which never decreases.
  void take(std::size_t bytes, engine::Instant now);

  /// Whether bytes are held in memory because they came too fast.
  [[nodiscard]] bool waits() const noexcept { return waiting_ > 0; }
  /// Writes them now, and how much was left out before them.
  void catch_up();

  /// Writes at once. False if not everything could be written.
  bool append(std::string_view bytes);

  /// The last whole lines that were written, as valid UTF-8, at most `limit` bytes.
  [[nodiscard]] std::string last_lines(std::size_t limit) const;

 private:
  ProgramLog(files::Directory directory, std::string name, LogLimits limits, Descriptor file);
  bool begin_piece();
  void earn(engine::Instant now) noexcept;

  files::Directory directory_;
  std::string name_;
  LogLimits limits_;
  Descriptor file_;
  std::uint64_t begin_ = 0;          ///< The place of the current file in the stream.
  std::uint64_t size_ = 0;           ///< The size of the current file.
  std::uint64_t dropped_ = 0;        ///< Since the last note in the log.
  std::deque<std::uint64_t> later_;  ///< The places of the files after the first.

  std::unique_ptr<char[]>
      recent_;            // NOLINT(modernize-avoid-c-arrays): a ring; memory is touched where it is used.
  std::size_t next_ = 0;  ///< The place of room() in it.
  std::uint64_t waiting_ =
      0;  ///< Bytes since the last write; those that are still in the ring wait for the next write.
  std::int64_t allowance_;                 ///< Bytes that may be written now.
  std::optional<engine::Instant> earned_;  ///< The time up to which it was counted.
};

/// Up to `limit` bytes of the log with that name from `offset`, or the last ones. If a part was left out,
/// the result begins after it, at a larger offset. not_found: there is no such log.
[[nodiscard]] engine::Result<proto::TextPiece> read_log(const files::Directory& directory,
                                                        const std::string& name, std::uint64_t offset,
                                                        std::uint64_t limit, bool from_end);

}  // namespace hpsearch::workers
