#include "daemon/checkpoint_remover.hpp"

#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <filesystem>

#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
const engine::ExperimentId experiment(7);

/// Root may do everything to a directory; while this lives, this thread is nobody to file systems.
class AsNobody {
 public:
  AsNobody() {
    if (::geteuid() == 0) {
      ::setfsuid(65'534);
    }
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() { ::setfsuid(::geteuid()); }
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

TEST_F(CheckpointRemoval, LeavesNothingOfIt) {
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment), "");
  EXPECT_FALSE(fs::exists(trial()));
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment), "") << "what is gone is removed";
}

TEST_F(CheckpointRemoval, GoesOnWhereAnEarlierTryBroke) {
  fs::rename(checkpoint(), trial() / ".1-20.deleted");
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment), "");
  EXPECT_FALSE(fs::exists(trial()));
}

TEST_F(CheckpointRemoval, OfOneThatWasWrittenAgainAfterAnEarlierTryBroke) {
  scratch_.write("7/3/.1-20.deleted/files/weights", "w");
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment), "");
  EXPECT_FALSE(fs::exists(trial()));
}

TEST_F(CheckpointRemoval, ThatTheFileSystemRefusesIsNotSaidToBeDone) {
  fs::permissions(trial(), fs::perms(0555));
  {
    const AsNobody nobody;
    EXPECT_EQ(remove_checkpoint(checkpoint(), experiment),
              "cannot remove the checkpoint " + checkpoint() + ": Permission denied");
  }
  fs::permissions(trial(), fs::perms(0755));
  EXPECT_TRUE(fs::exists(checkpoint() + "/manifest.json"));
  EXPECT_EQ(remove_checkpoint(checkpoint(), experiment), "");
  EXPECT_FALSE(fs::exists(trial()));
}

TEST_F(CheckpointRemoval, OfAnotherExperimentsPlaceIsRefused) {
  EXPECT_NE(remove_checkpoint(checkpoint(), engine::ExperimentId(8)), "");
  EXPECT_TRUE(fs::exists(checkpoint() + "/manifest.json"));
}

}  // namespace
}  // namespace hpsearch::daemon
