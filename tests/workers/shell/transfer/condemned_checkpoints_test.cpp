#include "hpsearch/workers/shell/transfer/condemned_checkpoints.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "scratch.hpp"

// Once, checkpoints that only their users may delete stayed forever.

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::ExperimentId;

constexpr std::uint64_t store = 77;
constexpr uid_t ann = 54'321;  // It needs no name.

class CondemnedCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root acts as other users";
    }
    fs::permissions(scratch_.path(), fs::perms(0711));
    write_text(experiment() / proto::checkpoint_owner_name, proto::checkpoint_owner(store));
    write_text(place() / "manifest.json", "{}");
    write_text(place() / "weights", "1");
    give(experiment(), ann);
  }

  /// With its content, closed to others.
  static void give(const fs::path& directory, uid_t uid) {
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      ASSERT_EQ(::chown(entry.path().c_str(), uid, uid), 0);
    }
    ASSERT_EQ(::chown(directory.c_str(), uid, uid), 0);
    fs::permissions(directory, fs::perms::owner_all);
  }

  [[nodiscard]] fs::path experiment() const { return scratch_.path() / "checkpoints" / "7"; }
  [[nodiscard]] fs::path place() const { return experiment() / "3" / "1-12"; }
  [[nodiscard]] std::vector<std::string> remove(std::uint64_t min_uid = 1000,
                                                std::uint64_t of = store) const {
    return remove_as_owner(ExperimentId(7), {place().string()}, of, min_uid);
  }

  Scratch scratch_;
};

TEST_F(CondemnedCheckpoint, IsRemovedWithTheRightsOfItsUser) {
  EXPECT_EQ(remove(), std::vector{place().string()});
  EXPECT_FALSE(fs::exists(experiment() / "3"));
  EXPECT_EQ(remove(), std::vector{place().string()}) << "it is gone already";
}

TEST_F(CondemnedCheckpoint, StaysIfTheUserMayNotDeleteIt) {
  give(place(), 0);
  EXPECT_TRUE(remove().empty());
}

TEST_F(CondemnedCheckpoint, StaysForRootOrASmallUid) {
  EXPECT_TRUE(remove(ann + 1).empty());
  give(experiment(), 0);
  EXPECT_TRUE(remove(0).empty());
  EXPECT_TRUE(fs::exists(place()));
}

TEST_F(CondemnedCheckpoint, StaysForAnotherStore) {
  EXPECT_TRUE(remove(1000, store + 1).empty());
  EXPECT_TRUE(fs::exists(place()));
}

TEST_F(CondemnedCheckpoint, IsNotReportedIfThisMachineLacksIt) {
  fs::remove_all(scratch_.path() / "checkpoints");
  EXPECT_TRUE(remove().empty());
}

}  // namespace
}  // namespace hpsearch::workers::test
