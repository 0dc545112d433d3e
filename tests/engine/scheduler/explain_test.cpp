#include "hpsearch/engine/scheduler/explain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {
namespace {

Explanation why(const TestCluster& cluster, ExperimentId id, std::uint64_t trial) {
  return explain(*cluster.engine.find(id), TrialNumber(trial), cluster.engine.workers(), cluster.now);
}

/// What the trial waits for; fails the test if it waits for nothing or for something else.
template <class Cause>
Cause wait_of(const Explanation& explanation) {
  const Wait* wait = nullptr;
  if (const auto* slots = std::get_if<NextSlots>(&explanation.next)) {
    wait = &slots->wait;
  } else if (const auto* promotion = std::get_if<NextPromotion>(&explanation.next)) {
    wait = &promotion->wait;
  } else if (const auto* results = std::get_if<NextResults>(&explanation.next); results && results->wait) {
    wait = &*results->wait;
  }
  const auto* cause = wait == nullptr ? nullptr : std::get_if<Cause>(wait);
  EXPECT_NE(cause, nullptr) << "next is " << explanation.next.index() << ", wait is "
                            << (wait == nullptr ? -1 : static_cast<int>(wait->index()));
  return cause == nullptr ? Cause{} : *cause;
}

const NextResults& results_of(const Explanation& explanation) {
  return std::get<NextResults>(explanation.next);
}

TEST(Explain, NeedsTheFewestResultsThatKeepARank) {
  for (const double divisor : {1.5, 2.0, 2.5, 3.0, 4.0, 10.0}) {
    for (std::uint64_t size = 1; size < 60; ++size) {
      for (std::uint64_t rank = 0; rank < size; ++rank) {
        std::uint64_t fewest = 0;
        while (std::floor(static_cast<double>(size + fewest) / divisor) <= static_cast<double>(rank)) {
          ++fewest;
        }
        ASSERT_EQ(results_needed(rank, size, divisor), fewest) << divisor << " " << size << " " << rank;
      }
    }
  }
}

TEST(Explain, NeedsMoreResultsThanAnybodyCountsOfAHugeDivisor) {
  for (const double divisor : {5e18, 1e19, 1e300}) {
    EXPECT_EQ(results_needed(2, 3, divisor), std::uint64_t{1} << 62U) << divisor;
  }
  EXPECT_EQ(results_needed(0, 3, 1e15), 999'999'999'999'997U);
}

TEST(Explain, ATrialWithoutANumberRanksBehindAllOthersWheneverTheyReport) {
  for (const bool smaller_is_better : {true, false}) {
    TestCluster cluster;
    cluster.join("a", 4);
    const ExperimentId id = cluster.create(test_config(Value::Map{{"name", "adaptive_asha"},
                                                                  {"max_trials", 4},
                                                                  {"smaller_is_better", smaller_is_better},
                                                                  {"bracket_rungs", Value::List{2}},
                                                                  {"divisor", 4}}));
    for (const auto& [trial, metric] :
         {std::pair<std::uint64_t, double>{0, std::nan("")}, {1, 0.5}, {2, 0.7}}) {
      cluster.report(cluster.live(id, trial), 2, metric);
      cluster.exit(cluster.live(id, trial));
    }
    EXPECT_EQ(why(cluster, id, 0).reason.rank, 2U);
    EXPECT_EQ(why(cluster, id, 1).reason.rank, smaller_is_better ? 0U : 1U);
    EXPECT_EQ(why(cluster, id, 2).reason.rank, smaller_is_better ? 1U : 0U);
  }
}

// The line is as long as there are slots, and is not walked through.
TEST(Explain, APlaceInALineOfAnyLengthIsShown) {
  TestCluster cluster;
  cluster.join("a", 2);
  const ExperimentId id = cluster.create(test_config(Value::Map{{"name", "adaptive_asha"},
                                                                {"max_trials", 1'000'000'000'000},
                                                                {"bracket_rungs", Value::List{2, 2}},
                                                                {"divisor", 4},
                                                                {"max_concurrent_trials", 2}}));
  for (std::uint64_t trial = 0; trial < 7; ++trial) {
    cluster.report(cluster.live(id, trial), 2, 0.1 * static_cast<double>(trial + 1));
    cluster.exit(cluster.live(id, trial));
  }
  cluster.step(ChangeExperiment{
      id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 1'000'000'000'000}}}}});
  cluster.report(cluster.live(id, 7), 2, 0.9);
  std::optional<std::uint64_t> longest;
  for (std::uint64_t trial = 0; trial < 8; ++trial) {
    longest = std::max(longest, why(cluster, id, trial).ahead);
  }
  EXPECT_GT(longest, 100'000'000'000U);
}

