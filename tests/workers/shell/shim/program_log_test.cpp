#include "hpsearch/workers/shell/shim/program_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "scratch.hpp"

namespace hpsearch::workers::test {
namespace {

engine::Result<proto::TextPiece> read_the_log(const std::filesystem::path& path, std::uint64_t offset,
                                              std::uint64_t limit, bool from_end) {
  return read_log(*files::Directory::open(path.parent_path()), path.filename(), offset, limit, from_end);
}

namespace fs = std::filesystem;
using engine::Duration;
using engine::Errc;
using engine::Instant;

/// Everything that a reader gets with repeated reads, with a "|" at each gap.
std::string read_all(const fs::path& path, std::uint64_t limit) {
  std::string text;
  for (std::uint64_t offset = 0;;) {
    const auto piece = read_the_log(path, offset, limit, false);
    EXPECT_TRUE(piece.has_value());
    if (piece->text.empty()) {
      return text;
    }
    text += (piece->offset == offset ? "" : "|") + piece->text;
    offset = piece->offset + piece->text.size();
  }
}

std::uint64_t bytes_in(const fs::path& directory) {
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    bytes += entry.file_size();
  }
  return bytes;
}

TEST(ProgramLog, KeepsItsBeginningAndItsEnd) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "stdout.log";
  auto log = ProgramLog::create(path, {.piece = 1'000, .pieces = 3});
  ASSERT_TRUE(log.has_value());
  std::string whole;
  for (int line = 0; line < 5'000; ++line) {
    const std::string text = "line " + std::to_string(line) + "\n";
    whole += text;
    ASSERT_TRUE(log->append(text));
    ASSERT_LE(bytes_in(scratch.path()), 3 * 1'010U);
  }
  const std::string kept = read_all(path, 300);
  const std::size_t gap = kept.find('|');
  ASSERT_NE(gap, std::string::npos);
  EXPECT_GE(gap, 1'000U);
  EXPECT_TRUE(whole.starts_with(kept.substr(0, gap)));
  EXPECT_GE(kept.size() - gap, 1'000U);
  EXPECT_TRUE(whole.ends_with(kept.substr(gap + 1)));
  EXPECT_EQ(kept.find('|', gap + 1), std::string::npos);
  EXPECT_EQ(log->last_lines(20), "line 4998\nline 4999\n");
  EXPECT_EQ(log->last_lines(19), "line 4999\n");
  const auto last = read_the_log(path, 0, 10, true);
  EXPECT_EQ(last->text, "line 4999\n");
  EXPECT_EQ(last->size, whole.size());
  EXPECT_EQ(last->offset, whole.size() - 10);
}

TEST(ProgramLog, CharacterCutAtAGapDoesNotEndTheLog) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "x.log";
  write_text(path, "one\xC3\xA4\xE2\x82");  // The rest of the last character was in a file that is left out.
  write_text(scratch.path() / "x.log.20", "\xC3\xA4 two\n");
  EXPECT_EQ(read_all(path, 100), "one\xC3\xA4??|\xC3\xA4 two\n");
  EXPECT_EQ(read_all(path, 4), "one\xC3\xA4??|\xC3\xA4 two\n");
  EXPECT_EQ(read_the_log(path, 5, 100, false)->text, "??");
}

TEST(ProgramLog, CharacterCutBetweenFilesIsWhole) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "x.log";
  write_text(path, "one\xE2\x82");
  write_text(scratch.path() / "x.log.5", "\xAC two\n");
  EXPECT_EQ(read_all(path, 5), "one\xE2\x82\xAC two\n");
  EXPECT_EQ(read_all(path, 100), "one\xE2\x82\xAC two\n");
}

TEST(ProgramLog, ShortLogHasOneFile) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "stdout.log";
  auto log = ProgramLog::create(path);
  ASSERT_TRUE(log->append("hello\n"));
  EXPECT_EQ(text_of(path), "hello\n");
  EXPECT_EQ(read_all(path, 4), "hello\n");
}

TEST(ProgramLog, EndIsFoundAcrossFiles) {
  const Scratch scratch;
  auto log = ProgramLog::create(scratch.path() / "x.log", {.piece = 10, .pieces = 4});
  for (const char* text : {"0123456789\n", "ab\n", "cd\nefghij\n", "z\n"}) {
    ASSERT_TRUE(log->append(text));
  }
  EXPECT_EQ(log->last_lines(14), "cd\nefghij\nz\n");
}

TEST(ProgramLog, ReadsNothingBeyondItsEnd) {
  const Scratch scratch;
  write_text(scratch.path() / "x.log", "hello");
  const auto piece = read_the_log(scratch.path() / "x.log", 100, 10, false);
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->offset, 5U);
  EXPECT_EQ(piece->text, "");
  EXPECT_EQ(read_the_log(scratch.path() / "none.log", 0, 10, false).error().code, Errc::not_found);
}

/// Writes the text into the log like a pipe's reader, all at the same time.
void print(ProgramLog& log, std::string_view text, Instant at) {
  while (!text.empty()) {
    const std::span<char> room = log.room();
    const std::size_t size = std::min(room.size(), text.size());
    std::copy_n(text.begin(), size, room.begin());
    log.take(size, at);
    text.remove_prefix(size);
  }
}

std::string numbered_lines(int from, int to) {
  std::string text;
  for (int line = from; line < to; ++line) {
    text += "line " + std::to_string(line) + "\n";
  }
  return text;
}

TEST(ProgramLog, BurstAndEndOfAFloodAreKept) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "x.log";
  auto log = ProgramLog::create(path, {.burst = 2'000'000, .bytes_per_second = 1'000'000});
  const std::string whole = numbered_lines(0, 1'000'000);
  print(*log, whole, Instant{});
  EXPECT_TRUE(log->waits());
  log->catch_up();
  EXPECT_FALSE(log->waits());
  const std::string text = text_of(path);
  const std::string mark = "\n[hpsearch-shim left out ";
  const std::size_t at = text.find(mark);
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(at, 1'900'000U);
  EXPECT_TRUE(whole.starts_with(text.substr(0, at)));
  const std::size_t end = text.find("]\n", at) + 2;
  const std::string_view kept = std::string_view(text).substr(end);
  EXPECT_EQ(kept.size(), 1024U * 1024U);
  EXPECT_TRUE(whole.ends_with(kept));
  EXPECT_EQ(std::stoull(text.substr(at + mark.size())), whole.size() - at - kept.size());
  log->catch_up();
  EXPECT_EQ(text_of(path), text);
}

