#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "engine/alloc/queue_cluster.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

// Trials start only on workers that last until the trial has trained something of use.

namespace hpsearch::engine {
namespace {

class PlacementInTime : public testing::Test {
 protected:
  WorkerId join_for(std::int64_t seconds, std::int64_t give_back = 100, const std::string& uid = "short") {
    JoinWorker join{uid, uid, 1, 1, "cpu", {}};
    join.time_left = TimeLeft{Duration::seconds(seconds), Duration::seconds(seconds - give_back)};
    return *cluster.step(join).joined;
  }
  void pass(std::int64_t seconds) { cluster.now = cluster.now + Duration::seconds(seconds); }
  /// Runs the first live attempt of a trial: each epoch takes a minute, a checkpoint follows every `stride`.
  void run(ExperimentId id, std::uint64_t trial, std::uint64_t stride = 0) {
    const AttemptKey key = cluster.live(id, trial);
    for (std::uint64_t epoch = 1; epoch <= 9; ++epoch) {
      pass(60);
      if (stride > 0 && epoch % stride == 0) {
        cluster.send(
            key, CheckpointReport{Units{epoch}, "/c/" + std::to_string(trial) + "/" + std::to_string(epoch),
                                  1, 10});
      }
      cluster.report(key, epoch, 0.5);
    }
    cluster.exit(key);
  }
  /// Measures an experiment on a worker without an end, which leaves afterwards.
  ExperimentId measured(std::uint64_t stride = 0, int trials = 6) {
    const WorkerId worker = cluster.join("long", 1);
    const ExperimentId id = cluster.create(random_config(30, 1));
    for (int trial = 0; trial < trials; ++trial) {
      run(id, static_cast<std::uint64_t>(trial), stride);
    }
    const AttemptKey last = cluster.live(id, static_cast<std::uint64_t>(trials));
    cluster.attempts.erase(last);
    cluster.step(LoseWorker{worker, "asked to stop"});
    return id;
  }
  bool runs(ExperimentId id) {
    cluster.step(CheckTimers{});
    return !cluster.engine.find(id)->running.empty();
  }
  std::optional<WaitForTime> wait(ExperimentId id) {
    const auto found = waits_for(*cluster.engine.find(id), cluster.engine.workers(), cluster.now);
    const auto* time = found ? std::get_if<WaitForTime>(&*found) : nullptr;
    return time == nullptr ? std::nullopt : std::optional(*time);
  }