TEST(Explain, ATrialAtItsRungIsPromotedAfterExactlySoManyResultsBehindIt) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(30, 1));
  const auto next_reports = [&](double metric) {
    const AttemptKey key = cluster.attempts.begin()->first;
    cluster.report(key, 1, metric);
    if (cluster.attempts.contains(key) && cluster.attempts.at(key).decision->directive == Directive::pause) {
      cluster.exit(key);
    }
  };
  next_reports(0.5);
  const Explanation at_first = why(cluster, id, 0);
  ASSERT_EQ(at_first.results_needed, 2U);  // floor(3/3) = 1 > rank 0.
  EXPECT_EQ(at_first.reason.rank, 0U);
  EXPECT_EQ(at_first.reason.size, 1U);
  EXPECT_FALSE(results_of(at_first).wait) << "a trial runs";
  next_reports(0.6);
  EXPECT_EQ(why(cluster, id, 0).results_needed, 1U);
  EXPECT_EQ(why(cluster, id, 1).results_needed, 4U);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  next_reports(0.7);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running) << "as was said";
  const Explanation running = why(cluster, id, 0);
  EXPECT_EQ(running.results_needed, std::nullopt);
  const auto& trains = std::get<NowTrains>(running.now);
  EXPECT_EQ(trains.attempt, AttemptNumber(2));
  ASSERT_EQ(trains.places.size(), 1U);
  EXPECT_EQ(trains.places[0].worker, "a");
  EXPECT_EQ(trains.reached, Units{1});
  EXPECT_EQ(trains.length, Units{3});
  EXPECT_EQ(std::get<NextDecision>(running.next).length, Units{3});
}

/// An experiment on one worker, all of whose slots are in use; so many of its trials have reported, each a
/// worse metric than those before, and none has exited.
ExperimentId after_reports(TestCluster& cluster, int trials, int slots, int reports) {
  cluster.join("a", static_cast<std::uint64_t>(slots));
  const ExperimentId id = cluster.create(asha_config(trials, slots));
  for (int trial = 0; trial < reports; ++trial) {
    cluster.report(cluster.live(id, static_cast<std::uint64_t>(trial)), 1, 0.1 * (trial + 1));
  }
  return id;
}

TEST(Explain, OnlyOneTrialIsNextInLine) {
  TestCluster cluster;
  const ExperimentId id = after_reports(cluster, 10, 10, 9);
  const Explanation first = why(cluster, id, 0);
  EXPECT_EQ(first.results_needed, 0U);
  EXPECT_EQ(first.ahead, 0U);
  const auto limit = wait_of<WaitForConcurrency>(first);
  EXPECT_EQ(limit.running, 10U);
  EXPECT_EQ(limit.delayed, 0U);
  EXPECT_EQ(limit.limit.trials, 10U);
  EXPECT_EQ(limit.limit.slots, std::nullopt);
  for (const std::uint64_t trial : {1U, 2U}) {
    const Explanation behind = why(cluster, id, trial);
    EXPECT_EQ(behind.results_needed, 0U);
    EXPECT_EQ(behind.ahead, trial);
  }
  EXPECT_EQ(why(cluster, id, 3).ahead, std::nullopt);
  cluster.exit(cluster.live(id, 0));
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running) << "as was said";
  EXPECT_EQ(why(cluster, id, 1).ahead, 0U);
  EXPECT_EQ(why(cluster, id, 2).ahead, 1U);
}

TEST(Explain, TrialsThatWaitForSlotsStandBeforeThoseThatAreToBePromoted) {
  TestCluster cluster;
  const ExperimentId id = after_reports(cluster, 10, 10, 9);
  cluster.step(LoseWorker{WorkerId(1), "gone"});
  ASSERT_EQ(cluster.trial(id, 9).state, TrialState::pending);
  const Explanation first = why(cluster, id, 0);
  EXPECT_EQ(first.ahead, 1U);
  EXPECT_FALSE(wait_of<WaitForWorker>(first).wanted);
  wait_of<WaitForWorker>(why(cluster, id, 5));
  EXPECT_TRUE(std::holds_alternative<NextResults>(why(cluster, id, 5).next));
}

