#include "hpsearch/io/files/links.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "scratch.hpp"

// A program's files are copied without links that lead out.

namespace hpsearch::files {
namespace {

namespace fs = std::filesystem;

TEST(Link, IsInsideOnlyIfSoForAllOtherLinks) {
  EXPECT_TRUE(leads_inside("best.pt", "epoch-3.pt"));
  EXPECT_TRUE(leads_inside("best.pt", "epochs/./3.pt"));
  EXPECT_TRUE(leads_inside("a/b/best.pt", "../../epoch-3.pt"));
  EXPECT_TRUE(leads_inside("a/here", "."));
  EXPECT_FALSE(leads_inside("best.pt", "/etc/passwd"));
  EXPECT_FALSE(leads_inside("best.pt", "../other"));
  EXPECT_FALSE(leads_inside("a/best.pt", "../../other"));
  EXPECT_FALSE(leads_inside("best.pt", "here/../other")) << "`here` may be a link to the top";
  EXPECT_FALSE(leads_inside("best.pt", ""));
}

TEST(LinksOut, AreRemovedAndNamed) {
  const Scratch scratch;
  scratch.write("tree/a/file", "content");
  fs::create_symlink("../a/file", scratch.path("tree/a/inside"));
  fs::create_symlink("../../secret", scratch.path("tree/a/out"));
  fs::create_directory_symlink(".", scratch.path("tree/here"));
  fs::create_symlink("here/../secret", scratch.path("tree/round"));
  fs::create_symlink("/etc/passwd", scratch.path("tree/absolute"));
  const auto tree = Directory::open(scratch.path("tree"));
  ASSERT_TRUE(tree);
  const auto removed = remove_links_out(*tree);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(*removed, (std::vector<std::string>{"a/out", "absolute", "round"}));
  EXPECT_TRUE(fs::is_symlink(scratch.path("tree/a/inside")));
  EXPECT_FALSE(fs::is_symlink(scratch.path("tree/a/out")));
  EXPECT_EQ(scratch.read("tree/a/file"), "content");
}

}  // namespace
}  // namespace hpsearch::files
