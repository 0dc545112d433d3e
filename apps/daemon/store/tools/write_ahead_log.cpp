#include "daemon/store/tools/write_ahead_log.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr std::size_t header_bytes = 32;
constexpr std::size_t frame_header_bytes = 24;
constexpr std::size_t least_page_bytes = 512;
// A disk writes at least so much as a whole.
constexpr std::size_t sector_bytes = 512;
constexpr std::size_t most_page_bytes = 65'536;
// Its last bit gives the byte order of the words that the checksums cover.
constexpr std::uint32_t magic = 0x377f0682;

std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word = word << 8U | std::to_integer<std::uint32_t>(bytes[at + i]);
  }
  return word;
}

std::uint32_t swapped(std::uint32_t word) {
  return word << 24U | (word << 8U & 0xFF0000U) | (word >> 8U & 0xFF00U) | word >> 24U;
}

struct Pair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  friend bool operator==(Pair, Pair) = default;
};

Pair pair_at(std::span<const std::byte> bytes, std::size_t at) {
  return {big_endian(bytes, at), big_endian(bytes, at + 4)};
}

/// Section 4.2: over words in pairs, each sum adds the other.
Pair checksum(Pair sum, std::span<const std::byte> bytes, bool words_big_endian) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    Pair words = pair_at(bytes, at);
    if (!words_big_endian) {
      words = {swapped(words.first), swapped(words.second)};
    }
    sum.first += words.first + sum.second;
    sum.second += words.second + sum.first;
  }
  return sum;
}

/// The sum before those bytes, if `sum` is the one behind them.
Pair checksum_before(Pair sum, std::span<const std::byte> bytes, bool words_big_endian) {
  for (std::size_t at = bytes.size(); at >= 8; at -= 8) {
    Pair words = pair_at(bytes, at - 8);
    if (!words_big_endian) {
      words = {swapped(words.first), swapped(words.second)};
    }
    sum.second -= words.second + sum.first;
    sum.first -= words.first + sum.second;
  }
  return sum;
}

class Frames {
 public:
  Frames(std::span<const std::byte> log, std::size_t page_bytes, bool words_big_endian)
      : log_(log), page_bytes_(page_bytes), words_big_endian_(words_big_endian) {}

  [[nodiscard]] std::size_t count() const { return (log_.size() - header_bytes) / bytes(); }
  [[nodiscard]] std::size_t place(std::size_t frame) const { return header_bytes + frame * bytes(); }
  [[nodiscard]] bool is_commit(std::size_t frame) const { return big_endian(log_, place(frame) + 4) != 0; }
  [[nodiscard]] Pair salts(std::size_t frame) const { return pair_at(log_, place(frame) + 8); }
  [[nodiscard]] Pair stored(std::size_t frame) const { return pair_at(log_, place(frame) + 16); }
  /// The expected checksum, if that of the frame before it is `before`.
  [[nodiscard]] Pair expected(std::size_t frame, Pair before) const {
    const Pair of_header = checksum(before, log_.subspan(place(frame), 8), words_big_endian_);
    return checksum(of_header, log_.subspan(place(frame) + frame_header_bytes, page_bytes_),
                    words_big_endian_);
  }
  [[nodiscard]] bool follows(std::size_t frame, Pair before) const {
    return stored(frame) == expected(frame, before);
  }
  /// The frame says that it ends a commit, and its first eight bytes, which say so, are its own. A power loss
  /// may leave those of an earlier log there if a sector ends in the frame's header. Page and checksum say
  /// how the eight bytes were written. If the power loss has torn the page as well, neither word is right.
  [[nodiscard]] bool ends_commit(std::size_t frame, Pair before) const {
    if (!is_commit(frame)) {
      return false;
    }
    const auto page = log_.subspan(place(frame) + frame_header_bytes, page_bytes_);
    const Pair of_header = checksum_before(stored(frame), page, words_big_endian_);
    Pair written{of_header.first - before.first - before.second,
                 of_header.second - before.second - of_header.first};
    if (!words_big_endian_) {
      written = {swapped(written.first), swapped(written.second)};
    }
    const Pair own = pair_at(log_, place(frame));
    return written.second != 0 &&
           (!is_split(frame) || written.first == own.first || written.second == own.second);
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return frame_header_bytes + page_bytes_; }
  /// The frame's first eight bytes and its checksum are in different sectors.
  [[nodiscard]] bool is_split(std::size_t frame) const {
    return place(frame) / sector_bytes != (place(frame) + frame_header_bytes - 1) / sector_bytes;
  }

  std::span<const std::byte> log_;
  std::size_t page_bytes_;
  bool words_big_endian_;
};

