#include "daemon/blobs/checkpoint_root.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;

std::string mark_in(const std::string& root) {
  return text_of(root + "/" + proto::checkpoint_owner_name);
}

TEST(CheckpointRoot, IsInTheStateDirectoryUnlessAnotherIsGiven) {
  const Scratch scratch;
  const std::string usual = scratch.path("checkpoints");
  std::filesystem::create_directory(usual);
  const auto root = prepare_checkpoint_root("", usual, 7);
  ASSERT_TRUE(root);
  EXPECT_EQ(*root, usual);
  EXPECT_EQ(mark_in(*root), proto::checkpoint_owner(7));
}

TEST(CheckpointRoot, IsADirectoryOfTheStoreInTheGivenOne) {
  const Scratch scratch;
  const std::string shared = scratch.path("shared");
  std::filesystem::create_directory(shared);
  for (const std::uint64_t store : {7U, 8U, 7U}) {
    const auto root = prepare_checkpoint_root(shared, "unused", store);
    ASSERT_TRUE(root) << root.error().message;
    EXPECT_EQ(*root, shared + "/" + std::to_string(store));
    EXPECT_EQ(mark_in(*root), proto::checkpoint_owner(store));
    struct stat info {};
    ASSERT_EQ(::stat(root->c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U);
  }
}

TEST(CheckpointRoot, MissingDirectoryIsRefusedAndNotMade) {
  const Scratch scratch;
  const std::string missing = scratch.path("not-mounted");
  for (const std::string& given : {missing, std::string("relative")}) {
    const auto root = prepare_checkpoint_root(given, "unused", 7);
    ASSERT_FALSE(root);
    EXPECT_EQ(root.error().code, Errc::bad_request);
    EXPECT_NE(root.error().message.find(given), std::string::npos) << root.error().message;
  }
  EXPECT_FALSE(std::filesystem::exists(missing));
}

}  // namespace
}  // namespace hpsearch::daemon
