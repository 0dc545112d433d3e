#include <gtest/gtest.h>

#include <string>

#include "engine/test_cluster.hpp"

// Failed trials that a user wants once more.

namespace hpsearch::engine {
namespace {

const Value::Map no_restarts{{"max_restarts", 0}};

void finish(TestCluster& cluster, const AttemptKey& key, double metric = 0.5) {
  const Units length = cluster.attempts.at(key).spec.length;
  cluster.report(key, count(length), metric);
  cluster.exit(key);
}

TEST(Retry, TrainsAFailedTrialToItsLengthAndCountsItOnce) {
  TestCluster cluster;
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(2, 1, no_restarts));
  cluster.exit(cluster.live(id, 0), 1);
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::failed);
  const AttemptKey second = cluster.live(id, 1);
  cluster.step(RetryTrial{id, TrialNumber(0)});
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::pending);
  cluster.expect_replayable();
  finish(cluster, second);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active) << "it waits for the trial";
  const AttemptKey again = cluster.live(id, 0);
  EXPECT_EQ(again.attempt, AttemptNumber(2));
  finish(cluster, again, 0.25);
  const ExperimentRecord& record = *cluster.engine.find(id);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::completed);
  EXPECT_EQ(record.trials.size(), 2U) << "max_trials is exact";
  EXPECT_EQ(record.state, ExperimentState::completed);
  EXPECT_EQ(record.best, TrialNumber(0));
  EXPECT_EQ(record.tally.finals().front().trials, 2U) << "each trial ended once";
  cluster.expect_replayable();
}

TEST(Retry, FailsForGoodWithTheNextFailure) {
  TestCluster cluster;
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(3, 1, Value::Map{{"max_restarts", 1}}));
  cluster.exit(cluster.live(id, 0), 1);
  while (cluster.trial(id, 0).state != TrialState::failed) {
    cluster.now = cluster.now + Duration::seconds(300);
    cluster.step(CheckTimers{});
    const AttemptKey key = cluster.attempts.begin()->first;
    if (key.trial.number() == 0) {
      cluster.exit(key, 1);
    } else {
      finish(cluster, key);
    }
  }
  const std::uint64_t attempts = cluster.trial(id, 0).attempts;
  cluster.step(RetryTrial{id, TrialNumber(0)});
  while (cluster.trial(id, 0).state == TrialState::pending) {
    finish(cluster, cluster.attempts.begin()->first);
  }
  cluster.exit(cluster.live(id, 0), 1);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::failed);
  EXPECT_EQ(cluster.trial(id, 0).attempts, attempts + 1);
  cluster.expect_replayable();
}

TEST(Retry, WaitsWhileTheExperimentIsPaused) {
  TestCluster cluster;
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(2, 1, no_restarts));
  cluster.exit(cluster.live(id, 0), 1);
  cluster.step(PauseExperiment{id});
  cluster.step(RetryTrial{id, TrialNumber(0)});
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  cluster.exit(cluster.live(id, 1));
  cluster.step(ResumeExperiment{id});
  EXPECT_TRUE(cluster.trial(id, 0).live.has_value()) << "the oldest goes first";
  cluster.expect_replayable();
}

TEST(Retry, IsRefusedUnlessTheTrialFailedAndTheExperimentGoesOn) {
  TestCluster cluster;
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(2, 1, no_restarts));
  EXPECT_EQ(cluster.refused(RetryTrial{id, TrialNumber(0)}).message,
            "trial 0 is RUNNING; only a trial that has failed is retried");
  EXPECT_EQ(cluster.refused(RetryTrial{id, TrialNumber(7)}).message, "experiment 1 has no trial 7");
  EXPECT_EQ(cluster.refused(RetryTrial{ExperimentId(8), TrialNumber(0)}).message, "there is no experiment 8");
  cluster.exit(cluster.live(id, 0), 1);
  cluster.exit(cluster.live(id, 1), 1);
  EXPECT_EQ(cluster.refused(RetryTrial{id, TrialNumber(0)}).message,
            "experiment 1 is FAILED; a trial is retried only before its experiment ends");
}

TEST(Retry, GivesATrialBackItsPlaceInTheRung) {
  TestCluster cluster;
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(asha_config(4, 1, false, no_restarts));
  cluster.exit(cluster.live(id, 0), 1);
  finish(cluster, cluster.live(id, 1), 0.5);
  cluster.step(RetryTrial{id, TrialNumber(0)});
  cluster.expect_replayable();
  finish(cluster, cluster.live(id, 2), 0.6);
  finish(cluster, cluster.live(id, 0), 0.1);
  const auto rung = cluster.engine.find(id)->searcher->brackets().at(0).rungs.at(0);
  ASSERT_EQ(rung.results.size(), 3U) << "one result of each";
  EXPECT_EQ(rung.results.front().trial, TrialNumber(0));
  EXPECT_EQ(rung.results.front().metric, 0.1);
  EXPECT_GT(cluster.trial(id, 0).length, rung.length) << "the best of three is promoted";
  cluster.run_all([](TrialNumber trial) { return static_cast<double>(trial.number()); });
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 4U);
  cluster.expect_replayable();
}

TEST(Retry, IsRefusedOnceTheRungIsDecided) {
  TestCluster cluster;
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(asha_config(3, 1, false, no_restarts));
  cluster.exit(cluster.live(id, 0), 1);
  finish(cluster, cluster.live(id, 1), 0.5);
  finish(cluster, cluster.live(id, 2), 0.6);  // The last result of the rung: trial 1 goes on.
  ASSERT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  EXPECT_EQ(cluster.refused(RetryTrial{id, TrialNumber(0)}).message,
            "trial 0 cannot be retried: its rung is decided, and its failure counts there");
}

TEST(Retry, IsPossibleAtAnyRungOfTheStoppingType) {
  TestCluster cluster;
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(asha_config(3, 1, true, no_restarts));
  cluster.exit(cluster.live(id, 0), 1);
  cluster.step(RetryTrial{id, TrialNumber(0)});
  cluster.expect_replayable();
  cluster.run_all([](TrialNumber trial) { return static_cast<double>(trial.number()); });
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 3U);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  cluster.expect_replayable();
}

}  // namespace
}  // namespace hpsearch::engine
