// Checkpoints are moved from the directory that the worker made for them to their place.

#include "hpsearch/workers/shell/transfer/checkpoint_publisher.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/wire/checkpoint_manifest.hpp"
#include "hpsearch/workers/shell/own_directory.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/transfer/file_trees.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Units;
using engine::Value;

engine::Result<std::optional<engine::CheckpointReport>> publish_from(const fs::path& from,
                                                                     const fs::path& root,
                                                                     const engine::AttemptKey& key,
                                                                     Units step, std::uint64_t store = 0) {
  const auto made = own_directory_at(from);
  return made ? publish_checkpoint(*made, root, key, step, store) : made.error();
}

TEST(Publisher, WritesAManifestOfAllFiles) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "checkpoint";
  write_text(from / "b/weights", "123456789");
  write_text(from / "a", "");
  fs::create_symlink("a", from / "link");
  const auto published = publish_from(from, scratch.path() / "store", key_of(7), Units{12});
  ASSERT_TRUE(published.has_value()) << published.error().message;
  ASSERT_TRUE(published.value().has_value());
  const fs::path place = (*published)->path;
  EXPECT_EQ(place, scratch.path() / "store/1/7/1-12");
  EXPECT_TRUE(fs::is_empty(from));
  const auto manifest = proto::parse_json(text_of(place / "manifest.json"));
  ASSERT_TRUE(manifest.has_value());
  EXPECT_EQ(*manifest->at_path("step"), Value(12));
  const Value::List& files = *manifest->at_path("files")->as_list();
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(*files[1].at_path("path"), Value("b/weights"));
  EXPECT_EQ(*files[1].at_path("bytes"), Value(9));
  EXPECT_EQ(*files[1].at_path("crc32c"), Value(std::int64_t{0xE3069283}));  // The check value of CRC-32C.
  EXPECT_EQ(*files[2].at_path("link"), Value("a"));
}

// Once, such a checkpoint was published, and damaged when it was needed.
TEST(Publisher, KeepsNamesThatAreNotUtf8) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "checkpoint";
  write_text(from / "caf\xe9/epoch\xff", "123456789");
  fs::create_symlink("caf\xe9/epoch\xff", from / "\xc3\xa9");
  const auto published = publish_from(from, scratch.path() / "store", key_of(7), Units{12});
  ASSERT_TRUE(published && *published) << published.error().message;
  const auto place = files::Directory::open((*published)->path);
  ASSERT_TRUE(place);
  EXPECT_TRUE(verify_checkpoint(*place));
  const auto manifest = proto::read_manifest(text_of(fs::path((*published)->path) / "manifest.json"));
  ASSERT_TRUE(manifest) << manifest.error().message;
  ASSERT_EQ(manifest->files.size(), 2U);
  EXPECT_EQ(manifest->files[0].path, "caf\xe9/epoch\xff");
  EXPECT_EQ(manifest->files[1].path, "\xc3\xa9");
  EXPECT_EQ(manifest->files[1].link, "caf\xe9/epoch\xff");
  write_text(fs::path((*published)->path) / "caf\xe9/epoch\xff", "12345678");
  EXPECT_FALSE(verify_checkpoint(*place));
}

TEST(Publisher, RejectsInvalidNamesInHexadecimal) {
  for (const char* hex : {"6", "6g", "00", "6100"}) {
    EXPECT_FALSE(
        proto::read_manifest(R"({"what": "hpsearch checkpoint", "format": 1, "experiment": 1, "trial": 0, )"
                             R"("attempt": 1, "step": 0, "files": [{"path": "a", "path_hex": ")" +
                             std::string(hex) + "\"}]}"))
        << hex;
  }
}

TEST(Publisher, ReplacesTheSameStep) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "checkpoint";
  for (const char* text : {"old", "new"}) {
    write_text(from / "w", text);
    ASSERT_TRUE(publish_from(from, scratch.path() / "store", key_of(0), Units{1}).has_value());
  }
  EXPECT_EQ(text_of(scratch.path() / "store/1/0/1-1/w"), "new");
  const auto manifest = proto::parse_json(text_of(scratch.path() / "store/1/0/1-1/manifest.json"));
  ASSERT_TRUE(manifest.has_value());
  EXPECT_EQ(*manifest->at_path("trial"), Value(0)) << "each number is said, also 0";
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(scratch.path() / "store/1/0")) {
    ++entries;
  }
  EXPECT_EQ(entries, 1U);
}

TEST(Publisher, ReportsAgainAfterAnInterruption) {
  const Scratch scratch;
  write_text(scratch.path() / "from/weights", "12345");
  write_text(scratch.path() / "from/deep/more", "123");
  const auto first = publish_from(scratch.path() / "from", scratch.path() / "to", key_of(0), Units{4});
  ASSERT_TRUE(first.has_value() && first->has_value());
  const auto again = publish_from(scratch.path() / "from", scratch.path() / "to", key_of(0), Units{4});
  ASSERT_TRUE(again.has_value() && again->has_value());
  EXPECT_EQ((*again)->path, (*first)->path);
  EXPECT_EQ((*again)->files, 2U);
  EXPECT_EQ((*again)->bytes, 8U);
  const auto other = publish_from(scratch.path() / "from", scratch.path() / "to", key_of(0), Units{5});
  EXPECT_TRUE(other.has_value() && !other->has_value());
}

