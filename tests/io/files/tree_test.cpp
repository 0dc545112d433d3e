#include "hpsearch/io/files/tree.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/files/hostile_tree.hpp"
#include "scratch.hpp"

namespace hpsearch::files::test {
namespace {

namespace fs = std::filesystem;
using engine::Errc;

class Trees : public testing::Test {
 protected:
  Scratch scratch_;
  Directory here_ = *Directory::open(scratch_.path());
};

TEST_F(Trees, GivingChangesTheOwnerButNotOfLinkTargets) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root gives files away";
  }
  write_text(scratch_.path() / "ours", "");
  write_text(scratch_.path() / "tree/deep/file", "");
  fs::create_symlink("../ours", scratch_.path() / "tree/link");
  const auto given = give_tree(here_, "tree", 54'321, 54'322);
  ASSERT_TRUE(given) << given.error().message;
  const auto owner = [&](const char* path) {
    struct stat info {};
    EXPECT_EQ(::lstat((scratch_.path() / path).c_str(), &info), 0) << path;
    return std::pair(info.st_uid, info.st_gid);
  };
  for (const char* path : {"tree", "tree/deep", "tree/deep/file", "tree/link"}) {
    EXPECT_EQ(owner(path), std::pair(54'321U, 54'322U)) << path;
  }
  EXPECT_EQ(owner("ours").first, 0U);
  EXPECT_EQ(give_tree(here_, "nothing", 1, 1).error().code, Errc::not_found);
}

TEST_F(Trees, CopiesKeepContentLinksAndModes) {
  const std::string large(1'000'000, 'x');
  write_text(scratch_.path() / "from/x", large);
  fs::permissions(scratch_.path() / "from/x", fs::perms::owner_all);
  write_text(scratch_.path() / "from/deep/empty", "");
  fs::permissions(scratch_.path() / "from/deep", fs::perms(0500));
  fs::create_symlink("x", scratch_.path() / "from/link");
  const auto copied = copy_tree(here_, "from", here_, "to");
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(text_of(scratch_.path() / "to/x"), large);
  EXPECT_EQ(fs::status(scratch_.path() / "to/x").permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(scratch_.path() / "to/deep").permissions(), fs::perms(0500));
  EXPECT_TRUE(fs::exists(scratch_.path() / "to/deep/empty"));
  EXPECT_EQ(fs::read_symlink(scratch_.path() / "to/link"), "x");
  EXPECT_TRUE(remove_tree(here_, "to"));
  EXPECT_FALSE(fs::exists(scratch_.path() / "to"));
}

TEST_F(Trees, CopiesAndMovesNeedAFreeName) {
  scratch_.write("from/x", "new");
  scratch_.write("to/x", "old");
  EXPECT_EQ(copy_tree(here_, "from", here_, "to").error().code, Errc::wrong_state);
  EXPECT_EQ(copy_file(*here_.directory("from"), "x", *here_.directory("to"), "x").error().code,
            Errc::wrong_state);
  EXPECT_EQ(move_entry(here_, "from", here_, "to").error().code, Errc::wrong_state);
  EXPECT_EQ(scratch_.read("to/x"), "old");
  EXPECT_TRUE(move_entry(here_, "from", here_, "fresh"));
  EXPECT_EQ(scratch_.read("fresh/x"), "new");
}

TEST_F(Trees, MissingFileIsNotFound) {
  EXPECT_EQ(copy_tree(here_, "from", here_, "to").error().code, Errc::not_found);
  EXPECT_EQ(move_entry(here_, "from", here_, "to").error().code, Errc::not_found);
  EXPECT_TRUE(remove_tree(here_, "from"));
}

TEST_F(Trees, FullDiskIsReportedAndNothingIsLost) {
  scratch_.write("from/x", std::string(200'000, 'x'));
  fs::create_directory(scratch_.path() / "small");
  PrivateMounts mounts;
  if (!mounts.usable() || !mounts.memory(scratch_.path() / "small", 100'000)) {
    GTEST_SKIP() << "this user may not mount";
  }
  const Directory from = *Directory::open(scratch_.path());
  const Directory small = *Directory::open(scratch_.path() / "small");
  const auto moved = move_entry(from, "from", small, "to");
  ASSERT_FALSE(moved);
  EXPECT_NE(moved.error().message.find(": No space left on device; free some space"), std::string::npos)
      << moved.error().message;
  EXPECT_EQ(scratch_.read("from/x").size(), 200'000U);
  EXPECT_TRUE(small.entries()->empty());
}

/// Several processes that create a secret at the same time all use the same one.
TEST_F(Trees, FileCreatedByManyAtOnceIsTheSameForAll) {
  for (int round = 0; round < 20 * test_effort(); ++round) {
    const std::string name = "secret-" + std::to_string(round);
    std::vector<std::string> got(8);
    std::vector<std::thread> makers;
    for (std::size_t i = 0; i < got.size(); ++i) {
      makers.emplace_back([&, i] {
        if (here_.write_if_missing(name, "made by " + std::to_string(i), 0600)) {
          got[i] = here_.read(name, 100).has_value() ? *here_.read(name, 100) : "unreadable";
        }
      });
    }
    for (std::thread& maker : makers) {
      maker.join();
    }
    for (const std::string& one : got) {
      ASSERT_EQ(one, got.front());
      ASSERT_TRUE(one.starts_with("made by ")) << one;
    }
    EXPECT_EQ(fs::status(scratch_.path() / name).permissions(), fs::perms(0600));
  }
  EXPECT_EQ(here_.entries()->size(), static_cast<std::size_t>(20 * test_effort())) << "no draft is left";
}

}  // namespace
}  // namespace hpsearch::files::test