TEST(Explain, TrialsThatAwaitResumeStandBeforeThoseThatAreToBePromoted) {
  TestCluster cluster;
  const ExperimentId id = after_reports(cluster, 10, 10, 8);
  cluster.step(PauseExperiment{id});
  for (const std::uint64_t trial : {8U, 9U}) {
    cluster.exit(cluster.live(id, trial));
    ASSERT_TRUE(cluster.trial(id, trial).awaits_resume);
  }
  EXPECT_EQ(why(cluster, id, 0).ahead, 2U);
  cluster.step(ResumeExperiment{id});
  EXPECT_EQ(cluster.trial(id, 8).state, TrialState::running) << "as was said";
  EXPECT_EQ(cluster.trial(id, 9).state, TrialState::running) << "as was said";
  EXPECT_EQ(why(cluster, id, 0).ahead, 0U);
}

TEST(Explain, TrialsThatAreToPauseStandBeforeThoseThatAreToBePromoted) {
  TestCluster cluster;
  const ExperimentId id = after_reports(cluster, 12, 4, 1);
  cluster.exit(cluster.live(id, 0));
  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 1}}}}});
  cluster.report(cluster.live(id, 1), 1, 0.6);
  cluster.report(cluster.live(id, 2), 1, 0.7);
  ASSERT_EQ(why(cluster, id, 0).results_needed, 0U);
  EXPECT_EQ(why(cluster, id, 0).ahead, 2U) << "3 and 4 were told to pause";
  for (const std::uint64_t trial : {3U, 4U}) {
    cluster.exit(cluster.live(id, trial));
    ASSERT_EQ(cluster.trial(id, trial).state, TrialState::pending);
  }
  EXPECT_EQ(why(cluster, id, 0).ahead, 2U);
}

TEST(Explain, ATrialThatIsToBePromotedSaysWhatKeepsIt) {
  TestCluster cluster;
  const ExperimentId id = after_reports(cluster, 10, 10, 9);
  cluster.step(PauseExperiment{id});
  for (const std::uint64_t trial : {0U, 1U, 2U, 3U}) {
    wait_of<WaitForResume>(why(cluster, id, trial));
  }
  cluster.step(ResumeExperiment{id});
  EXPECT_FALSE(results_of(why(cluster, id, 3)).wait);
  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 20}}}}});
  cluster.step(QuarantineWorker{WorkerId(1), "a fan is broken"});
  wait_of<WaitForRelease>(why(cluster, id, 0));
}

TEST(Explain, ATrialThatTooFewResultsCanStillComeForCannotBePromoted) {
  TestCluster cluster;
  const ExperimentId id = after_reports(cluster, 20, 20, 15);
  const Explanation possible = why(cluster, id, 5);
  EXPECT_EQ(possible.results_needed, 3U);
  EXPECT_EQ(possible.results_to_come, 5U);
  const Explanation hopeless = why(cluster, id, 14);
  EXPECT_EQ(hopeless.results_needed, 30U);
  EXPECT_EQ(hopeless.results_to_come, 5U);
  EXPECT_FALSE(results_of(hopeless).exhausted);

  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_trials", 50}}}}});
  EXPECT_EQ(why(cluster, id, 14).results_to_come, 35U);
  EXPECT_EQ(why(cluster, id, 14).results_needed, 30U);
}

TEST(Explain, MoreTrialsAreNoWayOutOfASpaceThatIsExhausted) {
  TestCluster cluster;
  cluster.join("a", 3);
  Value config =
      asha_config(9, 3, false,
                  {{"hyperparameters",
                    Value::Map{{"x", Value::Map{{"type", "categorical"}, {"vals", Value::List{1, 2, 3}}}}}}});
  (*config.as_map()->find("searcher")->as_map())["on_duplicate"] = "reject";
  const ExperimentId id = cluster.create(config);
  cluster.report(cluster.live(id, 0), 1, 0.5);
  cluster.report(cluster.live(id, 1), 1, 0.6);
  EXPECT_TRUE(results_of(why(cluster, id, 1)).exhausted);
}

TEST(Explain, APendingTrialNamesWhatItLacks) {
  TestCluster cluster;
  cluster.join("a", 2);
  const ExperimentId id = cluster.create(random_config(3, 2));
  cluster.step(PauseExperiment{id});
  cluster.exit(cluster.live(id, 0));
  EXPECT_TRUE(std::holds_alternative<NowAwaitsResume>(why(cluster, id, 0).now));
  EXPECT_TRUE(std::holds_alternative<NextResume>(why(cluster, id, 0).next));
  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 1}}}}});
  cluster.step(ResumeExperiment{id});
  const Explanation pending = why(cluster, id, 0);
  EXPECT_EQ(std::get<NowNeedsSlots>(pending.now).slots, 1U);
  EXPECT_EQ(std::get<NowNeedsSlots>(pending.now).to, Units{9});
  EXPECT_EQ(wait_of<WaitForConcurrency>(pending).limit.trials, 1U);
  cluster.step(LoseWorker{WorkerId(1), "gone"});
  wait_of<WaitForWorker>(why(cluster, id, 0));
}

