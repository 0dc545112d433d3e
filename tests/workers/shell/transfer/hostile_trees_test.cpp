// Programs that make their directories malicious: links at every level, hard links, mounts, pipes,
// and a second process that exchanges a directory for a link meanwhile. In all cases
// the witness stays unchanged.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/channels.hpp"
#include "hpsearch/workers/shell/journal.hpp"
#include "hpsearch/workers/shell/own_directory.hpp"
#include "hpsearch/workers/shell/shim/program_log.hpp"
#include "hpsearch/workers/shell/transfer/checkpoint_publisher.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"
#include "io/files/hostile_tree.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Units;
using files::Directory;
using files::test::Hostility;
using files::test::lay_hostile_level;
using files::test::lay_hostile_tree;
using files::test::PrivateMounts;
using files::test::Swapper;
using files::test::Witness;

// The content that a checkpoint may have.
constexpr Hostility saveable{.pipes = false, .deep = false, .no_rights = false};

class HostileCheckpoint : public testing::Test {
 protected:
  HostileCheckpoint() {
    fs::create_directories(from_);
    made_ = *own_directory_at(from_);
  }
  auto publish() { return publish_checkpoint(made_, root_, key_of(0), Units{1}, 11); }

  Scratch scratch_;
  OtherFileSystem other_;
  Witness witness_{scratch_.path() / "witness"};
  fs::path from_ = scratch_.path() / "ml/output/checkpoints";
  fs::path root_ = scratch_.path() / "store";
  OwnDirectory made_;
};

TEST_F(HostileCheckpoint, IsPublishedUnchanged) {
  for (const bool across : {false, true}) {
    root_ = across ? other_.path() / "store" : scratch_.path() / "store";
    lay_hostile_tree(from_, witness_, saveable);
    for (const char* const level : {".", "a", "a/b"}) {
      fs::remove(from_ / level / "\xff\xfe");  // A manifest can't spell it.
    }
    const auto published = publish();
    ASSERT_TRUE(published && *published) << published.error().message;
    EXPECT_EQ(witness_.harm(), "") << across;
    EXPECT_EQ(fs::read_symlink(root_ / "1/0/1-1/a/b/to-directory"), witness_.directory());
    EXPECT_TRUE(fs::is_empty(from_));
    EXPECT_TRUE(verify_checkpoint(*Directory::open(root_ / "1/0/1-1")));
  }
}

TEST_F(HostileCheckpoint, InvalidContentIsMovedBack) {
  for (const bool across : {false, true}) {
    root_ = across ? other_.path() / "store" : scratch_.path() / "store";
    lay_hostile_level(from_, witness_);
    const auto refused = publish();
    ASSERT_FALSE(refused);
    EXPECT_EQ(witness_.harm(), "") << across;
    EXPECT_EQ(text_of(from_ / "weights"), "of the program") << across;
    EXPECT_TRUE(fs::exists(fs::symlink_status(from_ / "pipe"))) << across;
    EXPECT_EQ(fs::symlink_status(from_ / "locked").permissions(), fs::perms::none) << across;
    EXPECT_TRUE(fs::is_empty(root_ / "1/0")) << across;
    ASSERT_TRUE(files::remove_content(*Directory::open(from_)));
  }
}

/// Reading one would wait for a writer forever.
TEST_F(HostileCheckpoint, PipeAsAManifestIsRefused) {
  ASSERT_EQ(::mkfifo((from_ / "manifest.json").c_str(), 0600), 0);
  EXPECT_EQ(publish().error().code, Errc::bad_request);
}

TEST_F(HostileCheckpoint, LinksNamedLikeDraftsAreNotFollowed) {
  write_text(from_ / "weights", "1");
  for (const char* const name : {"manifest.json.new", ".manifest.json.new", ".hpsearch-store.json.new"}) {
    fs::create_symlink(witness_.file(), from_ / name);
  }
  ASSERT_TRUE(publish()) << "it was written through in earlier versions";
  EXPECT_EQ(witness_.harm(), "");
  fs::create_symlink(witness_.directory() / "manifest.json", from_ / "manifest.json");
  EXPECT_EQ(publish().error().code, Errc::bad_request);
  EXPECT_EQ(witness_.harm(), "");
}

