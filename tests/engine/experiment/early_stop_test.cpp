#include <gtest/gtest.h>

#include <limits>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Value ruled_config(int max_trials, int concurrent, Value::Map stopping) {
  return test_config(Value::Map{{"name", "random"},
                                {"max_trials", max_trials},
                                {"max_concurrent_trials", concurrent},
                                {"stopping", std::move(stopping)}});
}

Value median_of_two() {
  return ruled_config(4, 3, Value::Map{{"rule", "median"}, {"least_trials", 2}, {"after", 3}, {"every", 3}});
}

TEST(EarlyStop, TrialBelowTheMedianEndsAtItsReport) {
  TestCluster cluster;
  cluster.join("a", 3);
  const ExperimentId id = cluster.create(median_of_two());
  cluster.report(cluster.live(id, 0), 3, 0.5);
  cluster.report(cluster.live(id, 1), 3, 0.75);
  const AttemptKey third = cluster.live(id, 2);
  cluster.report(third, 3, 0.625);
  const TrialRecord& trial = cluster.trial(id, 2);
  EXPECT_EQ(trial.state, TrialState::stopped);
  const Reason reason = trial.reason;
  EXPECT_EQ(reason.why, Reason::Why::worse_than_others);
  EXPECT_EQ(reason.rank, 1U);
  EXPECT_EQ(reason.size, 3U);
  EXPECT_EQ(reason.keep, 1U);
  EXPECT_EQ(reason.cutoff, 0.5);
  EXPECT_EQ(reason.value, 0.625);
  EXPECT_EQ(reason.at, Units{3});
  ASSERT_TRUE(cluster.attempts.at(third).decision.has_value());
  EXPECT_EQ(cluster.attempts.at(third).decision->directive, Directive::stop);
  EXPECT_FALSE(cluster.attempts.at(third).decision->may_finish) << "it is not at its length";
  cluster.exit(third);
  EXPECT_TRUE(cluster.trial(id, 3).live.has_value()) << "its slot serves the next trial";
  EXPECT_EQ(cluster.trial(id, 2).best->metric, 0.625);
  EXPECT_EQ(state_text(cluster.replayed()), state_text(cluster.engine));
}

TEST(EarlyStop, RestartedTrialIsComparedOnceAtALength) {
  TestCluster cluster;
  cluster.join("a", 3);
  const ExperimentId id = cluster.create(median_of_two());
  cluster.report(cluster.live(id, 2), 3, 0.9);
  cluster.exit(cluster.live(id, 2), 1);
  cluster.report(cluster.live(id, 0), 3, 0.5);
  cluster.report(cluster.live(id, 1), 3, 0.5);
  cluster.report(cluster.live(id, 2), 3, 0.9);
  EXPECT_EQ(cluster.trial(id, 2).state, TrialState::running);
  EXPECT_EQ(state_text(cluster.replayed()), state_text(cluster.engine));
}

TEST(EarlyStop, TrialWithoutImprovementEnds) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id =
      cluster.create(ruled_config(1, 1, Value::Map{{"patience", 3}, {"min_delta", 0.125}}));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 1, 0.5);
  cluster.report(key, 2, 0.25);
  cluster.report(key, 4, 0.1875);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running);
  cluster.report(key, 5, 0.25);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::stopped);
  const Reason reason = cluster.trial(id, 0).reason;
  EXPECT_EQ(reason.why, Reason::Why::no_improvement);
  EXPECT_EQ(reason.at, Units{2});
  EXPECT_EQ(reason.value, 0.25);
  EXPECT_EQ(reason.cutoff, 0.125);
  EXPECT_EQ(cluster.trial(id, 0).best->metric, 0.1875) << "its best result stays";
  cluster.exit(key);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  EXPECT_EQ(state_text(cluster.replayed()), state_text(cluster.engine));
}

TEST(EarlyStop, ReportAtTheFullLengthStopsNoTrial) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(ruled_config(1, 1, Value::Map{{"patience", 3}}));
  cluster.report(cluster.live(id, 0), 1, 0.5);
  cluster.report(cluster.live(id, 0), 9, 0.5);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::completed);
}

TEST(EarlyStop, StoppingExperimentAsksForNoRule) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(ruled_config(1, 1, Value::Map{{"patience", 1}}));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 1, 0.5);
  cluster.step(CancelExperiment{id});
  cluster.report(key, 3, 0.5);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running) << "it is ending, and no longer the searcher's";
  cluster.exit(key);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::canceled);
}

TEST(EarlyStop, DivergingTrialEndsAtOnce) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(test_config(Value::Map{
      {"name", "random"}, {"max_trials", 2}, {"max_concurrent_trials", 1}, {"stop_diverged", true}}));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 1, 0.5);
  cluster.report(key, 2, not_a_number);
  const TrialRecord& trial = cluster.trial(id, 0);
  EXPECT_EQ(trial.state, TrialState::stopped);
  const Reason reason = trial.reason;
  EXPECT_EQ(reason.why, Reason::Why::early_exit);
  EXPECT_EQ(reason.detail, "score was NaN at 2 epochs: its training diverged");
  EXPECT_EQ(trial.restarts, 0U);
  cluster.exit(key);
  EXPECT_TRUE(cluster.trial(id, 1).live.has_value()) << "it counts, and the next trial starts";
  cluster.report(cluster.live(id, 1), 9, std::numeric_limits<double>::infinity());
  EXPECT_EQ(Reason(cluster.trial(id, 1).reason).detail,
            "score was infinite at 9 epochs: its training diverged");
  EXPECT_EQ(state_text(cluster.replayed()), state_text(cluster.engine));
}

TEST(EarlyStop, DivergingTrialOfHalvingIsTheWorstOfItsRung) {
  TestCluster cluster;
  cluster.join("a", 3);
  Value config = asha_config(3, 3);
  (*config.as_map()->find("searcher")->as_map())["stop_diverged"] = true;
  const ExperimentId id = cluster.create(config);
  cluster.report(cluster.live(id, 0), 1, not_a_number);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::stopped);
  cluster.report(cluster.live(id, 1), 1, 0.75);
  cluster.report(cluster.live(id, 2), 1, 0.5);
  EXPECT_EQ(cluster.trial(id, 2).length, Units{3}) << "one of three results goes on";
  EXPECT_EQ(state_text(cluster.replayed()), state_text(cluster.engine));
}

TEST(EarlyStop, DivergingTrialGoesOnUnlessTheFileWantsOtherwise) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  cluster.report(cluster.live(id, 0), 2, not_a_number);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running);
}

}  // namespace
}  // namespace hpsearch::engine
