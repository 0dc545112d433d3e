#include "hpsearch/io/files/directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "io/files/hostile_tree.hpp"
#include "scratch.hpp"

namespace hpsearch::files::test {
namespace {

using engine::Errc;

/// Both ways to look up names: by the kernel, and by our own code for older kernels.
class Directories : public testing::TestWithParam<Rules::Lookup> {
 protected:
  [[nodiscard]] Directory open(const fs::path& path, Rules::Mounts mounts = Rules::Mounts::refused) const {
    auto opened = Directory::open(path, {.lookup = GetParam(), .mounts = mounts});
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
    }
    return *std::move(opened);
  }

  Scratch scratch_;
  Witness witness_{scratch_.path() / "witness"};
  fs::path tree_ = scratch_.path() / "tree";
};

TEST_P(Directories, ReadAndWriteBelowThem) {
  fs::create_directory(tree_);
  const Directory tree = open(tree_);
  ASSERT_TRUE(tree.make_directories("a/b"));
  ASSERT_TRUE(tree.make_directories("a/b")) << "what is there already is fine";
  ASSERT_TRUE(tree.write("a/b/file", "old", false));
  ASSERT_TRUE(tree.write("a/b/file", "new", true));
  EXPECT_EQ(*tree.read("a/b/file", 3), "new");
  EXPECT_EQ(tree.read("a/b/file", 2).error().code, Errc::corrupt);
  ASSERT_TRUE(tree.make_link("b/file", "a/link"));
  EXPECT_EQ(*tree.link_target("a/link"), "b/file");
  EXPECT_EQ(*tree.kind("a/link"), Kind::link);
  EXPECT_EQ(*tree.kind("a"), Kind::directory);
  EXPECT_EQ(*tree.kind("a/b/file"), Kind::file);
  EXPECT_FALSE(tree.kind("a/c")->has_value());
  EXPECT_FALSE(tree.kind("c/a")->has_value());
  const auto found = tree.directory("a")->entries();
  ASSERT_EQ(found->size(), 2U) << "no draft is left";
  EXPECT_EQ(found->front().name, "b");
  EXPECT_TRUE(tree.remove("a/b/file"));
  EXPECT_TRUE(tree.remove("a/b")) << "empty";
  EXPECT_FALSE(tree.remove("a"));
  EXPECT_TRUE(tree.remove("a/b")) << "what is gone is removed";
  EXPECT_EQ(tree.directory("a/b").error().code, Errc::not_found);
  EXPECT_EQ(tree.directory("a/b").error().message,
            "cannot open " + (tree_ / "a/b").string() + ": No such file or directory");
}

TEST_P(Directories, PathsOutsideAreRefused) {
  fs::create_directories(tree_ / "a");
  const Directory tree = open(tree_);
  for (const std::string path : {"../witness/thesis.tex", "a/../../witness/thesis.tex", "..", ".", "", "a/.",
                                 "./a", "a//b", "/etc/passwd", "a/"}) {
    EXPECT_FALSE(tree.file(path)) << path;
    EXPECT_FALSE(tree.directory(path)) << path;
    EXPECT_FALSE(tree.create(path)) << path;
    EXPECT_FALSE(tree.make_directory(path)) << path;
    EXPECT_FALSE(tree.write(path, "x", false)) << path;
  }
  EXPECT_FALSE(tree.remove("../witness/thesis.tex"));
  EXPECT_FALSE(tree.make_link("x", "../witness/new"));
  EXPECT_EQ(witness_.harm(), "");
}

TEST_P(Directories, FollowNoLink) {
  lay_hostile_tree(tree_, witness_);
  const Directory tree = open(tree_);
  for (const std::string level : {"", "a/", "a/b/"}) {
    for (const std::string name : {"to-directory", "to-above", "to-itself", "loop", "dangling", "magic"}) {
      const std::string path = level + name;
      EXPECT_EQ(tree.directory(path).error().code, Errc::wrong_state) << path;
      EXPECT_EQ(tree.file(path).error().code, Errc::wrong_state) << path;
      EXPECT_EQ(tree.file_to_append_to(path).error().code, Errc::wrong_state) << path;
      EXPECT_EQ(tree.file(path + "/weights").error().code, Errc::wrong_state) << path;
      EXPECT_EQ(tree.create(path).error().code, Errc::wrong_state) << path;
      EXPECT_FALSE(tree.create(path + "/new")) << path;
      EXPECT_FALSE(tree.write(path + "/weights", "x", false)) << path;
      EXPECT_FALSE(tree.make_directories(path + "/new")) << path;
      EXPECT_FALSE(tree.remove(path + "/weights")) << path;
      EXPECT_FALSE(tree.make_link("x", path + "/new")) << path;
    }
    EXPECT_NE(tree.file(level + "to-file").error().message.find("a symbolic link leads there"),
              std::string::npos);
    ASSERT_TRUE(tree.write(level + "to-file", "mine", false)) << "the link is replaced";
    EXPECT_EQ(text_of(tree_ / (level + "to-file")), "mine");
  }
  EXPECT_EQ(witness_.harm(), "");
}

TEST_P(Directories, OpenNeitherPipesNorDevices) {
  lay_hostile_level(tree_, witness_);
  const Directory tree = open(tree_);
  for (const char* const name : {"pipe", "socket"}) {  // A pipe would block forever.
    const auto opened = tree.file(name);
    ASSERT_FALSE(opened) << name;
    EXPECT_NE(opened.error().message.find("it is no file"), std::string::npos) << opened.error().message;
    EXPECT_FALSE(tree.file_to_append_to(name)) << name;
  }
  if (fs::exists(tree_ / "device")) {
    EXPECT_FALSE(tree.file("device"));
  }
  EXPECT_EQ(tree.file("a").error().code, Errc::not_found);
}

TEST_P(Directories, EnterNoMount) {
  fs::create_directories(tree_ / "a/mount");
  write_text(tree_ / "a/file", "of the program");
  PrivateMounts mounts;
  if (!mounts.usable() || !mounts.bind(witness_.directory(), tree_ / "a/mount") ||
      !mounts.bind(witness_.file(), tree_ / "a/file")) {
    GTEST_SKIP() << "this user may not mount";
  }
  const Directory tree = open(tree_);
  EXPECT_EQ(tree.directory("a/mount").error().code, Errc::wrong_state);
  EXPECT_NE(tree.directory("a/mount").error().message.find("something else is mounted there"),
            std::string::npos);
  EXPECT_FALSE(tree.file("a/mount/weights"));
  EXPECT_FALSE(tree.file("a/file"));
  EXPECT_FALSE(tree.create("a/mount/new"));
  EXPECT_FALSE(tree.make_directories("a/mount/new"));
  EXPECT_FALSE(tree.remove("a/mount/manifest.json"));
  EXPECT_EQ(witness_.harm(), "");
  const Directory entering = open(tree_, Rules::Mounts::entered);
  EXPECT_EQ(*entering.read("a/mount/weights", 100), "a month of work")
      << "a user's own directory may have some";
}

TEST_P(Directories, StayOpenWhenTheirNameChanges) {
  write_text(tree_ / "a/file", "1");
  const auto directory = open(tree_).directory("a");
  ASSERT_TRUE(directory);
  fs::rename(tree_ / "a", tree_ / "moved");
  fs::create_directory_symlink(witness_.directory(), tree_ / "a");
  EXPECT_EQ(*directory->read("file", 10), "1");
  EXPECT_TRUE(directory->write("weights", "x", false));
  EXPECT_EQ(witness_.harm(), "");
  EXPECT_TRUE(fs::exists(tree_ / "moved/weights"));
}

TEST_P(Directories, DraftNeverReplacesAProgramsFile) {
  fs::create_directory(tree_);
  fs::create_symlink(witness_.file(), tree_ / "manifest.json.new");
  ASSERT_TRUE(open(tree_).write("manifest.json", "{}", true));
  EXPECT_EQ(witness_.harm(), "");
  EXPECT_TRUE(fs::is_symlink(tree_ / "manifest.json.new"));
}

/// Another process exchanges a directory for a link to the witness all the time.
TEST_P(Directories, LinksAreNotFollowedDuringARace) {
  write_text(tree_ / "a/b/weights", "of the program");
  fs::create_directory_symlink(witness_.directory(), tree_ / "link");
  const Directory tree = open(tree_);
  int reached = 0;
  int refused = 0;
  {
    const Swapper swapper(tree_ / "a/b", tree_ / "link");
    for (int round = 0; swapper.wants_more(round, 2'000 * test_effort()); ++round) {
      const auto text = tree.read("a/b/weights", 100);
      (text ? reached : refused) += 1;
      if (text) {
        ASSERT_EQ(*text, "of the program");
      }
      static_cast<void>(tree.write("a/b/weights", "of the program", false).has_value());
      static_cast<void>(tree.remove("a/b/manifest.json").has_value());
      static_cast<void>(tree.make_directories("a/b/new").has_value());
    }
  }
  EXPECT_EQ(witness_.harm(), "") << reached << " reached it, " << refused << " were refused";
}

INSTANTIATE_TEST_SUITE_P(AtOnce, Directories, testing::Values(Rules::Lookup::at_once));
INSTANTIATE_TEST_SUITE_P(BySteps, Directories, testing::Values(Rules::Lookup::by_steps));

TEST(Directories, MissingDirectoriesAreNotFound) {
  EXPECT_EQ(Directory::open("/nonexistent/directory").error().code, Errc::not_found);
}

}  // namespace
}  // namespace hpsearch::files::test
