#include "cli/artifacts/checkpoint_copy.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli/render/text.hpp"
#include "io/files/hostile_tree.hpp"
#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::cli::test {
namespace {

namespace fs = std::filesystem;

TEST(CheckpointCopy, DirectoryMayEndWithASlash) {
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

TEST(CheckpointCopy, FileThatDiffersFromTheManifestIsNamed) {
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
  EXPECT_MESSAGE(complaint(R"([{"path": "state", "bytes": 1, "crc32c": 7}])"));
  EXPECT_MESSAGE(complaint(R"([{"path": "state", "bytes": 2, "crc32c": 7}])"));
  EXPECT_MESSAGE(complaint(R"([{"path": 3}])"));
  EXPECT_EQ(complaint(R"([{"path": "link", "link": "state"}])"), "");
}

TEST(CheckpointCopy, LeavesOutLinksThatLeadOut) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "from";
  write_text(from / "manifest.json",
             R"({"what": "hpsearch checkpoint", "format": 1, "experiment": 1, "trial": 0, "attempt": 1, )"
             R"("step": 0, "files": [{"path": "state", "bytes": 1, "crc32c": 3058990603}, )"
             R"({"path": "last", "link": "state"}, {"path": "key", "link": "../../.ssh/id_rsa"}]})");
  write_text(from / "state", "7");
  fs::create_symlink("state", from / "last");
  fs::create_symlink("../../.ssh/id_rsa", from / "key");
  fs::create_symlink("/etc", from / "unlisted");
  const auto copied = copy_checkpoint(from.string(), scratch.path() / "to", {});
  ASSERT_TRUE(copied) << copied.failure().message;
  EXPECT_EQ(fs::read_symlink(scratch.path() / "to" / "last"), "state");
  EXPECT_FALSE(fs::is_symlink(scratch.path() / "to" / "key"));
  EXPECT_FALSE(fs::is_symlink(scratch.path() / "to" / "unlisted"));
  EXPECT_EQ(list_at(*copied, "links_left_out").size(), 2U);
}

// --- hostile trees ---

using files::test::Hostility;
using files::test::lay_hostile_level;
using files::test::lay_hostile_tree;
using files::test::Swapper;
using files::test::Witness;

constexpr const char* no_files = R"({"what": "hpsearch checkpoint", "format": 1, "experiment": 1, "trial": 0,
      "attempt": 1, "step": 0, "files": []})";

class HostileCopy : public testing::Test {
 protected:
  HostileCopy() { write_text(from_ / "manifest.json", no_files); }
  [[nodiscard]] bool copied() const { return static_cast<bool>(copy_checkpoint(from_.string(), to_, {})); }

  Scratch scratch_;
  Witness witness_{scratch_.path() / "witness"};
  fs::path from_ = scratch_.path() / "from";
  fs::path to_ = scratch_.path() / "to";
};

TEST_F(HostileCopy, CopyHasNoLinksThatLeadOut) {
  lay_hostile_tree(from_, witness_, {.pipes = false, .deep = false, .no_rights = false});
  const auto result = copy_checkpoint(from_.string(), to_, {});
  ASSERT_TRUE(result) << result.failure().message;
  EXPECT_FALSE(fs::is_symlink(to_ / "a/b/to-directory"));
  EXPECT_FALSE(fs::exists(to_ / ".hpsearch-download"));
  EXPECT_EQ(witness_.harm(), "");
}

TEST_F(HostileCopy, PipesAndDevicesLeaveNothing) {
  lay_hostile_level(from_, witness_);
  EXPECT_FALSE(copied());
  EXPECT_FALSE(fs::exists(to_.string() + ".unfinished"));
  EXPECT_EQ(witness_.harm(), "");
}

/// Earlier versions emptied it.
TEST_F(HostileCopy, DirectoryWithTheNameOfADraftIsUnchanged) {
  write_text(to_.string() + ".unfinished/thesis.tex", "three years of work");
  const auto result = copy_checkpoint(from_.string(), to_, {});
  ASSERT_FALSE(result);
  EXPECT_MESSAGE(result.failure().message);
  EXPECT_EQ(text_of(to_.string() + ".unfinished/thesis.tex"), "three years of work");
  fs::remove_all(to_.string() + ".unfinished");
  fs::create_directory_symlink(witness_.directory(), to_.string() + ".unfinished");
  EXPECT_FALSE(copied());
  EXPECT_EQ(witness_.harm(), "");
  fs::remove(to_.string() + ".unfinished");
  write_text(to_.string() + ".unfinished/.hpsearch-download", "");
  write_text(to_.string() + ".unfinished/half", "");
  EXPECT_TRUE(copied()) << "its own goes on";
  EXPECT_FALSE(fs::exists(to_ / "half"));
}

TEST_F(HostileCopy, ManifestThatLeadsOutIsDamaged) {
  for (const std::string path : {"../witness/thesis.tex", "link/weights", "/etc/passwd"}) {
    write_text(from_ / "manifest.json",
               R"({"what": "hpsearch checkpoint", "format": 1, "experiment": 1, "trial": 0, "attempt": 1,
               "step": 0, "files": [{"path": ")" +
                   path + R"(", "bytes": 1, "crc32c": 1}]})");
    fs::remove(from_ / "link");
    fs::create_directory_symlink(witness_.directory(), from_ / "link");
    const auto result = copy_checkpoint(from_.string(), to_, {});
    ASSERT_FALSE(result) << path;
    EXPECT_MESSAGE(result.failure().message) << path;
  }
}

TEST_F(HostileCopy, ConcurrentReplacementDamagesNothingElse) {
  write_text(from_ / "a/b/weights", "of the program");
  fs::create_directory_symlink(witness_.directory(), scratch_.path() / "link");
  const Swapper swapper(from_ / "a/b", scratch_.path() / "link");
  for (int round = 0; swapper.wants_more(round, 30 * test_effort()); ++round) {
    if (copied()) {
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(to_ / "a")) {
        ASSERT_TRUE(entry.is_symlink() || entry.is_directory() || text_of(entry.path()) == "of the program")
            << entry.path() << " came through a link";
      }
    }
    ASSERT_EQ(witness_.harm(), "") << "round " << round;
    fs::remove_all(to_);
  }
}

}  // namespace
}  // namespace hpsearch::cli::test