TEST(Explain, ATrialThatGoesOnIsNoLongerPausedByAnybody) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  cluster.step(PauseExperiment{id});
  cluster.exit(cluster.live(id, 0));
  EXPECT_EQ(reason_of(cluster.trial(id, 0)).why, Reason::Why::user);
  EXPECT_EQ(reason_of(cluster.trial(id, 0)).detail, "the experiment is paused");
  cluster.step(ResumeExperiment{id});
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::running);
  EXPECT_EQ(why(cluster, id, 0).reason.why, Reason::Why::user);
  EXPECT_EQ(why(cluster, id, 0).reason.detail, "the experiment was resumed");
  cluster.step(LoseWorker{WorkerId(1), "gone"});
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::pending);
  EXPECT_EQ(why(cluster, id, 0).reason.detail, "the experiment was resumed");
}

TEST(Explain, ATrialThatReportedPastItsRungSaysWhereItStands) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(9, 1));
  cluster.report(cluster.live(id, 0), 4, 0.5);
  const Explanation explanation = why(cluster, id, 0);
  EXPECT_EQ(std::get<NowAtRung>(explanation.now).reached, Units{4});
  EXPECT_EQ(std::get<NowAtRung>(explanation.now).rung, Units{1});
  EXPECT_EQ(explanation.reason.why, Reason::Why::waits_at_rung);
}

TEST(Explain, ATrialThatIsEndingSaysHowItIsToEnd) {
  TestCluster cluster;
  const ExperimentId id = after_reports(cluster, 20, 6, 0);
  const auto exit_of = [&](std::uint64_t trial) { return std::get<NextExit>(why(cluster, id, trial).next); };
  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 5}}}}});
  EXPECT_EQ(exit_of(5).directive, Directive::pause);
  EXPECT_TRUE(exit_of(5).exceeds_limits);
  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 6}}}}});
  cluster.step(PauseExperiment{id});
  cluster.step(ResumeExperiment{id});
  EXPECT_EQ(exit_of(0).directive, Directive::pause);
  EXPECT_FALSE(exit_of(0).exceeds_limits);
  cluster.step(CancelExperiment{id});
  EXPECT_EQ(exit_of(0).directive, Directive::stop);
  cluster.step(KillExperiment{id});
  EXPECT_EQ(exit_of(0).directive, Directive::kill);
}

TEST(Explain, ATrialThatOthersComeBeforeHasItsPriorityAndWeight) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id =
      cluster.create(random_config(1, 1, Value::Map{{"resources", Value::Map{{"weight", 1e-7}}}}));
  cluster.engine.set_suspect(cluster.join("b", 1), true);
  cluster.step(LoseWorker{worker, "gone"});
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::pending);
  EXPECT_EQ(wait_of<WaitForTurn>(why(cluster, id, 0)).priority, 50U);
  EXPECT_EQ(wait_of<WaitForTurn>(why(cluster, id, 0)).weight, 1e-7);
}

TEST(Explain, WithoutAConcurrencyLimitTheSlotsAreTheLimit) {
  TestCluster cluster;
  cluster.join("a", 2);
  const ExperimentId id =
      cluster.create(test_config(Value::Map{{"name", "async_halving"},
                                            {"max_trials", 9},
                                            {"num_rungs", 3},
                                            {"divisor", 2},
                                            {"max_concurrent_trials", 0}},
                                 Value::Map{{"resources", Value::Map{{"slots_per_trial", 0}}}}));
  cluster.report(cluster.live(id, 0), 2, 0.1);
  cluster.report(cluster.live(id, 1), 2, 0.2);
  const auto limit = wait_of<WaitForConcurrency>(why(cluster, id, 0));
  EXPECT_EQ(limit.running, 2U);
  EXPECT_EQ(limit.limit.trials, 2U);
  EXPECT_EQ(limit.limit.slots, 2U);
}

TEST(Explain, AnEndedTrialSaysHow) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  cluster.run_all([](TrialNumber) { return 0.5; });
  const auto ended = std::get<NowEnded>(why(cluster, id, 0).now);
  EXPECT_EQ(ended.state, TrialState::completed);
  EXPECT_EQ(ended.reached, Units{9});
  EXPECT_TRUE(std::holds_alternative<NextNothing>(why(cluster, id, 0).next));
}

}  // namespace
}  // namespace hpsearch::engine
