#include "daemon/blobs/checkpoint_remover.hpp"

#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "io/files/hostile_tree.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
const engine::ExperimentId experiment(7);
constexpr std::uint64_t store = 11;

/// Root may do everything to a directory; while an instance lives, file systems treat this thread as an
/// unprivileged user.
class Unprivileged {
 public:
  Unprivileged() {
    if (::geteuid() == 0) {
      ::setfsuid(65'534);
    }
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() { ::setfsuid(::geteuid()); }
};

class CheckpointRemoval : public testing::Test {
 protected:
  CheckpointRemoval() {
    scratch_.write("7/3/1-20/manifest.json", "{}");
    scratch_.write("7/3/1-20/files/weights", "w");
    fs::permissions(scratch_.path(), fs::perms(0755));
  }
  [[nodiscard]] std::string checkpoint() const { return scratch_.path("7/3/1-20"); }
  [[nodiscard]] fs::path trial() const { return scratch_.path("7/3"); }

  Scratch scratch_;
};

TEST_F(CheckpointRemoval, RemovesTheWholeCheckpoint) {
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store), "");
  EXPECT_FALSE(fs::exists(trial()));
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store), "") << "what is gone is removed";
}

TEST_F(CheckpointRemoval, AcceptsAttemptsLeasedAfterARestore) {
  scratch_.write("7/3/1.230584300921369-20/manifest.json", "{}");
  EXPECT_EQ(remove_checkpoint(scratch_.path("7/3/1.230584300921369-20"), experiment, store), "");
  EXPECT_FALSE(fs::exists(scratch_.path("7/3/1.230584300921369-20")));
  EXPECT_TRUE(fs::exists(checkpoint()));
}

TEST_F(CheckpointRemoval, ContinuesAnInterruptedTry) {
  fs::rename(checkpoint(), trial() / ".1-20.deleted");
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store), "");
  EXPECT_FALSE(fs::exists(trial()));
}

TEST_F(CheckpointRemoval, RemovesACheckpointRewrittenAfterAnInterruptedTry) {
  scratch_.write("7/3/.1-20.deleted/files/weights", "w");
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store), "");
  EXPECT_FALSE(fs::exists(trial()));
}

TEST_F(CheckpointRemoval, RefusalOfTheFileSystemIsReported) {
  fs::permissions(trial(), fs::perms(0555));
  {
    const Unprivileged unprivileged;
    EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store),
              "cannot remove the checkpoint " + checkpoint() + ": cannot move to " +
                  scratch_.path("7/3/.1-20.deleted") + ": Permission denied");
  }
  fs::permissions(trial(), fs::perms(0755));
  EXPECT_TRUE(fs::exists(checkpoint() + "/manifest.json"));
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store), "");
  EXPECT_FALSE(fs::exists(trial()));
}

TEST_F(CheckpointRemoval, RemovesLinksAndNotTheirTargets) {
  scratch_.write("own/weights", "mine");
  fs::create_directory_symlink(scratch_.path("own"), scratch_.path("7/3/1-20/files/link"));
  fs::create_directory_symlink(scratch_.path("own"), scratch_.path("7/3/.1-20.deleted"));
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store), "");
  EXPECT_FALSE(fs::exists(trial()));
  scratch_.write("own/manifest.json", "{}");
  fs::create_directory(trial());
  fs::create_directory_symlink(scratch_.path("own"), checkpoint());
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store),
            checkpoint() + " is not removed: it holds no checkpoint");
  EXPECT_EQ(scratch_.read("own/weights"), "mine");
}

TEST_F(CheckpointRemoval, RefusesAnotherExperimentsDirectory) {
  EXPECT_NE(remove_checkpoint(checkpoint(), engine::ExperimentId(8), store), "");
  EXPECT_TRUE(fs::exists(checkpoint() + "/manifest.json"));
}

