#include "hpsearch/trees/tree.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "scratch.hpp"

namespace hpsearch::trees::test {
namespace {

namespace fs = std::filesystem;
using engine::Errc;

class Trees : public testing::Test {
 protected:
  Scratch scratch_;
  Directory here_ = *Directory::open(scratch_.path());
};

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

TEST_F(Trees, CopiesAndMovesTakeOnlyAFreeName) {
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

TEST_F(Trees, AFileThatIsNotThereIsNotFound) {
  EXPECT_EQ(copy_tree(here_, "from", here_, "to").error().code, Errc::not_found);
  EXPECT_EQ(move_entry(here_, "from", here_, "to").error().code, Errc::not_found);
  EXPECT_TRUE(remove_tree(here_, "from"));
}

}  // namespace
}  // namespace hpsearch::trees::test