TEST_F(HostileCheckpoint, LinksInTheStorageAreNotFollowed) {
  for (const std::string place : {"1", "1/0", "1/0/1-1", "1/0/.1-1.unfinished", "1/0/.1-1.replaced"}) {
    fs::create_directories((root_ / place).parent_path());
    fs::create_directory_symlink(witness_.directory(), root_ / place);
    write_text(from_ / "weights", "of the program");
    const auto published = publish();
    EXPECT_EQ(witness_.harm(), "") << place;
    if (place.find('.') == std::string::npos) {
      ASSERT_FALSE(published) << place;
      EXPECT_EQ(published.error().code, Errc::wrong_state) << published.error().message;
      EXPECT_EQ(fs::read_symlink(root_ / place), witness_.directory()) << place;
      EXPECT_EQ(text_of(from_ / "weights"), "of the program") << place;
    } else {
      EXPECT_TRUE(published) << place << ": those names are the worker's own";
    }
    fs::remove_all(root_);
  }
}

TEST_F(HostileCheckpoint, ForeignFileInItsPlaceIsKept) {
  write_text(root_ / "1/0/1-1/thesis.tex", "three years of work");
  write_text(from_ / "weights", "of the program");
  const auto refused = publish();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::wrong_state);
  EXPECT_NE(refused.error().message.find("is not this attempt's checkpoint"), std::string::npos);
  EXPECT_EQ(text_of(root_ / "1/0/1-1/thesis.tex"), "three years of work");
  EXPECT_EQ(text_of(from_ / "weights"), "of the program");
}

TEST_F(HostileCheckpoint, MountIsRefusedAndMovedBack) {
  write_text(from_ / "a/weights", "of the program");
  fs::create_directory(from_ / "a/mount");
  PrivateMounts mounts;
  if (!mounts.usable() || !mounts.bind(witness_.directory(), from_ / "a/mount")) {
    GTEST_SKIP() << "this user may not mount";
  }
  for (const bool across : {false, true}) {
    root_ = across ? other_.path() / "store" : scratch_.path() / "store";
    const auto refused = publish();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("something else is mounted there"), std::string::npos)
        << refused.error().message;
    EXPECT_EQ(text_of(from_ / "a/weights"), "of the program");
    EXPECT_EQ(text_of(from_ / "a/mount/weights"), "a month of work");
    EXPECT_EQ(witness_.harm(), "");
  }
}

/// Only the program's own files are published in any case: nothing comes through the link.
TEST_F(HostileCheckpoint, RaceLeavesTheWitness) {
  fs::create_directory_symlink(witness_.directory(), scratch_.path() / "link");
  for (const bool across : {false, true}) {
    root_ = across ? other_.path() / "store" : scratch_.path() / "store";
    const Swapper in_the_program(from_ / "a/b", scratch_.path() / "link");
    const Swapper in_the_storage(root_ / "1/0/.1-1.unfinished/a/b", scratch_.path() / "link");
    const Swapper of_the_trial(root_ / "1/0", scratch_.path() / "link");
    for (int round = 0; of_the_trial.wants_more(round, 50 * test_effort()); ++round) {
      const Directory from = *Directory::open(from_);
      static_cast<void>(from.make_directories("a/b").has_value());
      static_cast<void>(from.write("a/b/weights", "of the program", false).has_value());
      static_cast<void>(publish().has_value());
      ASSERT_EQ(witness_.harm(), "") << "round " << round;
    }
  }
}

// --- attempt directories ---

class HostileAttempt : public testing::Test {
 protected:
  HostileAttempt() { EXPECT_TRUE(directory_.make("")); }

  Scratch scratch_;
  Witness witness_{scratch_.path() / "witness"};
  AttemptDirectory directory_{scratch_.path() / "attempts", key_of(0)};
};

TEST_F(HostileAttempt, IsCleanedUp) {
  for (const char* const place :
       {"ml/usercode", "ml/input/data", "ml/output/checkpoints", "staging", "fetched", "harness"}) {
    lay_hostile_tree(directory_.root() / place, witness_, {.deep = false});
  }
  directory_.remove_working_files();
  EXPECT_EQ(witness_.harm(), "");
  EXPECT_TRUE(fs::is_empty(directory_.root()));
}

TEST_F(HostileAttempt, IsRemoved) {
  lay_hostile_tree(directory_.root() / "ml/usercode", witness_);
  lay_hostile_level(directory_.root(), witness_);
  directory_.remove_everything();
  EXPECT_EQ(witness_.harm(), "");
  EXPECT_FALSE(fs::exists(directory_.root()));
}

