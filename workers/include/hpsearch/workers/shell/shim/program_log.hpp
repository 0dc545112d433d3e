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

/// How much of one stream is kept, and how fast it may come.
struct LogLimits {
  std::uint64_t piece =
      std::uint64_t{10} * 1024 * 1024;  ///< Bytes of a file: the first one is kept and the last ones.
  std::size_t pieces = 5;               ///< At least 2.
  std::uint64_t burst =
      std::uint64_t{32} * 1024 * 1024;  ///< Bytes that are written however fast they come, …
  std::uint64_t bytes_per_second = std::uint64_t{16} * 1024 * 1024;  ///< … and beyond them.
};

/// The log of one stream of a program: its first piece at the given path, later ones beside it, named after
/// the byte of the stream with which they begin (stdout.log, stdout.log.10485760, …). When there are too
/// many, the oldest but the first goes. Writing never makes the program wait: what the disk does not take is
/// dropped and counted.
///
/// Of a flood most would be written only to be deleted, at the cost of the program, which waits until its
/// pipe is read. So what comes faster than LogLimits say is left out; the last MiB of each such stretch is
/// kept, and the log says how much is missing before it.
class ProgramLog {
 public:
  /// The directory must be the attempt's own then. Later pieces go to it, whatever its name stands for, and
  /// to no name that the program has taken.
  [[nodiscard]] static engine::Result<ProgramLog> create(const std::filesystem::path& path,
                                                         LogLimits limits = {});

  /// Where the next bytes of the stream are to be put; never empty.
  [[nodiscard]] std::span<char> room() noexcept;
  /// The first `bytes` of room() were put there by `now`, which never goes back.
  void take(std::size_t bytes, engine::Instant now);

  /// Something waits in memory because it came too fast.
  [[nodiscard]] bool waits() const noexcept { return waiting_ > 0; }
  /// Writes that down, however fast it came, and how much was left out before it.
  void catch_up();

  /// Writes at once. False when not everything could be written.
  bool append(std::string_view bytes);

  /// The last whole lines that were written, clean UTF-8, at most `limit` bytes.
  [[nodiscard]] std::string last_lines(std::size_t limit) const;

 private:
  ProgramLog(files::Directory directory, std::string name, LogLimits limits, Descriptor file);
  bool begin_piece();
  void earn(engine::Instant now) noexcept;

  files::Directory directory_;
  std::string name_;
  LogLimits limits_;
  Descriptor file_;
  std::uint64_t begin_ = 0;          ///< Of the present piece, in the stream.
  std::uint64_t size_ = 0;           ///< Of the present piece.
  std::uint64_t dropped_ = 0;        ///< Since it was last said in the log.
  std::deque<std::uint64_t> later_;  ///< Where the pieces after the first begin.

  std::unique_ptr<char[]>
      recent_;            // NOLINT(modernize-avoid-c-arrays): a ring; memory is touched where it is used.
  std::size_t next_ = 0;  ///< Where room() begins in it.
  std::uint64_t waiting_ =
      0;  ///< Bytes since the last write; those that are still in the ring wait for the next.
  std::int64_t allowance_;                 ///< Bytes that may be written now.
  std::optional<engine::Instant> earned_;  ///< Until when that was counted.
};

/// Up to `limit` bytes of the log of that name from `offset`, or the last ones. Where a part was left out,
/// what follows it comes instead: the answer's offset is then larger. not_found: there is no such log.
[[nodiscard]] engine::Result<proto::TextPiece> read_log(const files::Directory& directory,
                                                        const std::string& name, std::uint64_t offset,
                                                        std::uint64_t limit, bool from_end);

}  // namespace hpsearch::workers
