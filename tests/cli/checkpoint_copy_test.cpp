#include "cli/checkpoint_copy.hpp"

#include <gmock/gmock.h>
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
  write_text(from / "manifest.json",
             R"({"what": "hpsearch checkpoint", "format": 1, "experiment": 1, "trial": 0,
      "attempt": 1, "step": 0, "files": [{"path": "state", "bytes": 1, "crc32c": 3058990603}]})");
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

TEST(CheckpointCopy, AFileThatIsNotAsTheManifestSaysIsNamed) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "from";
  fs::create_directory(from);
  write_text(from / "state", "8");
  const auto complaint = [&](const std::string& files) {
    write_text(from / "manifest.json", R"({"what": "hpsearch checkpoint", "format": 1, "experiment": 1, )"
                                       R"("trial": 0, "attempt": 1, "step": 0, "files": )" +
                                           files + "}");
    const auto copied = copy_checkpoint(from.string(), scratch.path() / "to", {});
    return copied ? std::string() : copied.failure().message;
  };
  EXPECT_THAT(complaint(R"([{"path": "state", "bytes": 1, "crc32c": 7}])"),
              testing::HasSubstr("state is damaged"));
  EXPECT_THAT(complaint(R"([{"path": "state", "bytes": 2, "crc32c": 7}])"),
              testing::HasSubstr("instead of 2"));
  EXPECT_THAT(complaint(R"([{"path": 3}])"), testing::HasSubstr("files[0].path is an integer"));
  EXPECT_EQ(complaint(R"([{"path": "link", "link": "state"}])"), "");
}

}  // namespace
}  // namespace hpsearch::cli::test
