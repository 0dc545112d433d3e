#include "hpsearch/workers/shell/program_log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "workers/shell/scratch.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Errc;

/// Everything a reader gets who asks on and on, with a "|" where something was left out.
std::string read_all(const fs::path& path, std::uint64_t limit) {
  std::string text;
  for (std::uint64_t offset = 0;;) {
    const auto piece = read_log(path, offset, limit, false);
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
  const auto last = read_log(path, 0, 10, true);
  EXPECT_EQ(last->text, "line 4999\n");
  EXPECT_EQ(last->size, whole.size());
  EXPECT_EQ(last->offset, whole.size() - 10);
}

TEST(ProgramLog, IsOneFileWhileItIsShort) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "stdout.log";
  auto log = ProgramLog::create(path);
  ASSERT_TRUE(log->append("hello\n"));
  EXPECT_EQ(text_of(path), "hello\n");
  EXPECT_EQ(read_all(path, 4), "hello\n");
}

TEST(ProgramLog, ItsEndIsFoundAcrossPieces) {
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
  const auto piece = read_log(scratch.path() / "x.log", 100, 10, false);
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->offset, 5U);
  EXPECT_EQ(piece->text, "");
  EXPECT_EQ(read_log(scratch.path() / "none.log", 0, 10, false).error().code, Errc::not_found);
}

TEST(ProgramLog, OfWhatIsLeftOutTheEndIsKept) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "x.log";
  auto log = ProgramLog::create(path);
  ASSERT_TRUE(log->append("begin\n"));
  const std::string block(100'000, 'x');
  for (int i = 0; i < 100; ++i) {
    log->leave_out(block);
  }
  log->leave_out("the end\n");
  EXPECT_EQ(text_of(path), "begin\n");
  log->catch_up();
  const std::string text = text_of(path);
  EXPECT_TRUE(text.starts_with("begin\n\n[hpsearch-shim left out ")) << text.substr(0, 80);
  EXPECT_TRUE(text.ends_with("xxthe end\n"));
  EXPECT_GT(text.size(), 1'000'000U);
  EXPECT_LT(text.size(), 2'200'000U);
  log->catch_up();
  EXPECT_EQ(text_of(path), text);
}

TEST(ProgramLog, WhatWasLeftOutAndIsAllKeptIsNotMentioned) {
  const Scratch scratch;
  auto log = ProgramLog::create(scratch.path() / "x.log");
  log->leave_out("a\n");
  log->leave_out("b\n");
  log->catch_up();
  EXPECT_EQ(text_of(scratch.path() / "x.log"), "a\nb\n");
}

TEST(ProgramLog, AFullDiskCostsOnlyWhatItDoesNotTake) {
  auto log = ProgramLog::create("/dev/full");
  ASSERT_TRUE(log.has_value());
  EXPECT_FALSE(log->append("lost"));
  EXPECT_FALSE(log->append("lost too"));
}

}  // namespace
}  // namespace hpsearch::workers::test
