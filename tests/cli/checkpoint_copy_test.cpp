#include "cli/checkpoint_copy.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli/text.hpp"
#include "scratch.hpp"

namespace hpsearch::cli::test {
namespace {

namespace fs = std::filesystem;

TEST(CheckpointCopy, ADirectoryMayBeNamedWithASlashAtItsEnd) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "from";
  fs::create_directory(from);
  write_text(from / "manifest.json", R"({"files": []})");
  write_text(from / "state", "7");
  for (const char* name : {"plain", "slash/", "slashes//"}) {
    const std::string to = (scratch.path() / name).string();
    const auto copied = copy_checkpoint(from.string(), to, {});
    ASSERT_TRUE(copied) << copied.failure().message;
    EXPECT_EQ(text_of(fs::path(to) / "state"), "7");
    EXPECT_EQ(text_at(*copied, "path"), to.substr(0, to.find_last_not_of('/') + 1));
    EXPECT_FALSE(copy_checkpoint(from.string(), to, {})) << "it exists already";
  }
}

}  // namespace
}  // namespace hpsearch::cli::test
