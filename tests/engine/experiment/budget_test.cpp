#include <gtest/gtest.h>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {
namespace {

Value::Map budget(Value::Map limits) {
  return Value::Map{{"budget", std::move(limits)}};
}

/// Everything that runs obeys at once.
void wind_down(TestCluster& cluster) {
  while (!cluster.attempts.empty()) {
    const auto& [key, attempt] = *cluster.attempts.begin();
    ASSERT_TRUE(attempt.decision.has_value());
    EXPECT_EQ(attempt.decision->directive, Directive::stop);
    cluster.exit(AttemptKey(key));
  }
}

TEST(Budget, TargetEndsTheSearchAsCompletedAndNamesWhoReachedIt) {
  TestCluster cluster;
  cluster.join("a", 2);
  const ExperimentId id = cluster.create(random_config(10, 2, budget({{"target", 0.1}})));
  cluster.report(cluster.live(id, 0), 3, 0.100001);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  cluster.report(cluster.live(id, 1), 3, 0.1);  // Reaching it is enough, before the length is.
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
  wind_down(cluster);
  const ExperimentRecord& record = *cluster.engine.find(id);
  EXPECT_EQ(record.state, ExperimentState::completed);
  EXPECT_EQ(record.reason, "trial 1 reached budget.target with score 0.1");
  EXPECT_EQ(record.trials.size(), 2U) << "no trial is started after the target";
}

TEST(Budget, MetricsOfInvalidHyperparametersReachNoTargetAndAreNoBest) {
  TestCluster cluster;
  cluster.join("a", 2);
  const ExperimentId id = cluster.create(random_config(4, 2));
  cluster.report(cluster.live(id, 1), 1, 0.5);
  const AttemptKey invalid = cluster.live(id, 0);
  cluster.report(invalid, 1, 0.1);
  EXPECT_EQ(cluster.engine.find(id)->best, TrialNumber(0));
  cluster.send(invalid, InvalidHparamsReport{"too many layers"});
  EXPECT_EQ(cluster.engine.find(id)->best, TrialNumber(1));
  cluster.report(invalid, 2, 0.01);  // Its program has not heard yet.
  EXPECT_EQ(cluster.engine.find(id)->best, TrialNumber(1));
  cluster.step(ChangeExperiment{id, Value::Map{{"budget", Value::Map{{"target", 0.2}}}}});
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  cluster.step(CancelExperiment{id});
  cluster.send(cluster.live(id, 1), InvalidHparamsReport{"that one too"});
  EXPECT_EQ(cluster.engine.find(id)->best, std::nullopt) << "also when its experiment is ending";
  Engine loaded = cluster.replayed();
  EXPECT_EQ(loaded.find(id)->best, std::nullopt);
  EXPECT_EQ(state_text(loaded), state_text(cluster.engine));
}

TEST(Budget, TargetKnowsTheDirection) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(10, 1, budget({{"target", 0.9}}));
  (*config.as_map()->find("searcher")->as_map())["smaller_is_better"] = false;
  const ExperimentId id = cluster.create(config);
  cluster.report(cluster.live(id, 0), 1, 0.1);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  cluster.report(cluster.live(id, 0), 2, 0.95);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
}

TEST(Budget, SoManyFailedTrialsEndTheSearch) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(10, 1, budget({{"max_failed_trials", 2}}));
  (*config.as_map())["max_restarts"] = 0;
  const ExperimentId id = cluster.create(config);
  cluster.exit(cluster.live(id, 0), 1);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  cluster.report(cluster.live(id, 1), 9, 0.5);
  cluster.exit(cluster.live(id, 1));
  cluster.exit(cluster.live(id, 2), 1);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  EXPECT_EQ(cluster.engine.find(id)->reason, "2 trials have failed (budget.max_failed_trials 2)");
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 3U);
}

