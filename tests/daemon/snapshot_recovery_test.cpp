#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "daemon/gated_store.hpp"
#include "daemon/pump.hpp"
#include "daemon/runtime.hpp"
#include "daemon/store/snapshot_files.hpp"
#include "hpsearch/net/log.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/stored.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::AttemptKey;
using engine::ExperimentId;
using engine::Lsn;

const char* const searchers_tried[] = {
    R"({"name": "random", "max_trials": 40})",
    R"({"name": "async_halving", "max_trials": 40, "num_rungs": 3, "divisor": 3})",
    R"({"name": "async_halving", "max_trials": 40, "num_rungs": 3, "divisor": 3, "stop_once": true})",
    R"({"name": "adaptive_asha", "max_trials": 40, "divisor": 3, "mode": "standard"})",
};

engine::Value search(const std::string& searcher) {
  engine::Value config = *proto::parse_json(
      R"({"entrypoint": "true", "hyperparameters": {"x": {"type": "double", "minval": 0.0, "maxval": 1.0}}})");
  engine::Value chosen = *proto::parse_json(searcher);
  (*chosen.as_map())["metric"] = "loss";
  (*chosen.as_map())["max_length"] = engine::Value::Map{{"epochs", 9}};
  (*chosen.as_map())["max_concurrent_trials"] = 4;
  (*config.as_map())["searcher"] = std::move(chosen);
  return config;
}

/// A runtime on a disk in memory whose one worker's programs do what a seed says: the same in every life,
/// since each step depends on the engine's state and the count of steps alone.
class Life {
 public:
  Life(std::shared_ptr<MemoryDisk> disk, std::string snapshots, std::uint64_t every)
      : store_(std::move(disk)),
        files_(std::move(snapshots)),
        runtime_(std::make_unique<Runtime>(loop_, store_, searchers::registry(), engine::Patience{})) {
    if (every > 0) {
      runtime_->keep_snapshots(files_, every);
    }
    const auto recovered = runtime_->recover();
    EXPECT_TRUE(recovered) << (recovered ? "" : recovered.error().message);
    hash_at_start = state_hash(runtime_->engine().save());
    runtime_->start([](const engine::Order&) {}, [](const engine::Error& error) { FAIL() << error.message; });
  }

  void begin(const std::string& searcher) {
    runtime_->connected(engine::WorkerId(1));
    perform(engine::JoinWorker{"uid", "worker", 1, 4, "cpu", {}});
    engine::CreateExperiment create;
    create.config = search(searcher);
    create.seed = 11;
    perform(create);
  }
  /// The worker was there before; its daemon was not.
  void go_on() { runtime_->connected(engine::WorkerId(1)); }

  /// One program does one thing. False when none is left.
  bool step(std::uint64_t seed, std::uint64_t count) {
    std::vector<const engine::LiveAttempt*> live;
    for (const auto& trial : runtime_->engine().find(ExperimentId(1))->trials) {
      if (trial.live) {
        live.push_back(&*trial.live);
      }
    }
    if (live.empty()) {
      return false;
    }
    std::mt19937_64 chance(seed * 1'000'003 + count);
    const engine::LiveAttempt attempt = *live[chance() % live.size()];
    const engine::Units length =
        attempt.decision ? attempt.decision->length : engine::Units(attempt.granted_length);
    const bool over = attempt.is_ending();
    engine::Report report = engine::ExitReport{};
    if (!attempt.started) {
      perform(engine::ConfirmStart{attempt.worker, attempt.key});
      return true;
    }
    if (chance() % 40 == 0) {
      report = engine::ExitReport{engine::ExitReport::Cause::exited, 1, "exit status 1", ""};
    } else if (!over && attempt.reached < length) {
      const auto metric = static_cast<double>(chance() % 1'000);
      report = engine::MetricsReport{engine::Units(engine::count(attempt.reached) + 1), {{"loss", metric}}};
    }
    perform(engine::TakeReports{attempt.worker, attempt.key, attempt.applied_seq + 1, {report}});
    return true;
  }

  void end_well() {
    runtime_->stop();
    settle();
  }
  void settle() {
    pump(loop_, [this] { return runtime_->idle(); });
  }

  [[nodiscard]] const SnapshotFiles& files() const { return files_; }
  [[nodiscard]] const engine::Engine& engine() const { return runtime_->engine(); }

  std::uint64_t hash_at_start = 0;

 private:
  void perform(engine::Command command) {
    const auto done = runtime_->perform(std::move(command));
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
  }

  net::Loop loop_;
  GatedStore store_;
  SnapshotFiles files_;
  std::unique_ptr<Runtime> runtime_;
};

/// What was decided, without when.
std::vector<proto::Bytes> decisions(const MemoryDisk& disk) {
  std::vector<proto::Bytes> bodies;
  for (const StoredRecord& record : disk.records) {
    bodies.push_back(record.body);
  }
  return bodies;
}

class SnapshotRecovery : public testing::Test {
 protected:
  void SetUp() override { net::set_log_level("error"); }
  void TearDown() override { net::set_log_level("info"); }