TEST_F(HostileAttempt, OutputsKeepTheProgramsFiles) {
  fs::create_directory_symlink(witness_.directory(), directory_.output() / "results");
  fs::create_symlink("results/weights", directory_.output() / "best");
  write_text(directory_.output() / "model/weights", "of the program");
  fs::create_directories(scratch_.path() / "channel/1/0/1");
  fs::create_directory_symlink(scratch_.path() / "channel/1/0/1", directory_.output() / "plots");
  directory_.remove_working_files();
  EXPECT_EQ(fs::read_symlink(directory_.output() / "results"), witness_.directory());
  EXPECT_TRUE(fs::is_symlink(directory_.output() / "best"));
  EXPECT_EQ(text_of(directory_.output() / "model/weights"), "of the program");
  EXPECT_FALSE(fs::is_symlink(directory_.output() / "plots")) << "the worker's own link goes";
  EXPECT_EQ(witness_.harm(), "");
}

TEST_F(HostileAttempt, LinkInPlaceOfItIsNotFollowed) {
  const std::vector<std::function<void()>> everything{
      [&] { directory_.remove_working_files(); },
      [&] { directory_.remove_everything(); },
      [&] { EXPECT_FALSE(directory_.write_spool("more", false)); },
      [&] {
        EXPECT_FALSE(directory_.write_process({.pid = 1, .start_time = 2, .boot_id = "b", .socket = "s"}));
      },
      [&] { directory_.remove_process(); },
      [&] { EXPECT_FALSE(directory_.read_process()); },
      [&] { EXPECT_FALSE(directory_.made_for_checkpoints()); },
      [&] { EXPECT_FALSE(directory_.set_spool_aside()); },
      [&] { EXPECT_FALSE(directory_.opened()); },
      [&] { EXPECT_TRUE(directory_.write_spool("all", true)) << "in a directory of its own"; },
      [&] { EXPECT_TRUE(directory_.make("")); },
  };
  for (std::size_t i = 0; i < everything.size(); ++i) {
    fs::remove_all(directory_.root());
    fs::create_directory_symlink(witness_.directory(), directory_.root());
    everything[i]();
    EXPECT_EQ(witness_.harm(), "") << "function " << i;
  }
}

TEST_F(HostileAttempt, AnotherDirectoryInPlaceOfItIsNotChanged) {
  fs::remove_all(directory_.root());
  fs::rename(witness_.directory(), directory_.root());
  directory_.remove_working_files();
  directory_.remove_everything();
  fs::rename(directory_.root(), witness_.directory());
  // Two renames have changed the time of the directory above.
  EXPECT_EQ(text_of(witness_.directory() / "spool"), "my own spool");
  EXPECT_EQ(text_of(witness_.directory() / "ml/usercode/train.py"), "my own ml/usercode/train.py");
  EXPECT_EQ(text_of(witness_.directory() / "manifest.json"), "my own manifest.json");
}

TEST_F(HostileAttempt, RecordsAreNotWrittenThroughLinks) {
  ASSERT_TRUE(directory_.write_spool("spool", true));
  for (const char* const name : {"spool", "spool.new", "process.json", "process.json.new", "checkpoint.json",
                                 "journal", "params.json"}) {
    fs::remove(directory_.root() / name);
    fs::create_symlink(witness_.file(), directory_.root() / name);
  }
  EXPECT_FALSE(directory_.write_spool("more", false));
  const auto missing = directory_.write_spool("more", false);
  EXPECT_TRUE(directory_.is_missing(missing.error())) << "no disk is broken: " << missing.error().message;
  EXPECT_TRUE(directory_.write_spool("all", true));
  EXPECT_TRUE(directory_.write_process({.pid = 1, .start_time = 2, .boot_id = "b", .socket = "s"}));
  EXPECT_TRUE(directory_.write("params.json", "{}"));
  EXPECT_FALSE(JournalReader::open(*directory_.opened(), "journal"));
  EXPECT_FALSE(directory_.made_for_checkpoints());
  EXPECT_EQ(witness_.harm(), "");
}

TEST_F(HostileAttempt, PipesInPlaceOfRecordsDoNotBlock) {
  for (const char* const name : {"spool", "process.json", "checkpoint.json", "journal", "stdout.log"}) {
    fs::remove(directory_.root() / name);
    ASSERT_EQ(::mkfifo((directory_.root() / name).c_str(), 0600), 0);
  }
  EXPECT_FALSE(directory_.read_process());
  EXPECT_FALSE(directory_.made_for_checkpoints());
  EXPECT_FALSE(directory_.write_spool("more", false));
  EXPECT_FALSE(JournalReader::open(*directory_.opened(), "journal"));
  EXPECT_FALSE(read_log(*directory_.opened(), "stdout.log", 0, 100, false));
}