  QueueCluster cluster;
};

TEST_F(PlacementInTime, AnUnknownTrialNeedsATenthOfTheWorkersTime) {
  join_for(1'000);
  pass(790);
  const ExperimentId in_time = cluster.create(random_config(2, 1));
  EXPECT_TRUE(runs(in_time));
  cluster.step(KillExperiment{in_time});
  cluster.exit(cluster.live(in_time, 0), 75);
  pass(15);
  const ExperimentId id = cluster.create(random_config(2, 1));
  EXPECT_FALSE(runs(id));
  ASSERT_TRUE(wait(id));
  EXPECT_EQ(wait(id)->needed, Duration::seconds(100));
  EXPECT_EQ(wait(id)->attempts, 0U);
  EXPECT_EQ(wait(id)->worker, "short");
  EXPECT_LT(wait(id)->left, Duration::seconds(96));
  cluster.join("next", 1);
  EXPECT_TRUE(runs(id));
  cluster.expect_replayable();
}

TEST_F(PlacementInTime, ATimeRequestReplacesTheGuess) {
  join_for(1'000);
  const ExperimentId id =
      cluster.create(random_config(2, 1, {{"resources", Value::Map{{"time_request", "20m"}}}}));
  EXPECT_FALSE(runs(id));
  join_for(2'000, 100, "longer");
  EXPECT_TRUE(runs(id));
}

TEST_F(PlacementInTime, WithoutCheckpointsItsWholeLengthHasToFit) {
  const ExperimentId id = measured();
  join_for(600);
  EXPECT_FALSE(runs(id));
  ASSERT_TRUE(wait(id));
  EXPECT_EQ(wait(id)->attempts, 6U);
  EXPECT_NEAR(wait(id)->needed.in_seconds(), 540, 2);
  join_for(700, 100, "longer");
  EXPECT_TRUE(runs(id));
  EXPECT_FALSE(wait(id));
  cluster.expect_replayable();
}

TEST_F(PlacementInTime, WithCheckpointsTheNextOneHasToFit) {
  const ExperimentId id = measured(3);
  join_for(270);
  EXPECT_FALSE(runs(id)) << "3 epochs of a minute in 170 s";
  EXPECT_NEAR(wait(id)->needed.in_seconds(), 180, 2);
  join_for(290, 100, "longer");
  EXPECT_TRUE(runs(id));
}

TEST_F(PlacementInTime, AResumedTrialNeedsTimeForItsRestOnly) {
  const ExperimentId id = measured(8, 5);
  const WorkerId worker = join_for(1'000, 100, "first");
  const AttemptKey key = cluster.live(id, 5);
  for (std::uint64_t epoch = 1; epoch <= 8; ++epoch) {
    pass(60);
    cluster.report(key, epoch, 0.5);
  }
  cluster.send(key, CheckpointReport{Units{8}, "/c/8", 1, 10});
  ExitReport exit;
  exit.cause = ExitReport::Cause::ended_by_agent;
  cluster.step(QuarantineWorker{worker, "test"});
  cluster.send(key, exit);
  cluster.step(LoseWorker{worker, std::string(left_at_its_end)});
  join_for(165, 100, "last");
  EXPECT_TRUE(runs(id)) << "one epoch is left";
}

TEST_F(PlacementInTime, FewMeasurementsLeaveRoomForError) {
  const ExperimentId id = measured(0, 3);
  join_for(900);
  EXPECT_FALSE(runs(id));
  ASSERT_TRUE(wait(id));
  EXPECT_NEAR(wait(id)->needed.in_seconds(), 810, 3) << "half as much again as the median";
}

TEST_F(PlacementInTime, ALongTrialDoesNotKeepAShortOneFromTheEnd) {
  const ExperimentId long_one = measured();
  const ExperimentId short_one =
      cluster.create(random_config(2, 1, {{"resources", Value::Map{{"time_request", "10s"}}}}));
  join_for(300);
  EXPECT_FALSE(runs(long_one));
  EXPECT_TRUE(runs(short_one));
}

TEST_F(PlacementInTime, AnExtensionLetsItStart) {
  const ExperimentId id = measured();
  const WorkerId worker = join_for(300);
  EXPECT_FALSE(runs(id));
  cluster.step(NoteTimeLeft{worker, TimeLeft{Duration::seconds(1'000), Duration::seconds(900)}});
  EXPECT_TRUE(runs(id));
}

TEST_F(PlacementInTime, NothingIsAskedForWhereNothingOfUseCouldBeTrained) {
  const ExperimentId id = measured();
  QueueSettings settings = QueueCluster::settings();
  settings.time_limit = Duration::seconds(600);
  settings.give_back = Duration::seconds(100);
  cluster.add(settings);
  EXPECT_TRUE(cluster.plan_all().empty());
  EXPECT_EQ(cluster.engine.trials_waiting_for("gpu").value(), 0U);
  const TooLongTrials too_long = cluster.engine.too_long_trials_of("gpu");
  EXPECT_EQ(too_long.trials, 1U);
  EXPECT_NEAR(too_long.needed.in_seconds(), 540, 2);
  settings.time_limit = Duration::seconds(700);
  cluster.step(ChangeQueue{"gpu", settings});
  EXPECT_EQ(cluster.plan_all().size(), 1U);
  EXPECT_EQ(cluster.engine.too_long_trials_of("gpu").trials, 0U);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
}

}  // namespace
}  // namespace hpsearch::engine
