#include "cli/artifacts/log_source.hpp"

#include <gtest/gtest.h>

#include <string>

#include "hpsearch/io/archive/kept_log.hpp"
#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

/// Everything that a reader gets with repeated reads, with a "|" where something was left out.
std::string read_all(const LeftLogs& logs) {
  std::string text;
  for (std::uint64_t offset = 0;;) {
    const auto part = logs.read(2, offset, false);
    EXPECT_TRUE(part);
    if (!part || part->text.empty()) {
      return text;
    }
    text += (part->offset == offset ? "" : "|") + part->text;
    offset = part->end();
  }
}

TEST(LeftLogs, AreReadAcrossTheirPieces) {
  const Scratch scratch;
  const std::string first(200'000, 'a');
  const std::string last(150'000, 'z');
  write_text(scratch.path() / "worker/attempts/1-7-2" / "stdout.log", first);
  write_text(scratch.path() / "worker/attempts/1-7-2" / "stdout.log.900000", last);
  write_text(scratch.path() / "worker/attempts/1-7-2" / "stdout.log.1050000", "the end\n");
  write_text(scratch.path() / "worker/attempts/1-7-2" / "stdout.log.old", "not a piece");
  const LeftLogs logs(StateDirectory(scratch.path()), 1, 7, {"stdout"});
  EXPECT_EQ(read_all(logs), first + "|" + last + "the end\n");
  const auto end = logs.read(2, 0, true);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->size, 1'050'008U);
  EXPECT_EQ(end->text.size(), log_part_bytes);
  EXPECT_TRUE(end->text.ends_with("zzzthe end\n"));
}

TEST(LeftLogs, AreTheDaemonsIfTheWorkersFilesAreRemoved) {
  const Scratch scratch;
  const std::string text = "epoch 1\nepoch 2\n";
  const auto packed = logs::pack(logs::bytes_to_keep(text.size(), 0, 0),
                                 [&text](auto offset, auto limit) { return text.substr(offset, limit); });
  ASSERT_TRUE(packed) << packed.error().message;
  write_text(scratch.path() / "daemon/kept/1/7/1/2.0.stdout.zst", *packed);
  const LeftLogs left(StateDirectory(scratch.path()), 1, 7, {"stdout"});
  EXPECT_EQ(read_all(left), text);
  EXPECT_EQ(left.course()->attempts, 2U);
}

TEST(LeftLogs, KnowTheirAttempts) {
  const Scratch scratch;
  for (const char* attempt : {"1-7-1", "1-7-12", "1-77-99", "2-7-100"}) {
    write_text(scratch.path() / "worker/attempts" / attempt / "stderr.log", "x");
  }
  const LeftLogs logs(StateDirectory(scratch.path()), 1, 7, {"stderr"});
  EXPECT_EQ(logs.course()->attempts, 12U);
  EXPECT_TRUE(logs.course()->over);
  EXPECT_FALSE(logs.read(3, 0, false));
}

}  // namespace
}  // namespace hpsearch::cli