TEST_F(CheckpointRemoval, RefusesAnotherStoresDirectory) {
  scratch_.write("7/.hpsearch-store.json", proto::checkpoint_owner(12));
  const std::string complaint = remove_checkpoint(checkpoint(), experiment, store);
  EXPECT_NE(complaint.find(scratch_.path("7") + " holds checkpoints of another store"), std::string::npos)
      << complaint;
  EXPECT_TRUE(fs::exists(checkpoint() + "/manifest.json"));
  scratch_.write("7/.hpsearch-store.json", proto::checkpoint_owner(store));
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store), "");
  EXPECT_FALSE(fs::exists(trial()));
}

// --- harm that workers and programs can do to the storage ---

using files::test::lay_hostile_tree;
using files::test::PrivateMounts;
using files::test::Swapper;
using files::test::Witness;

TEST_F(CheckpointRemoval, HostileTreeDamagesNothingElse) {
  const Witness witness(scratch_.path() / "witness");
  lay_hostile_tree(fs::path(checkpoint()) / "files", witness);
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment, store), "");
  EXPECT_FALSE(fs::exists(trial()));
  EXPECT_EQ(witness.harm(), "");
}

TEST_F(CheckpointRemoval, FollowsNoLinkBelowTheRoot) {
  const Witness witness(scratch_.path() / "witness");
  write_text(scratch_.path() / "true-7/3/1-20/manifest.json", "{}");
  for (const std::string place : {"7", "7/3", "7/3/1-20", "7/3/1-20/manifest.json"}) {
    fs::remove_all(scratch_.path() / "7");
    fs::create_directories((scratch_.path() / place).parent_path());
    // Each leads to a directory that looks like a checkpoint.
    const fs::path target = scratch_.path() / ("true-" + place);
    fs::create_symlink(target, scratch_.path() / place);
    const std::string complaint = remove_checkpoint(checkpoint(), experiment, store);
    EXPECT_EQ(complaint.find(checkpoint() + " is not removed: "), 0U) << complaint;
    EXPECT_EQ(scratch_.read("true-7/3/1-20/manifest.json"), "{}") << place;
    EXPECT_TRUE(fs::is_symlink(scratch_.path() / place)) << place;
  }
  EXPECT_EQ(witness.harm(), "");
}

TEST_F(CheckpointRemoval, LeavesMountsInACheckpoint) {
  const Witness witness(scratch_.path() / "witness");
  fs::create_directory(fs::path(checkpoint()) / "files/mount");
  PrivateMounts mounts;
  if (!mounts.usable() || !mounts.bind(witness.directory(), fs::path(checkpoint()) / "files/mount")) {
    GTEST_SKIP() << "this user may not mount";
  }
  const std::string complaint = remove_checkpoint(checkpoint(), experiment, store);
  EXPECT_NE(complaint.find("something else is mounted there"), std::string::npos) << complaint;
  EXPECT_EQ(witness.harm(), "");
}

TEST_F(CheckpointRemoval, ConcurrentReplacementDamagesNothingElse) {
  const Witness witness(scratch_.path() / "witness");
  for (const std::string place : {"7/3", "7/3/1-20", "7/3/1-20/files"}) {
    fs::remove_all(scratch_.path() / "link");
    // The link looks like the trial's directory, or like the checkpoint.
    fs::create_directory_symlink(witness.directory() / (place == "7/3" ? "1/0" : "1/0/1-1"),
                                 scratch_.path() / "link");
    const Swapper swapper(scratch_.path() / place, scratch_.path() / "link");
    for (int round = 0; swapper.wants_more(round, 30 * test_effort()); ++round) {
      const auto root = *files::Directory::open(scratch_.path());
      static_cast<void>(root.make_directories("7/3/1-20/files").has_value());
      static_cast<void>(root.write("7/3/1-20/files/weights", "w", false).has_value());
      static_cast<void>(root.write("7/3/1-20/manifest.json", "{}", false).has_value());
      static_cast<void>(remove_checkpoint(checkpoint(), experiment, store));
      ASSERT_EQ(witness.harm(), "") << place << ", round " << round;
    }
  }
}

}  // namespace
}  // namespace hpsearch::daemon