TEST_F(HostileAttempt, LogsAreNotWrittenThroughLinks) {
  auto log = ProgramLog::create(directory_.log("stdout"), {.piece = 10, .pieces = 2});
  ASSERT_TRUE(log);
  fs::create_symlink(witness_.file(), directory_.root() / "stdout.log.10");
  log->append("0123456789");
  log->append("0123456789");
  EXPECT_EQ(witness_.harm(), "");
  fs::rename(directory_.root(), scratch_.path() / "moved");
  fs::create_directory_symlink(witness_.directory(), directory_.root());
  log->append("0123456789");
  log->append("0123456789");
  EXPECT_EQ(witness_.harm(), "");
}

TEST_F(HostileAttempt, RaceAgainstTheCleanUpLeavesTheWitness) {
  for (const char* const place : {".", "ml", "ml/usercode", "ml/output/checkpoints"}) {
    fs::remove_all(scratch_.path() / "link");
    fs::create_directory_symlink(witness_.directory(), scratch_.path() / "link");
    const Swapper swapper(place == std::string(".") ? directory_.root() : directory_.root() / place,
                          scratch_.path() / "link");
    for (int round = 0; swapper.wants_more(round, 20 * test_effort()); ++round) {
      static_cast<void>(directory_.make("").has_value());
      static_cast<void>(directory_.write_spool("all", true).has_value());
      static_cast<void>(directory_.write_spool("more", false).has_value());
      directory_.remove_working_files();
      directory_.remove_everything();
      ASSERT_EQ(witness_.harm(), "") << place << ", round " << round;
    }
  }
}

TEST(HostileAttempts, DoNotPreventAWorkersStart) {
  const Scratch scratch;
  const Witness witness(scratch.path() / "witness");
  const fs::path attempts = scratch.path() / "state/attempts";
  fs::create_directories(attempts / "1-1-1");
  fs::create_directory_symlink(witness.directory(), attempts / "1-0-1");
  fs::create_symlink(witness.file(), attempts / "1-1-1/spool");
  fs::create_symlink(witness.file(), attempts / "1-1-1/process.json");
  const auto state = WorkerState::open(scratch.path() / "state");
  ASSERT_TRUE(state) << state.error().message;
  const auto found = state->take_over();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->empty());
  EXPECT_EQ(witness.harm(), "");
}

// --- files from and for programs ---

TEST(HostileDirectories, EmptyingTheCheckpointDirectoryChangesNothingElse) {
  const Scratch scratch;
  const Witness witness(scratch.path() / "witness");
  const fs::path checkpoints = scratch.path() / "ml/output/checkpoints";
  lay_hostile_tree(checkpoints, witness);
  const auto emptied = emptied_checkpoint_directory(checkpoints);
  ASSERT_TRUE(emptied) << emptied.error().message;
  EXPECT_TRUE(fs::is_empty(checkpoints));
  for (const char* const replaced : {"ml/output/checkpoints", "ml/output", "ml"}) {
    fs::remove_all(scratch.path() / "ml");
    fs::create_directories((scratch.path() / replaced).parent_path());
    fs::create_directory_symlink(witness.directory(), scratch.path() / replaced);
    EXPECT_EQ(emptied_checkpoint_directory(checkpoints).error().code, Errc::wrong_state) << replaced;
  }
  EXPECT_EQ(witness.harm(), "");
}

TEST(HostileDirectories, OutputsAreNotMadeThroughLinks) {
  for (const std::string place : {"1", "1/7", "1/7/2", "1/7/1"}) {
    const Scratch scratch;
    const Witness witness(scratch.path() / "witness");
    const AttemptDirectory directory(scratch.path() / "attempts", key_of(7, 2));
    ASSERT_TRUE(directory.make(""));
    const fs::path channel = scratch.path() / "channel";
    fs::create_directories((channel / place).parent_path());
    fs::create_directory_symlink(witness.directory(), channel / place);
    jobs::LaunchSpec spec;
    spec.key = key_of(7, 2);
    spec.contract.outputs = {{.name = "plots", .path = channel.string(), .pre_download = true}};
    const auto laid = make_channels(spec, directory, "/ml");
    EXPECT_EQ(witness.harm(), "") << place;
    EXPECT_EQ(laid.has_value(), place.size() == 5) << place << ": the last two names are not above it";
  }
}

}  // namespace
}  // namespace hpsearch::workers::test
