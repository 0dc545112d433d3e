#include "cli/artifacts/kept_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "cli/render/text.hpp"
#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;

TEST(CopyOfALeftDirectory, HasNoLinksThatLeadOut) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "files";
  fs::create_directories(from / "runs");
  write_text(from / "runs/model", "7");
  fs::create_symlink("runs/model", from / "last");
  fs::create_symlink("../../.ssh/id_rsa", from / "key");
  fs::create_symlink("/etc", from / "runs/absolute");
  const auto above = files::Directory::open(scratch.path());
  ASSERT_TRUE(above) << above.error().message;
  const fs::path to = scratch.path() / "copy";
  const auto left_out = copy_left_directory(*above, "files", to);
  ASSERT_TRUE(left_out) << left_out.failure().message;
  EXPECT_EQ(left_out->size(), 2U);
  EXPECT_EQ(text_of(to / "runs/model"), "7");
  EXPECT_EQ(fs::read_symlink(to / "last"), "runs/model");
  EXPECT_FALSE(fs::is_symlink(to / "key"));
  EXPECT_FALSE(fs::is_symlink(to / "runs/absolute"));
}

}  // namespace
}  // namespace hpsearch::cli
