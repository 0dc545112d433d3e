#include "daemon/store/snapshot_files.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Lsn;
using engine::Value;

class SnapshotFilesTest : public testing::Test {
 protected:
  static Snapshot snapshot(std::uint64_t lsn) {
    return {7, Lsn(lsn), 0xABCD,
            Value::Map{{"lsn", static_cast<std::int64_t>(lsn)}, {"text", "twelve trials"}}};
  }
  void keep(std::uint64_t lsn) const {
    const auto kept = files_.keep(snapshot(lsn));
    ASSERT_TRUE(kept) << kept.error().message;
  }
  [[nodiscard]] std::string content(std::uint64_t lsn) const {
    std::ifstream file(files_.path_of(Lsn(lsn)), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(std::uint64_t lsn, const std::string& bytes) const {
    std::ofstream(files_.path_of(Lsn(lsn)), std::ios::binary) << bytes;
  }

  Scratch scratch_;
  SnapshotFiles files_{scratch_.path("snapshots")};
};

TEST_F(SnapshotFilesTest, GivesBackWhatWasKept) {
  EXPECT_TRUE(files_.list().empty());
  keep(12);
  ASSERT_EQ(files_.list(), std::vector<Lsn>{Lsn(12)});
  const auto read = files_.read(Lsn(12));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->snapshot.cluster, 7U);
  EXPECT_EQ(read->snapshot.lsn, Lsn(12));
  EXPECT_EQ(read->snapshot.chain, 0xABCDU);
  EXPECT_TRUE(read->snapshot.state == snapshot(12).state);
  EXPECT_EQ(read->hash, state_hash(snapshot(12).state));
}

TEST_F(SnapshotFilesTest, HashesDifferWhereStatesDo) {
  EXPECT_EQ(state_hash(snapshot(1).state), state_hash(snapshot(1).state));
  EXPECT_NE(state_hash(snapshot(1).state), state_hash(snapshot(2).state));
}

TEST_F(SnapshotFilesTest, TheNewestTwoStay) {
  for (const std::uint64_t lsn : {9U, 10U, 100U, 2000U}) {
    keep(lsn);
  }
  EXPECT_EQ(files_.list(), (std::vector{Lsn(2'000), Lsn(100)}));
}

TEST_F(SnapshotFilesTest, WhatIsOfALaterHistoryGoes) {
  keep(500);
  keep(40);  // The log was put back to before event 500.
  keep(50);
  EXPECT_EQ(files_.list(), (std::vector{Lsn(50), Lsn(40)}));
}

TEST_F(SnapshotFilesTest, AnyFlippedBitAndAnyCutIsFoundAndNamed) {
  keep(12);
  const std::string good = content(12);
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << (byte % 8)));
    put(12, bad);
    const auto flipped = files_.read(Lsn(12));
    ASSERT_FALSE(flipped) << "byte " << byte;
    EXPECT_NE(flipped.error().message.find(files_.path_of(Lsn(12))), std::string::npos)
        << flipped.error().message;
    put(12, good.substr(0, byte));
    const auto cut = files_.read(Lsn(12));
    ASSERT_FALSE(cut) << "cut at byte " << byte;
    EXPECT_EQ(cut.error().code, Errc::corrupt);
  }
  put(12, good + "x");
  EXPECT_FALSE(files_.read(Lsn(12)));
  put(12, good);
  EXPECT_TRUE(files_.read(Lsn(12)));
}

TEST_F(SnapshotFilesTest, OneUnderAnotherNameIsRefused) {
  keep(12);
  std::filesystem::rename(files_.path_of(Lsn(12)), files_.path_of(Lsn(13)));
  const auto read = files_.read(Lsn(13));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::corrupt);
  EXPECT_EQ(files_.read(Lsn(12)).error().code, Errc::not_found);
}

TEST_F(SnapshotFilesTest, OneOfANewerBuildIsRefused) {
  keep(12);
  std::string newer = content(12);
  newer[0] = 2;  // The magic's lowest byte is the format's version.
  put(12, newer);
  EXPECT_EQ(files_.read(Lsn(12)).error().code, Errc::version_mismatch);
}

TEST_F(SnapshotFilesTest, AFullDiskLeavesWhatWasThere) {
  keep(12);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 16;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto kept = files_.keep(snapshot(13));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, Errc::unavailable);
  EXPECT_EQ(files_.list(), std::vector<Lsn>{Lsn(12)});
  EXPECT_TRUE(files_.read(Lsn(12)));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(files_.directory()), {}), 1);
}

}  // namespace
}  // namespace hpsearch::daemon