TEST(Publisher, KeepsTheCheckpointOfAnAttemptFromBeforeARestore) {
  const Scratch scratch;
  const auto publish = [&](const engine::AttemptKey& key, const char* content) {
    write_text(scratch.path() / "from/weights", content);
    const auto published = publish_from(scratch.path() / "from", scratch.path() / "to", key, Units{4});
    return published && *published ? fs::path((*published)->path) / "weights" : fs::path();
  };
  const fs::path before = publish(key_of(0), "before");
  const fs::path after = publish(after_a_restore(key_of(0)), "after");
  EXPECT_EQ(text_of(before), "before");
  EXPECT_EQ(text_of(after), "after");
}

TEST(Publisher, ContinuesAfterAnInterruption) {
  const Scratch scratch;
  const fs::path place = checkpoint_place(scratch.path() / "to", key_of(0), Units{4});
  write_text(place.parent_path() / ("." + place.filename().string() + ".unfinished") / "moved", "1");
  write_text(scratch.path() / "from/left", "22");
  const auto published = publish_from(scratch.path() / "from", scratch.path() / "to", key_of(0), Units{4});
  ASSERT_TRUE(published.has_value() && published->has_value());
  EXPECT_EQ(text_of(place / "moved"), "1");
  EXPECT_EQ(text_of(place / "left"), "22");
}

TEST(Publisher, AcceptsACopyOfAnOlderCheckpoint) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "checkpoint";
  write_text(from / "w", "1");
  const auto first = publish_from(from, scratch.path() / "store", key_of(0), Units{1});
  fs::copy((*first)->path, from, fs::copy_options::recursive);
  const auto second = publish_from(from, scratch.path() / "store", key_of(0), Units{2});
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ((*second)->files, 1U);
}

TEST(Publisher, RefusesAProgramsOwnManifest) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "checkpoint";
  write_text(from / "manifest.json", R"({"mine":true})");
  const auto published = publish_from(from, scratch.path() / "store", key_of(0), Units{1});
  ASSERT_FALSE(published.has_value());
  EXPECT_EQ(published.error().code, Errc::bad_request);
  EXPECT_EQ(text_of(from / "manifest.json"), R"({"mine":true})");
}

TEST(Publisher, MovesEverythingBackAfterAFailure) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "checkpoint";
  write_text(from / "w", "1");
  ASSERT_EQ(::mkfifo((from / "pipe").c_str(), 0600), 0);
  const auto published = publish_from(from, scratch.path() / "store", key_of(0), Units{1});
  ASSERT_FALSE(published.has_value());
  EXPECT_NE(published.error().message.find("pipe"), std::string::npos);
  EXPECT_EQ(published.error().message.find("/proc/"), std::string::npos) << published.error().message;
  EXPECT_EQ(text_of(from / "w"), "1");
  EXPECT_TRUE(fs::is_empty(scratch.path() / "store/1/0"));
}

TEST(Publisher, RefusesADirectoryOfAnotherStore) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "checkpoint";
  write_text(from / "w", "of store 11");
  ASSERT_TRUE(publish_from(from, scratch.path() / "store", key_of(0), Units{1}, 11).has_value());
  const auto untold = publish_from(from, scratch.path() / "store", key_of(0), Units{1}, 12);
  ASSERT_FALSE(untold.has_value()) << "the other's is not taken for one's own";
  write_text(from / "w", "of store 12");
  for (const std::uint64_t trial : {0U, 1U}) {
    const auto refused = publish_from(from, scratch.path() / "store", key_of(trial), Units{1}, 12);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Errc::wrong_state);
    const std::string said = (scratch.path() / "store/1").string() + " holds checkpoints of another store";
    EXPECT_NE(refused.error().message.find(said), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(text_of(scratch.path() / "store/1/0/1-1/w"), "of store 11");
  EXPECT_EQ(text_of(from / "w"), "of store 12");
  EXPECT_TRUE(publish_from(from, scratch.path() / "store", key_of(0), Units{2}, 11).has_value());
}

TEST(Publisher, ClaimsADirectoryWithoutAStore) {
  const Scratch scratch;
  const fs::path from = scratch.path() / "checkpoint";
  write_text(from / "w", "of an older worker");
  ASSERT_TRUE(publish_from(from, scratch.path() / "store", key_of(0), Units{1}).has_value());
  const auto published = publish_from(from, scratch.path() / "store", key_of(0), Units{1}, 12);
  EXPECT_TRUE(published.has_value() && published->has_value());
  write_text(from / "w", "now");
  ASSERT_TRUE(publish_from(from, scratch.path() / "store", key_of(0), Units{2}, 12).has_value());
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path() / "store/1"), fs::directory_iterator()), 2)
      << "the trial, and whose it is";
  EXPECT_FALSE(publish_from(from, scratch.path() / "store", key_of(0), Units{3}, 11).has_value());
}

