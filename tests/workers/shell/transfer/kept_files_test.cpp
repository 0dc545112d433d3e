// Files that programs leave in their working directories, and which of them are kept. hostile_tree.hpp makes
// malicious trees; a witness stays unchanged.

#include "hpsearch/workers/shell/transfer/kept_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/wire/kept_files.hpp"
#include "io/files/hostile_tree.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::AttemptKey;

constexpr std::uint64_t keeping_store = 7;

template <class T>
T record_in(const fs::path& file) {
  const auto value = proto::parse_json(text_of(file), proto::kept_files_limits);
  auto record = value ? proto::decode_value<T>(*value) : engine::Result<T>(value.error());
  EXPECT_TRUE(record) << file;
  return record ? *std::move(record) : T();
}

class KeptFilesTest : public testing::Test {
 protected:
  KeptFilesTest() {
    write_text(context_ / "train.py", "train");
    write_text(context_ / "data/table.csv", "1,2\n");
    fs::create_symlink("train.py", context_ / "link.py");
  }

  /// An attempt of that trial whose program is about to start.
  AttemptDirectory attempt(std::uint64_t trial, std::uint64_t number = 1) {
    AttemptDirectory directory(state_ / "attempts", key_of(trial, number));
    const auto made = directory.make(context_.string());
    EXPECT_TRUE(made) << made.error().message;
    const auto stamped = stamp_working_directory(directory);
    EXPECT_TRUE(stamped) << stamped.error().message;
    return directory;
  }
  std::string take(const AttemptDirectory& directory, std::uint64_t trial, const Keeping& keeping,
                   std::uint64_t number = 1) {
    const auto kept = files_.take(directory, key_of(trial, number), keeping_store, keeping);
    EXPECT_TRUE(kept) << kept.error().message;
    return kept ? *kept : "";
  }
  [[nodiscard]] fs::path trial(std::uint64_t number) const {
    return state_ / "trials/7/1" / std::to_string(number);
  }
  /// The paths of all kept files and links of a trial.
  [[nodiscard]] std::vector<std::string> kept(std::uint64_t number) const {
    std::vector<std::string> paths;
    const fs::path files = trial(number) / "files";
    if (fs::exists(files)) {
      for (const auto& entry : fs::recursive_directory_iterator(files)) {
        if (entry.is_symlink() || !entry.is_directory()) {
          paths.push_back(fs::relative(entry.path().parent_path(), files) / entry.path().filename());
        }
      }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  using Paths = std::vector<std::string>;

  Scratch scratch_;
  fs::path context_ = scratch_.path() / "context";
  fs::path state_ = scratch_.path() / "state";
  KeptFiles files_{state_};
  Keeping roomy_{1'000'000'000, false, 0.5};
};

TEST_F(KeptFilesTest, AreThoseThatTheContextLacks) {
  const AttemptDirectory made = attempt(3);
  write_text(made.work() / "model.pt", "weights");
  write_text(made.work() / "data/table.csv", "3,4\n");
  write_text(made.work() / "runs/1/curve.csv", "0.5\n");
  write_text(made.work() / "__pycache__/train.pyc", "bytes");
  fs::create_symlink("model.pt", made.work() / "last.pt");
  fs::create_directory(made.work() / "empty");
  EXPECT_EQ(take(made, 3, roomy_), "");
  EXPECT_EQ(kept(3), (Paths{"./last.pt", "./model.pt", "data/table.csv", "runs/1/curve.csv"}));
  EXPECT_EQ(text_of(trial(3) / "files/data/table.csv"), "3,4\n");
  const auto all = record_in<proto::KeptTrials>(state_ / "trials/7/1/kept.json");
  ASSERT_EQ(all.trials.size(), 1U);
  EXPECT_EQ(all.trials[0].files, 4U);
  EXPECT_EQ(all.trials[0].metric, 0.5);
  EXPECT_FALSE(fs::exists(trial(3) / "files.json")) << "nothing was dropped";
}

// A copy with the time of its original is new nevertheless.
TEST_F(KeptFilesTest, AreIdentifiedByMoreThanTheirTime) {
  const AttemptDirectory made = attempt(0);
  fs::copy_file(made.work() / "train.py", made.work() / "old.py");
  fs::last_write_time(made.work() / "old.py", fs::last_write_time(made.work() / "train.py"));
  const auto before = fs::last_write_time(made.work() / "data/table.csv");
  write_text(made.work() / "data/table.csv", "9,9\n");
  fs::last_write_time(made.work() / "data/table.csv", before);
  take(made, 0, roomy_);
  EXPECT_EQ(kept(0), (Paths{"./old.py", "data/table.csv"}));
}

TEST_F(KeptFilesTest, TrialWithoutFilesLeavesNoDirectory) {
  EXPECT_EQ(take(attempt(0), 0, roomy_), "");
  EXPECT_FALSE(fs::exists(trial(0)));
}

TEST_F(KeptFilesTest, LaterAttemptsReplaceFilesOfTheSameName) {
  const AttemptDirectory first = attempt(0);
  write_text(first.work() / "model", "one");
  write_text(first.work() / "first.log", "one");
  write_text(first.work() / "place", "a file");
  take(first, 0, roomy_);
  const AttemptDirectory second = attempt(0, 2);
  write_text(second.work() / "model/weights", "two");
  write_text(second.work() / "place/file", "two");
  take(second, 0, roomy_, 2);
  EXPECT_EQ(kept(0), (Paths{"./first.log", "model/weights", "place/file"}));
  EXPECT_EQ(take(second, 0, roomy_, 2), "") << "once more, as after a crash";
  EXPECT_EQ(kept(0), (Paths{"./first.log", "model/weights", "place/file"}));
}

TEST_F(KeptFilesTest, WorstTrialsLoseTheirFiles) {
  const std::vector<std::pair<double, bool>> runs{{0.9, true}, {0.1, true}, {0.5, true}, {0.7, true}};
  for (const bool larger : {false, true}) {
    fs::remove_all(state_);
    for (std::uint64_t i = 0; i < runs.size(); ++i) {
      const AttemptDirectory made = attempt(i);
      write_text(made.work() / "model", std::string(400'000, 'x'));
      const std::string dropped = take(made, i, {1'000'000, larger, runs[i].first});
      EXPECT_EQ(dropped.empty(), i < 2) << dropped;
    }
    // The best one and the one that ended last keep theirs.
    const std::uint64_t best = larger ? 0 : 1;
    for (std::uint64_t i = 0; i < runs.size(); ++i) {
      EXPECT_EQ(kept(i).size(), i == best || i == 3 ? 1U : 0U) << i << " of " << larger;
    }
    const auto dropped = record_in<proto::DroppedFiles>(trial(2) / "files.json");
    ASSERT_EQ(dropped.files.size(), 1U);
    EXPECT_EQ(dropped.files[0].path, "model");
    EXPECT_NE(dropped.files[0].why.find("keep_files.max_mb is 1"), std::string::npos) << dropped.files[0].why;
    EXPECT_EQ(record_in<proto::KeptTrials>(state_ / "trials/7/1/kept.json").dropped, 2U);
  }
}

TEST_F(KeptFilesTest, BestTrialKeepsItsFilesBeforeTheLatest) {
  const AttemptDirectory best = attempt(0);
  write_text(best.work() / "model", std::string(700'000, 'x'));
  take(best, 0, {1'000'000, false, 0.1});
  const AttemptDirectory latest = attempt(1);
  write_text(latest.work() / "model", std::string(700'000, 'x'));
  EXPECT_EQ(take(latest, 1, {1'000'000, false, std::nullopt}),
            "the files of trial 1 made room for better and later ones (keep_files.max_mb)");
  EXPECT_EQ(kept(0).size(), 1U);
}

TEST_F(KeptFilesTest, OneTrialCannotExceedTheLimit) {
  const AttemptDirectory made = attempt(0);
  write_text(made.work() / "small", "kept");
  write_text(made.work() / "large", std::string(1'500'000, 'x'));
  EXPECT_EQ(take(made, 0, {1'000'000, false, 0.1}),
            "large is not kept: the trial's files are too large: keep_files.max_mb is 1");
  EXPECT_EQ(kept(0), Paths{"./small"});
  EXPECT_EQ(record_in<proto::DroppedFiles>(trial(0) / "files.json").files[0].bytes, 1'500'000U);
}

TEST_F(KeptFilesTest, AreCountedAgainIfTheirListIsDamaged) {
  for (std::uint64_t i = 0; i < 2; ++i) {
    const AttemptDirectory made = attempt(i);
    write_text(made.work() / "model", std::string(400'000, 'x'));
    take(made, i, {1'000'000, false, 0.5 - static_cast<double>(i) / 10});
    write_text(state_ / "trials/7/1/kept.json", "{");
  }
  const AttemptDirectory third = attempt(2);
  write_text(third.work() / "model", std::string(400'000, 'x'));
  take(third, 2, {1'000'000, false, 0.9});
  EXPECT_EQ(kept(0).size() + kept(1).size() + kept(2).size(), 2U) << "the limit holds";
}

// --- malicious files ---

class HostileKeptFiles : public KeptFilesTest {
 protected:
  files::test::Witness witness_{scratch_.path() / "witness"};
};

TEST_F(HostileKeptFiles, AreKeptUnchanged) {
  const AttemptDirectory made = attempt(0);
  files::test::lay_hostile_tree(made.work() / "left", witness_);
  take(made, 0, roomy_);
  EXPECT_EQ(witness_.harm(), "");
  EXPECT_EQ(fs::read_symlink(trial(0) / "files/left/to-directory"), witness_.directory());
  const auto dropped = record_in<proto::DroppedFiles>(trial(0) / "files.json");
  EXPECT_FALSE(dropped.files.empty()) << "pipes and what lies too deep are named";
  made.remove_working_files();
  EXPECT_EQ(witness_.harm(), "");
}

TEST_F(HostileKeptFiles, AreNotReadThroughALink) {
  for (const char* const replaced : {"ml/usercode", "ml"}) {
    const AttemptDirectory made = attempt(0);
    fs::remove_all(made.root() / replaced);
    fs::create_directory_symlink(witness_.directory(), made.root() / replaced);
    EXPECT_FALSE(files_.take(made, key_of(0), keeping_store, roomy_)) << replaced;
    EXPECT_EQ(witness_.harm(), "");
  }
}

// Other programs can write to the directory with kept files.
TEST_F(HostileKeptFiles, AreNotWrittenThroughALink) {
  for (const fs::path replaced : {"trials", "trials/7", "trials/7/1", "trials/7/1/0", "trials/7/1/0/files"}) {
    fs::remove_all(state_ / "trials");
    fs::create_directories((state_ / replaced).parent_path());
    fs::create_directory_symlink(witness_.directory(), state_ / replaced);
    const AttemptDirectory made = attempt(0);
    write_text(made.work() / "weights", "mine");
    EXPECT_FALSE(files_.take(made, key_of(0), keeping_store, roomy_)) << replaced;
    EXPECT_EQ(witness_.harm(), "");
  }
  fs::remove_all(state_ / "trials");
  fs::create_directories(trial(0) / "files");
  fs::create_directory_symlink(witness_.directory(), trial(0) / "files/results");
  fs::create_symlink(witness_.file(), trial(0) / "files/thesis.tex");
  fs::create_symlink(witness_.file(), trial(0) / "files.json");
  fs::create_symlink(witness_.file(), state_ / "trials/7/1/kept.json");
  const AttemptDirectory made = attempt(0);
  write_text(made.work() / "results/weights", "mine");
  write_text(made.work() / "thesis.tex", "mine");
  take(made, 0, roomy_);
  EXPECT_EQ(witness_.harm(), "");
  EXPECT_EQ(text_of(trial(0) / "files/results/weights"), "mine");
  EXPECT_EQ(text_of(trial(0) / "files/thesis.tex"), "mine");
}

}  // namespace
}  // namespace hpsearch::workers::test