TEST(ProgramLog, SlowOutputIsNeverDropped) {
  const Scratch scratch;
  auto log = ProgramLog::create(scratch.path() / "x.log", {.burst = 2'000, .bytes_per_second = 1'000});
  const std::string line(99, 'x');
  std::string whole;
  Instant now;
  for (int i = 0; i < 1'000; ++i) {
    now = now + Duration::millis(100);
    whole += line + "\n";
    print(*log, line + "\n", now);
  }
  EXPECT_FALSE(log->waits());
  EXPECT_EQ(text_of(scratch.path() / "x.log"), whole);
}

TEST(ProgramLog, FloodIsVisibleWhileItLasts) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "x.log";
  auto log =
      ProgramLog::create(path, {.piece = 1'000'000'000, .burst = 2'000'000, .bytes_per_second = 2'000'000});
  Instant now;
  for (int i = 0; i < 1'000; ++i) {
    now = now + Duration::millis(10);
    print(*log, std::string(200'000, 'x'), now);
  }
  const std::uint64_t seconds = 10;
  EXPECT_GE(fs::file_size(path), seconds * 2'000'000);
  EXPECT_LE(fs::file_size(path), (seconds + 2) * 2'000'000);
}

TEST(ProgramLog, DelayedBytesWithoutALossHaveNoNote) {
  const Scratch scratch;
  auto log = ProgramLog::create(scratch.path() / "x.log", {.burst = 4, .bytes_per_second = 1});
  print(*log, "abc\n", Instant{});
  print(*log, "d\n", Instant{});
  print(*log, "e\n", Instant{});
  EXPECT_EQ(text_of(scratch.path() / "x.log"), "abc\n");
  log->catch_up();
  EXPECT_EQ(text_of(scratch.path() / "x.log"), "abc\nd\ne\n");
}

TEST(ProgramLog, FullDiskLosesOnlyTheRejectedBytes) {
  auto log = ProgramLog::create("/dev/full");
  ASSERT_TRUE(log.has_value());
  EXPECT_FALSE(log->append("lost"));
  EXPECT_FALSE(log->append("lost too"));
}

}  // namespace
}  // namespace hpsearch::workers::test
