// Copying, moving and removing trees that a program made to mislead the worker.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

#include "hpsearch/io/files/tree.hpp"
#include "io/files/hostile_tree.hpp"
#include "scratch.hpp"

namespace hpsearch::files::test {
namespace {

using engine::Errc;

class HostileTrees : public testing::TestWithParam<Rules::Lookup> {
 protected:
  Scratch scratch_;
  Witness witness_{scratch_.path() / "witness"};
  fs::path tree_ = scratch_.path() / "tree";
  Directory here_ = *Directory::open(scratch_.path(), {.lookup = GetParam()});
};

TEST_P(HostileTrees, RemovalLeavesTheWitness) {
  lay_hostile_tree(tree_, witness_);
  const auto removed = remove_tree(here_, "tree");
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(fs::exists(fs::symlink_status(tree_)));
  EXPECT_EQ(witness_.harm(), "");
}

TEST_P(HostileTrees, TheContentIsRemovedAndTheDirectoryStays) {
  lay_hostile_tree(tree_, witness_);
  EXPECT_TRUE(remove_content(*here_.directory("tree")));
  EXPECT_TRUE(fs::is_empty(tree_));
  EXPECT_EQ(witness_.harm(), "");
}

TEST_P(HostileTrees, DeepOnesAreRemovedWithFewOpenFiles) {
  const OtherFileSystem memory;  // A thousand directories are created quickly there.
  lay_deep(memory.path() / "tree", 5'000);
  const Directory here = *Directory::open(memory.path(), {.lookup = GetParam()});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{200, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto removed = remove_tree(here, "tree");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_TRUE(fs::is_empty(memory.path()));
}

TEST_P(HostileTrees, LinkInItsPlaceIsRemovedAndNotFollowed) {
  fs::create_directory_symlink(witness_.directory(), tree_);
  EXPECT_TRUE(remove_tree(here_, "tree"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(tree_)));
  EXPECT_EQ(witness_.harm(), "");
}

TEST_P(HostileTrees, MountsStay) {
  lay_hostile_tree(tree_, witness_, {.deep = false});
  fs::create_directory(tree_ / "a/mount");
  PrivateMounts mounts;
  if (!mounts.usable() || !mounts.bind(witness_.directory(), tree_ / "a/mount") ||
      !mounts.bind(witness_.file(), tree_ / "a/b/weights")) {
    GTEST_SKIP() << "this user may not mount";
  }
  const Directory here =
      *Directory::open(scratch_.path(), {.lookup = GetParam()});  // Mounts are visible here.
  const auto removed = remove_tree(here, "tree");
  ASSERT_FALSE(removed) << "it says that something stays";
  EXPECT_EQ(witness_.harm(), "");
  EXPECT_TRUE(fs::exists(tree_ / "a/mount/weights"));
  EXPECT_FALSE(fs::exists(tree_ / "weights")) << "everything else goes";
  const auto copied = copy_tree(here, "tree", here, "copy");
  ASSERT_FALSE(copied);
  EXPECT_NE(copied.error().message.find("something else is mounted there"), std::string::npos)
      << copied.error().message;
}

TEST_P(HostileTrees, CopyIsEqual) {
  lay_hostile_tree(tree_, witness_, {.pipes = false, .deep = false, .no_rights = false});
  const auto copied = copy_tree(here_, "tree", here_, "copy");
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(fs::read_symlink(scratch_.path() / "copy/a/b/to-directory"), witness_.directory());
  write_text(scratch_.path() / "copy/a/b/hard-link", "changed");
  EXPECT_EQ(witness_.harm(), "") << "the copy of a hard link is a file of its own";
}

TEST_P(HostileTrees, WithAPipeOrTooDeepAreNotCopied) {
  lay_hostile_level(tree_, witness_, {.no_rights = false});
  EXPECT_EQ(copy_tree(here_, "tree", here_, "copy").error().code, Errc::bad_request);
  lay_deep(scratch_.path() / "deep", deepest_tree + 1);
  EXPECT_EQ(copy_tree(here_, "deep", here_, "copy-of-deep").error().code, Errc::bad_request);
  EXPECT_EQ(witness_.harm(), "");
  EXPECT_TRUE(remove_tree(here_, "copy-of-deep"));
}

TEST_P(HostileTrees, RaceAgainstRemovalLeavesTheWitness) {
  const Swapper swapper(tree_ / "a/b", scratch_.path() / "link");
  for (int round = 0; swapper.wants_more(round, 100 * test_effort()); ++round) {
    lay_hostile_level(scratch_.path() / "fresh", witness_, {.pipes = false, .no_rights = false});
    fs::create_directories(tree_ / "a");
    fs::create_directory_symlink(witness_.directory(), scratch_.path() / "link");
    fs::rename(scratch_.path() / "fresh", tree_ / "a/b");
    static_cast<void>(remove_tree(here_, "tree").has_value());
    ASSERT_EQ(witness_.harm(), "") << "round " << round;
    // Removes both names. A missing name isn't exchanged.
    while (fs::exists(fs::symlink_status(scratch_.path() / "link")) ||
           fs::exists(fs::symlink_status(tree_))) {
      static_cast<void>(remove_tree(here_, "tree").has_value());
      static_cast<void>(remove_tree(here_, "link").has_value());
    }
  }
}

TEST_P(HostileTrees, RaceAgainstCopyingLeavesTheWitness) {
  write_text(tree_ / "a/b/weights", "of the program");
  fs::create_directory_symlink(witness_.directory(), tree_ / "link");
  int whole = 0;
  {
    const Swapper swapper(tree_ / "a/b", tree_ / "link");
    for (int round = 0; swapper.wants_more(round, 100 * test_effort()); ++round) {
      const auto copied = copy_tree(here_, "tree", here_, "copy");
      whole += copied ? 1 : 0;
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(scratch_.path() / "copy")) {
        ASSERT_TRUE(entry.is_symlink() || entry.is_directory() || text_of(entry.path()) == "of the program")
            << entry.path() << " came through a link";
      }
      ASSERT_TRUE(remove_tree(here_, "copy"));
    }
  }
  EXPECT_EQ(witness_.harm(), "") << whole << " were copied whole";
}

INSTANTIATE_TEST_SUITE_P(AtOnce, HostileTrees, testing::Values(Rules::Lookup::at_once));
INSTANTIATE_TEST_SUITE_P(BySteps, HostileTrees, testing::Values(Rules::Lookup::by_steps));

}  // namespace
}  // namespace hpsearch::files::test