TEST(Budget, OneFailedTrialIsReportedAsOne) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(10, 1, budget({{"max_failed_trials", 1}}));
  (*config.as_map())["max_restarts"] = 0;
  const ExperimentId id = cluster.create(config);
  cluster.report(cluster.live(id, 0), 9, 0.5);
  cluster.exit(cluster.live(id, 0));
  cluster.exit(cluster.live(id, 1), 1);
  EXPECT_EQ(cluster.engine.find(id)->reason, "1 trial has failed (budget.max_failed_trials 1)");
}

TEST(Budget, ASearchWhoseTrialsHaveAllFailedFails) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(10, 1, budget({{"max_failed_trials", 2}}));
  (*config.as_map())["max_restarts"] = 0;
  const ExperimentId id = cluster.create(config);
  cluster.exit(cluster.live(id, 0), 1);
  cluster.exit(cluster.live(id, 1), 1);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::failed);
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 2U);
}

TEST(Budget, WallTimeRunsFromTheFirstLeaseAndEndsToTheMicrosecond) {
  TestCluster cluster;
  const ExperimentId id = cluster.create(random_config(10, 1, budget({{"max_time", "1h"}})));
  cluster.now = cluster.now + Duration::seconds(50'000);
  cluster.step(CheckTimers{});
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active) << "waiting for slots is free";
  EXPECT_EQ(cluster.engine.next_deadline(), std::nullopt);
  cluster.join("a", 1);
  const Instant deadline = cluster.engine.find(id)->first_lease_at + Duration::seconds(3600);
  EXPECT_EQ(cluster.engine.next_deadline(), deadline);
  const auto look = [&](Instant at) { ASSERT_TRUE(cluster.engine.step(CheckTimers{}, at)); };
  look(Instant::from_micros(deadline.micros() - 1));
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  look(deadline);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
  EXPECT_EQ(cluster.engine.next_deadline(), std::nullopt);
}

TEST(Budget, SlotHoursCountEverySlotForAsLongAsItIsHeld) {
  TestCluster cluster;
  cluster.join("a", 4);
  Value::Map others = budget({{"max_slot_hours", 1.0}});
  others["resources"] = Value::Map{{"slots_per_trial", 2}};
  const ExperimentId id = cluster.create(random_config(10, 2, std::move(others)));
  const Instant start = cluster.engine.find(id)->first_lease_at;
  // Four slots for 600 s, then two: 2,400 s are used, 1,200 s are left for two slots, 600 s.
  cluster.now = start + Duration::seconds(600);
  cluster.report(cluster.live(id, 0), 9, 0.5);
  (void)cluster.step(PauseExperiment{id});
  const Instant before_exit = cluster.now;
  cluster.exit(cluster.live(id, 0));
  ASSERT_EQ(cluster.engine.find(id)->running.size(), 1U);
  const std::int64_t used = 4 * (cluster.now - start).in_micros();
  EXPECT_GT(cluster.now, before_exit);
  const std::int64_t left = (3'600'000'000 - used + 1) / 2;
  const Instant deadline = cluster.now + Duration::micros(left);
  ASSERT_EQ(cluster.engine.next_deadline(), deadline);
  ASSERT_TRUE(cluster.engine.step(CheckTimers{}, Instant::from_micros(deadline.micros() - 1)));
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::paused);
  ASSERT_TRUE(cluster.engine.step(CheckTimers{}, deadline));
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
}

TEST(Budget, CanBeSetAndTakenAwayOnALivingExperiment) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(10, 1, budget({{"max_time", "1h"}})));
  ASSERT_TRUE(cluster.engine.next_deadline().has_value());
  cluster.step(ChangeExperiment{id, budget({{"max_time", nullptr}, {"target", 0.2}})});
  EXPECT_EQ(cluster.engine.next_deadline(), std::nullopt);
  cluster.report(cluster.live(id, 0), 1, 0.1);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
}

TEST(Budget, ATargetSetBelowWhatWasReachedEndsTheSearchAtOnce) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(10, 1));
  cluster.report(cluster.live(id, 0), 1, 0.1);
  cluster.step(ChangeExperiment{id, budget({{"target", 0.5}})});
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
}

}  // namespace
}  // namespace hpsearch::engine