  /// A search from beginning to end, its daemon killed before every step that `kill` names.
  std::shared_ptr<MemoryDisk> live(const std::string& searcher, std::uint64_t seed, const std::string& folder,
                                   std::uint64_t every, std::uint64_t kill_one_in) {
    auto disk = std::make_shared<MemoryDisk>();
    auto life = std::make_unique<Life>(disk, scratch_.path(folder), every);
    life->begin(searcher);
    std::mt19937_64 chance(seed);
    for (std::uint64_t count = 0; life->step(seed, count); ++count) {
      if (count % 10 == 0) {
        life->settle();  // Only then is a snapshot known to be finished, and the next one begun.
      }
      if (kill_one_in > 0 && chance() % kill_one_in == 0) {
        life->settle();  // The disk has everything; what is not on it is another test's matter.
        life.reset();
        life = std::make_unique<Life>(disk, scratch_.path(folder), every);
        life->go_on();
      }
    }
    life->settle();
    EXPECT_EQ(life->engine().find(ExperimentId(1))->state, engine::ExperimentState::completed);
    return disk;
  }

  Scratch scratch_;
};

TEST_F(SnapshotRecovery, DecisionsAreThoseOfAnUninterruptedRun) {
  std::uint64_t seed = 20'260;
  for (const char* const searcher : searchers_tried) {
    SCOPED_TRACE(std::string(searcher) + ", seed " + std::to_string(++seed));
    const auto whole = decisions(*live(searcher, seed, "none", 0, 0));
    EXPECT_GT(whole.size(), 300U);
    EXPECT_EQ(decisions(*live(searcher, seed, "log", 0, 20)), whole) << "from the log alone";
    EXPECT_EQ(decisions(*live(searcher, seed, std::to_string(seed), 17, 20)), whole) << "from snapshots";
  }
}

TEST_F(SnapshotRecovery, EveryWayLeadsToTheSameState) {
  const auto disk = live(searchers_tried[3], 5, "kept", 23, 0);
  const std::uint64_t replayed = Life(disk, scratch_.path("none"), 0).hash_at_start;
  const SnapshotFiles files(scratch_.path("kept"));
  ASSERT_EQ(files.list().size(), SnapshotFiles::kept);
  EXPECT_LT(files.list().front(), Lsn(disk->records.size())) << "there is a tail to replay";
  EXPECT_EQ(Life(disk, files.directory(), 1'000'000).hash_at_start, replayed);
  std::filesystem::remove(files.path_of(files.list().front()));
  EXPECT_EQ(Life(disk, files.directory(), 1'000'000).hash_at_start, replayed);
}

TEST_F(SnapshotRecovery, DamagedOneIsNamedAndTheOneBeforeItIsUsed) {
  const auto disk = live(searchers_tried[1], 6, "kept", 23, 0);
  const std::uint64_t replayed = Life(disk, scratch_.path("none"), 0).hash_at_start;
  const SnapshotFiles files(scratch_.path("kept"));
  for (const Lsn lsn : files.list()) {  // First the newest; in the end none is good and the log is enough.
    std::ofstream(files.path_of(lsn), std::ios::binary) << "noise";
    net::set_log_level("warning");
    testing::internal::CaptureStderr();
    const std::uint64_t hash = Life(disk, files.directory(), 1'000'000).hash_at_start;
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(hash, replayed);
    EXPECT_NE(said.find(files.path_of(lsn)), std::string::npos) << said;
  }
}

TEST_F(SnapshotRecovery, OneOfAnotherHistoryIsPassedOver) {
  const auto disk = live(searchers_tried[0], 7, "kept", 23, 0);
  const SnapshotFiles files(scratch_.path("kept"));
  const auto other = live(searchers_tried[0], 8, "other", 23, 0);
  const std::uint64_t replayed = Life(other, scratch_.path("none"), 0).hash_at_start;
  EXPECT_EQ(Life(other, files.directory(), 1'000'000).hash_at_start, replayed) << "another log's";

  // A log that was put back to before its snapshots.
  disk->records.resize(files.list().back().number() / 2);
  const std::uint64_t older = Life(disk, scratch_.path("none"), 0).hash_at_start;
  EXPECT_EQ(Life(disk, files.directory(), 1'000'000).hash_at_start, older);
}

TEST_F(SnapshotRecovery, ACleanEndLeavesNothingToReplay) {
  auto disk = std::make_shared<MemoryDisk>();
  {
    Life life(disk, scratch_.path("kept"), 1'000'000);
    life.begin(searchers_tried[0]);
    for (std::uint64_t count = 0; count < 50; ++count) {
      life.step(3, count);
    }
    life.settle();
    EXPECT_TRUE(life.files().list().empty());
    life.end_well();
  }
  EXPECT_EQ(SnapshotFiles(scratch_.path("kept")).list(), std::vector<Lsn>{Lsn(disk->records.size())});
}

}  // namespace
}  // namespace hpsearch::daemon