bool is_page_size(std::size_t bytes) {
  return bytes >= least_page_bytes && bytes <= most_page_bytes && (bytes & (bytes - 1)) == 0;
}

/// Frame 1 belongs to the header before it, although the header has changed: one of its words is different.
bool has_first_frame(std::span<const std::byte> log) {
  const Pair stored = pair_at(log, 24);
  for (const bool words_big_endian : {false, true}) {
    const Pair computed = checksum({}, log.first(24), words_big_endian);
    for (std::size_t page = least_page_bytes; page <= most_page_bytes; page *= 2) {
      const Frames frames(log, page, words_big_endian);
      if (frames.count() > 0 && (frames.follows(0, stored) || frames.follows(0, computed))) {
        return true;
      }
    }
  }
  return false;
}

/// The log continues after `frame`, which differs from what was written after `before`: there, or later, a
/// commit ends that another frame follows. The commit is durable before that one is written.
bool was_durable(const Frames& frames, std::size_t frame, Pair before, Pair salts) {
  // Its checksum, if that is the word that has changed.
  const Pair intended = frames.expected(frame, before);
  const auto follows = [&](std::size_t next) {
    return frames.follows(next, frames.stored(next - 1)) ||
           (next == frame + 1 && frames.follows(next, intended));
  };
  for (std::size_t commit = frame; commit + 1 < frames.count(); ++commit) {
    // A torn frame may say that it ends a commit, as the frame of an earlier log did there.
    const bool is_commit =
        commit == frame ? frames.ends_commit(frame, before) : frames.is_commit(commit) && follows(commit);
    if (is_commit && frames.salts(commit + 1) == salts && follows(commit + 1)) {
      return true;
    }
  }
  return false;
}

/// One of the two is another. Those of an earlier log differ in both: SQLite counts one up and draws the
/// other.
bool is_one_changed(Pair salts, Pair ours) {
  return (salts.first == ours.first) != (salts.second == ours.second);
}

Error damaged(const std::string& what, std::size_t place) {
  return {Errc::corrupt, what + " (at byte " + std::to_string(place) +
                             ") is damaged: it was stored before what lies behind it, which is whole"};
}

std::string log_of(const std::string& path) {
  return path + "-wal";
}

/// Empty if there is no log.
Result<std::vector<std::byte>> checked_log(FileSystem& files, const std::string& name) {
  auto log = files.read(name);
  if (!log) {
    return log.error().code == Errc::not_found ? Result(std::vector<std::byte>()) : log;
  }
  if (auto checked = check_write_ahead_log(*log); !checked) {
    return Error{checked.error().code, "the write-ahead log " + name + ": " + checked.error().message};
  }
  return log;
}

}  // namespace

Status check_write_ahead_log(std::span<const std::byte> log) {
  if (log.size() < header_bytes + frame_header_bytes + least_page_bytes) {
    return Done{};
  }
  const std::uint32_t kind = big_endian(log, 0);
  const std::size_t page = big_endian(log, 8);
  const bool words_big_endian = (kind & 1U) != 0;
  const Pair stored = pair_at(log, 24);
  if ((kind & ~1U) != magic || !is_page_size(page) ||
      checksum({}, log.first(24), words_big_endian) != stored) {
    // A header is durable before the first frame after it is written.
    return has_first_frame(log) ? Status(damaged("its header", 0)) : Status(Done{});
  }
  const Frames frames(log, page, words_big_endian);
  const Pair salts = pair_at(log, 16);
  Pair before = stored;
  for (std::size_t frame = 0; frame < frames.count(); ++frame) {
    const bool ours = frames.salts(frame) == salts;
    const bool fits = frames.follows(frame, before);
    if (ours && fits) {
      before = frames.stored(frame);
      continue;
    }
    // A frame that matches in all but one salt is not torn. With both salts of an earlier log it may be: a
    // sector ends before the checksum, and its first eight bytes are the same in both logs.
    return (fits && is_one_changed(frames.salts(frame), salts)) || was_durable(frames, frame, before, salts)
               ? Status(damaged("frame " + std::to_string(frame + 1), frames.place(frame)))
               : Status(Done{});
  }
  return Done{};
}

Status check_log_of(FileSystem& files, const std::string& path) {
  const auto log = checked_log(files, log_of(path));
  return log ? Status(Done{}) : Status(log.error());
}

Status renew_log_of(FileSystem& files, const std::string& path) {
  const std::string name = log_of(path);
  const auto log = checked_log(files, name);
  if (!log) {
    return log.error();
  }
  const std::array parts{std::span<const std::byte>(*log)};
  return log->empty() ? Status(Done{}) : write_file_durably(files, name, parts);
}

}  // namespace hpsearch::daemon
