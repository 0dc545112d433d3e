#include "hpsearch/workers/shell/transfer/checkpoint_root.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::workers {
namespace {

std::string why(const std::filesystem::path& root) {
  const engine::Status checked = check_checkpoint_root(root, 7);
  return checked ? "" : checked.error().message;
}

class CheckpointRoot : public testing::Test {
 protected:
  CheckpointRoot() { std::filesystem::create_directory(root_); }
  void mark(std::uint64_t store) {
    scratch_.write(std::string("root/") + proto::checkpoint_owner_name, proto::checkpoint_owner(store));
  }

  Scratch scratch_;
  std::filesystem::path root_ = scratch_.path("root");
};

TEST_F(CheckpointRoot, RootOfItsDaemonIsNotChanged) {
  mark(7);
  EXPECT_EQ(why(root_), "");
  const std::filesystem::directory_iterator files(root_);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(CheckpointRoot, MissingOneIsNotMade) {
  EXPECT_MESSAGE(why(root_ / "none"));
  EXPECT_FALSE(std::filesystem::exists(root_ / "none"));
}

TEST_F(CheckpointRoot, DirectoryOfTheSameNameIsDetected) {
  EXPECT_MESSAGE(why(root_));
  mark(8);
  EXPECT_MESSAGE(why(root_));
}

TEST_F(CheckpointRoot, UnwritableOneNamesBothUsers) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may write everywhere";
  }
  mark(7);
  ASSERT_EQ(::chmod(root_.c_str(), 0500), 0);
  const std::string said = why(root_);
  ::chmod(root_.c_str(), 0700);
  const std::string uid = std::to_string(::geteuid());
  EXPECT_NE(said.find("runs as uid " + uid + ", the directory belongs to uid " + uid), std::string::npos)
      << said;
}

}  // namespace
}  // namespace hpsearch::workers