TEST(Publisher, MovesAcrossFileSystems) {
  const Scratch scratch;
  const OtherFileSystem other;
  write_text(other.path() / "deep/w", "1");
  const auto published = publish_from(other.path(), scratch.path() / "store", key_of(0), Units{1});
  EXPECT_TRUE(published.has_value() && published->has_value());
  EXPECT_EQ(text_of(scratch.path() / "store/1/0/1-1/deep/w"), "1");
  EXPECT_TRUE(fs::is_empty(other.path()));
}

/// A directory that the worker made, and beside it a tree of the program.
class ReplacedDirectory : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    fs::create_directories(from_);
    made_ = *own_directory_at(from_);
    fs::rename(from_, scratch_.path() / "aside");
    lay_out_tree(tree_);
    before_ = content_of(tree_);
  }

  /// Both are unchanged, and nothing was published.
  void expect_refused(const std::string& why) {
    const auto refused = publish_checkpoint(made_, root_, key_of(0), Units{1}, 11);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::wrong_state);
    EXPECT_EQ(refused.error().message.find(from_.string() + " was " + why + ";"), 0U)
        << refused.error().message;
    EXPECT_FALSE(fs::exists(root_));
  }

  Scratch scratch_;
  OtherFileSystem other_;
  fs::path from_ = scratch_.path() / "ml/output/checkpoints";
  fs::path tree_ = (GetParam() ? other_.path() : scratch_.path()) / "own";
  fs::path root_ = scratch_.path() / "store";
  OwnDirectory made_;
  std::map<std::string, std::string> before_;
};

TEST_P(ReplacedDirectory, LinkIsNotFollowed) {
  fs::create_directory_symlink(tree_, from_);
  expect_refused("replaced by a symbolic link");
  EXPECT_EQ(content_of(tree_), before_);
  EXPECT_EQ(fs::read_symlink(from_), tree_);
}

TEST_P(ReplacedDirectory, LinkAboveItIsNotFollowed) {
  fs::remove_all(scratch_.path() / "ml");
  fs::create_directories(tree_ / "output/checkpoints");
  before_ = content_of(tree_);
  fs::create_directory_symlink(tree_, scratch_.path() / "ml");
  expect_refused("replaced by a symbolic link");
  EXPECT_EQ(content_of(tree_), before_);
}

TEST_P(ReplacedDirectory, UnfinishedCheckpointIsNotMovedBackThroughALink) {
  write_text(root_ / "1/0/.1-1.unfinished/moved", "1");
  fs::create_directory_symlink(tree_, from_);
  ASSERT_FALSE(publish_checkpoint(made_, root_, key_of(0), Units{1}, 11));
  EXPECT_EQ(content_of(tree_), before_);
  EXPECT_EQ(text_of(root_ / "1/0/.1-1.unfinished/moved"), "1");
}

TEST_P(ReplacedDirectory, AnotherDirectoryIsNotChanged) {
  lay_out_tree(from_);
  const auto before = content_of(from_);
  expect_refused("replaced by another directory");
  EXPECT_EQ(content_of(from_), before);
}

TEST_P(ReplacedDirectory, RemovedOneIsNamed) {
  expect_refused("removed");
}

TEST_P(ReplacedDirectory, OriginalIsPublishedOnceItIsBack) {
  fs::create_directory_symlink(tree_, from_);
  expect_refused("replaced by a symbolic link");
  fs::remove(from_);
  fs::rename(scratch_.path() / "aside", from_);
  write_text(from_ / "weights", "1");
  const auto published = publish_checkpoint(made_, root_, key_of(0), Units{1}, 11);
  ASSERT_TRUE(published && *published);
  EXPECT_EQ(text_of(root_ / "1/0/1-1/weights"), "1");
  EXPECT_EQ(content_of(tree_), before_);
}

TEST_P(ReplacedDirectory, LinkInsideTheOriginalIsMovedButNotItsTarget) {
  fs::rename(scratch_.path() / "aside", from_);
  fs::create_directory_symlink(tree_, from_ / "link");
  fs::create_directory(from_ / "deep");
  fs::create_directory_symlink(tree_, from_ / "deep/link");
  const fs::path root = GetParam() ? scratch_.path() / "store" : other_.path() / "store";
  const auto published = publish_checkpoint(made_, root, key_of(0), Units{1}, 11);
  ASSERT_TRUE(published && *published);
  EXPECT_EQ(content_of(tree_), before_);
  EXPECT_EQ(fs::read_symlink(fs::path((*published)->path) / "deep/link"), tree_);
  EXPECT_TRUE(fs::is_empty(from_));
}

INSTANTIATE_TEST_SUITE_P(OneFileSystem, ReplacedDirectory, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(TwoFileSystems, ReplacedDirectory, testing::Values(true));

}  // namespace
}  // namespace hpsearch::workers::test
