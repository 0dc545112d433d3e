#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/test_cluster.hpp"
#include "messages.hpp"

namespace hpsearch::engine {
namespace {

TEST(Experiment, BadConfigNamesEveryProblemAndLeavesNoEvent) {
  TestCluster cluster;
  CreateExperiment command;
  command.config = test_config(Value::Map{{"name", "random"}, {"max_trials", 0}, {"max_lenght", 3}});
  const Error error = cluster.refused(command);
  EXPECT_EQ(error.code, Errc::bad_request);
  EXPECT_NE(error.message.find("searcher.max_trials"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("max_length"), std::string::npos) << error.message;
}

TEST(Experiment, SameIdempotencyKeyGivesSameExperiment) {
  TestCluster cluster;
  CreateExperiment command;
  command.config = random_config(1, 1);
  command.seed = 1;
  command.idempotency_key = "k";
  const ExperimentId first = *cluster.step(command).created;
  command.seed = 2;  // A retry may have drawn another seed; the first one counts.
  const Effects again = cluster.step(command);
  EXPECT_EQ(again.created, first);
  EXPECT_TRUE(again.events.empty());
  CreateExperiment other = command;
  other.config = random_config(2, 1);
  EXPECT_EQ(cluster.refused(other).code, Errc::conflict);
  EXPECT_EQ(cluster.refused(other).message,
            "the idempotency key \"k\" stands for experiment 1 already, which has another configuration: "
            "searcher.max_trials");
  other = command;
  other.context_digest = "0f";
  EXPECT_EQ(cluster.refused(other).message,
            "the idempotency key \"k\" stands for experiment 1 already, which has another context: none");
  other = command;
  other.context_directory = "/elsewhere";
  EXPECT_EQ(
      cluster.refused(other).message,
      "the idempotency key \"k\" stands for experiment 1 already, which has another context directory: none");
}

TEST(Experiment, ConcurrencyIsExactAndNeverAboveSlots) {
  TestCluster cluster;
  cluster.join("a", 3);
  const ExperimentId id = cluster.create(random_config(10, 2));
  EXPECT_EQ(cluster.attempts.size(), 2U);
  cluster.run_all([](TrialNumber) { return 1.0; });
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 10U);
  EXPECT_EQ(cluster.engine.find(id)->by_state[static_cast<std::size_t>(TrialState::completed)], 10U);
}

TEST(Experiment, ZeroConcurrencyMeansAsManyAsSlots) {
  TestCluster cluster;
  cluster.join("a", 3);
  cluster.create(random_config(10, 0));
  EXPECT_EQ(cluster.attempts.size(), 3U);
  cluster.join("b", 2);
  EXPECT_EQ(cluster.attempts.size(), 5U);
}

TEST(Experiment, TraceOfTheSpecification) {
  // One bracket, R=3, L=9, d=3, N=12, one at a time, metrics 0.01, 0.02, … in trial order.
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(12, 1));
  cluster.run_all([](TrialNumber trial) { return 0.01 * static_cast<double>(trial.number() + 1); });
  const ExperimentRecord& record = *cluster.engine.find(id);
  EXPECT_EQ(record.state, ExperimentState::completed);
  ASSERT_EQ(record.trials.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) {
    const std::uint64_t expected = i == 0 ? 9 : i <= 3 ? 3 : 1;
    EXPECT_EQ(count(record.trials[i].reached), expected) << "trial " << i;
    EXPECT_EQ(record.trials[i].state, i == 0 ? TrialState::completed : TrialState::stopped) << "trial " << i;
  }
}

TEST(Experiment, LargerMetricsWinWhereTheUserSaysSo) {
  TestCluster cluster;
  cluster.join("a", 4);  // One slot more than trials that wind down.
  const ExperimentId id = cluster.create(test_config(Value::Map{{"name", "async_halving"},
                                                                {"max_trials", 3},
                                                                {"num_rungs", 3},
                                                                {"divisor", 3},
                                                                {"smaller_is_better", false}}));
  cluster.report(cluster.live(id, 0), 1, 0.25);
  cluster.report(cluster.live(id, 1), 1, 0.75);
  cluster.report(cluster.live(id, 2), 1, 0.5);
  EXPECT_EQ(cluster.trial(id, 1).length, Units{3});
  EXPECT_EQ(cluster.trial(id, 0).length, Units{1});
  EXPECT_EQ(cluster.trial(id, 2).length, Units{1});
  EXPECT_EQ(cluster.engine.find(id)->best, TrialNumber(1));
}

TEST(Experiment, PausedByItsWorkerAtItsLengthIsDecidedByItsReport) {
  for (const double metric : {0.1, 0.9}) {
    TestCluster cluster;
    const WorkerId worker = cluster.join("a", 1);
    const ExperimentId id = cluster.create(asha_config(9, 1));
    for (const double before : {0.5, 0.6}) {  // Neither is among the best third of so few.
      const AttemptKey key = cluster.attempts.begin()->first;
      cluster.report(key, 1, before);
      cluster.exit(key);
    }
    const AttemptKey key = cluster.live(id, 2);
    ExitReport paused;
    paused.cause = ExitReport::Cause::ended_by_agent;
    cluster.attempts.erase(key);
    cluster.step(TakeReports{
        worker,
        key,
        1,
        {MetricsReport{Units{1}, {{"score", metric}}}, CheckpointReport{Units{1}, "/c/2", 1, 1}, paused}});
    const TrialRecord& trial = cluster.trial(id, 2);
    EXPECT_EQ(trial.restarts, 0U);
    if (metric > 0.5) {
      EXPECT_EQ(trial.state, TrialState::paused);
      EXPECT_FALSE(trial.live.has_value());
      continue;
    }
    EXPECT_EQ(trial.length, Units{3});
    EXPECT_EQ(trial.attempts, 2U);
    const TestAttempt& next = cluster.attempts.at(cluster.live(id, 2));
    EXPECT_EQ(next.spec.latest_checkpoint, "/c/2");
    EXPECT_EQ(next.spec.length, Units{3});
  }
}

TEST(Experiment, PromotedReporterKeepsItsSlotAndProcess) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(9, 1));
  for (const double metric : {0.5, 0.6}) {  // Neither is among the best third of so few.
    const AttemptKey key = cluster.attempts.begin()->first;
    cluster.report(key, 1, metric);
    cluster.exit(key);
  }
  const AttemptKey key = cluster.live(id, 2);
  const Effects effects = cluster.report(key, 1, 0.1);
  const auto promoted = all<TrialPromoted>(effects.events);
  ASSERT_EQ(promoted.size(), 1U);
  EXPECT_TRUE(promoted[0].in_place);
  EXPECT_TRUE(all<LeaseGranted>(effects.events).empty());
  const auto* decide = find_order<DecideAttempt>(effects);
  ASSERT_NE(decide, nullptr);
  EXPECT_EQ(decide->decision.directive, Directive::train_on);
  EXPECT_EQ(decide->decision.length, Units{3});
}

TEST(Experiment, PausedTrialIsPromotedAsNewAttemptFromItsCheckpoint) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(9, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.send(first, CheckpointReport{Units{1}, "/ckpt/0", 1, 10});
  cluster.report(first, 1, 0.1);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  cluster.exit(first);
  for (int i = 0; i < 2; ++i) {
    const AttemptKey key = cluster.attempts.begin()->first;
    cluster.report(key, 1, 0.5);
    cluster.exit(key);
  }
  const AttemptKey second = cluster.live(id, 0);
  EXPECT_EQ(second.attempt, AttemptNumber(2));
  EXPECT_GT(second.lease, first.lease);
  EXPECT_EQ(cluster.attempts.at(second).spec.latest_checkpoint, "/ckpt/0");
  EXPECT_EQ(cluster.attempts.at(second).spec.length, Units{3});
}

TEST(Experiment, BestCheckpointIsTheBestMeasuredAtItsExactStep) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.send(key, CheckpointReport{Units{1}, "/c/1", 1, 1});
  cluster.report(key, 1, 0.5);
  cluster.report(key, 2, 0.1);  // The best of all, but no checkpoint holds it.
  cluster.report(key, 3, 0.3);
  cluster.send(key, CheckpointReport{Units{3}, "/c/3", 1, 1});
  cluster.send(key, CheckpointReport{Units{4}, "/c/4", 1, 1});
  cluster.report(key, 4, 0.4);
  EXPECT_EQ(cluster.trial(id, 0).best->step, Units{2});
  EXPECT_EQ(cluster.trial(id, 0).checkpoints->best, "/c/3");
  EXPECT_EQ(cluster.trial(id, 0).checkpoints->best_metric, 0.3);
  EXPECT_EQ(cluster.trial(id, 0).checkpoints->latest, "/c/4");
}

TEST(Experiment, SparseReportsEnterEveryRungTheyPassed) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(1, 1, true));
  const AttemptKey key = cluster.live(id, 0);
  const Effects effects = cluster.report(key, 5, 0.3);  // Rungs at 1, 3 and 9.
  const auto reached = all<LengthReached>(effects.events);
  ASSERT_EQ(reached.size(), 2U);
  EXPECT_EQ(reached[0].length, Units{1});
  EXPECT_EQ(reached[1].length, Units{3});
  EXPECT_EQ(reached[1].step, Units{5});
  EXPECT_EQ(cluster.attempts.at(key).decision->length, Units{9});
}

// Promotion type: the best of three is promoted in place and has passed the next rung already, where it is
// alone.
TEST(Experiment, SparseReportsOfATrialThatIsPromotedInPlaceEnterTheNextRungToo) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(9, 1));
  for (std::uint64_t trial = 0; trial < 2; ++trial) {
    const AttemptKey key = cluster.live(id, trial);
    cluster.report(key, 1, 0.5);
    cluster.exit(key);
  }
  const AttemptKey key = cluster.live(id, 2);
  const auto reached = all<LengthReached>(cluster.report(key, 5, 0.1).events);
  ASSERT_EQ(reached.size(), 2U);
  EXPECT_EQ(reached[0].length, Units{1});
  EXPECT_EQ(reached[1].length, Units{3});
  EXPECT_EQ(reached[1].step, Units{5});
  EXPECT_EQ(cluster.trial(id, 2).state, TrialState::paused);
  EXPECT_EQ(cluster.attempts.at(key).decision->directive, Directive::pause);
}

// Promotion type: the trial waits at the first rung, having passed the second. Once it is promoted its value
// is entered there without a slot, and when it is promoted again it goes on from where it really was.
TEST(Experiment, SparseReportsEnterTheRungThatAPausedTrialIsPromotedTo) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(9, 1));
  const AttemptKey sparse = cluster.live(id, 0);
  ASSERT_EQ(all<LengthReached>(cluster.report(sparse, 5, 0.1).events).size(), 1U);
  cluster.exit(sparse);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::paused);

  const auto report_and_exit = [&](std::uint64_t trial, std::uint64_t length, double metric) {
    const AttemptKey key = cluster.live(id, trial);
    cluster.report(key, length, metric);
    return cluster.exit(key);
  };
  report_and_exit(1, 1, 0.5);
  const Effects effects = report_and_exit(2, 1, 0.6);  // The first rung keeps one of three.
  const auto promoted = all<TrialPromoted>(effects.events);
  const auto reached = all<LengthReached>(effects.events);
  ASSERT_EQ(promoted.size(), 1U);
  EXPECT_EQ(promoted[0].trial, TrialNumber(0));
  EXPECT_EQ(promoted[0].length, Units{3});
  ASSERT_EQ(reached.size(), 1U);
  EXPECT_EQ(reached[0].trial, TrialNumber(0));
  EXPECT_EQ(reached[0].length, Units{3});
  EXPECT_EQ(reached[0].step, Units{5});
  EXPECT_EQ(reached[0].metric, 0.1);
  const auto leases = all<LeaseGranted>(effects.events);
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].trial, TrialNumber(3)) << "the slot is for somebody who has to train";

  // Two more at the second rung: then it keeps one of three.
  for (std::uint64_t trial = 3; trial < 9 && !cluster.trial(id, 0).live; ++trial) {
    const AttemptKey key = cluster.live(id, trial);
    cluster.report(key, 1, 0.2);
    cluster.exit(key);
    for (std::uint64_t other = 3; other <= trial; ++other) {
      if (cluster.trial(id, other).live && cluster.trial(id, other).length == Units{3}) {
        report_and_exit(other, 3, 0.3);
      }
    }
  }
  ASSERT_TRUE(cluster.trial(id, 0).live);
  EXPECT_EQ(cluster.attempts.at(cluster.live(id, 0)).spec.length, Units{9});
  EXPECT_EQ(cluster.trial(id, 0).reached, Units{5});
}

TEST(Experiment, ProgramThatExitsAtItsLengthIsRightEvenIfItWasPromotedInPlace) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(1, 1, true));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 1, 0.3);
  EXPECT_EQ(cluster.trial(id, 0).length, Units{3});
  cluster.exit(key, 0);
  const AttemptKey next = cluster.live(id, 0);
  EXPECT_EQ(cluster.attempts.at(next).spec.length, Units{3});
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U);
}

TEST(Experiment, AProgramThatEndsWellBelowItsLengthHasWhatItReported) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(2, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 4, 0.3);
  cluster.exit(key, 0);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::completed);
  EXPECT_MESSAGE(cluster.trial(id, 0).reason.detail());
  cluster.run_all([](TrialNumber) { return 1.0; });
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
}

TEST(Experiment, ProgramWithoutTheMetricFailsAndSaysWhatItReported) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.send(key, MetricsReport{Units{9}, {{"accuracy", 0.5}, {"loss", 1.0}}});
  cluster.exit(key, 0);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::failed);
  EXPECT_NE(cluster.trial(id, 0).reason.detail().find("reported \"accuracy\", \"loss\""), std::string::npos);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::failed);
}

TEST(Experiment, FailuresOfTheProgramCountAndAreLimited) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1, Value::Map{{"max_restarts", 2}}));
  for (int i = 0; i < 2; ++i) {
    cluster.exit(cluster.live(id, 0), 1);
    cluster.now = cluster.now + Duration::seconds(1);
    cluster.step(CheckTimers{});
    EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running);
  }
  cluster.exit(cluster.live(id, 0), 1);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::failed);
  EXPECT_EQ(cluster.trial(id, 0).attempts, 3U);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::failed);
}

TEST(Experiment, InterruptionsAndLostWorkersAreFree) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1, Value::Map{{"max_restarts", 0}}));
  cluster.exit(cluster.live(id, 0), 75);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running);
  cluster.step(LoseWorker{worker, "silent for 300 s"});
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::pending);
  cluster.now = cluster.now + Duration::seconds(1);  // It was over as soon as it was leased, twice in a row.
  cluster.join("b", 1);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running);
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U);
}

TEST(Experiment, NanRanksAsWorstAndEndsNothing) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(3, 1));
  cluster.run_all(
      [](TrialNumber trial) { return trial.number() == 0 ? std::numeric_limits<double>::quiet_NaN() : 0.5; });
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::stopped);
  EXPECT_EQ(cluster.engine.find(id)->best, TrialNumber(1));
}

TEST(Experiment, InvalidHyperparametersAreReplaced) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(2, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.send(key, InvalidHparamsReport{"hidden is too large"});
  EXPECT_EQ(cluster.attempts.at(key).decision->directive, Directive::stop);
  cluster.exit(key, 0);
  cluster.run_all([](TrialNumber) { return 1.0; });
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 3U);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::stopped);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
}

TEST(Experiment, OneInvalidConfigurationTooManyFailsItThoughOthersTrain) {
  TestCluster cluster;
  cluster.join("a", 2);
  const ExperimentId id = cluster.create(random_config(2, 2));
  const AttemptKey trains = cluster.live(id, 0);
  for (std::uint64_t trial = 1; trial <= 3; ++trial) {  // Two are replaced.
    const AttemptKey invalid = cluster.live(id, trial);
    cluster.send(invalid, InvalidHparamsReport{"no"});
    if (trial < 3) {
      cluster.exit(invalid);
    }
  }
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
  EXPECT_NE(cluster.engine.find(id)->reason, "");
  EXPECT_EQ(cluster.attempts.at(trains).decision->directive, Directive::stop);
  cluster.exit(trains);
  cluster.exit(cluster.live(id, 3));
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::failed);
}

TEST(Experiment, PauseReleasesSlotsAndResumeGoesOn) {
  TestCluster cluster;
  cluster.join("a", 2);
  const ExperimentId id = cluster.create(random_config(4, 2));
  const Effects paused = cluster.step(PauseExperiment{id});
  EXPECT_EQ(cluster.attempts.at(cluster.live(id, 0)).decision->directive, Directive::pause);
  cluster.exit(cluster.live(id, 0), 0);
  cluster.exit(cluster.live(id, 1), 143);  // Ended by the pause itself: not a failure.
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  EXPECT_EQ(cluster.trial(id, 1).restarts, 0U);
  EXPECT_TRUE(cluster.attempts.empty());
  cluster.step(ResumeExperiment{id});
  EXPECT_EQ(cluster.attempts.size(), 2U);
  cluster.run_all([](TrialNumber) { return 1.0; });
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
}

TEST(Experiment, PromotionDuringPauseWaitsForResume) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(1, 1, true));
  const AttemptKey key = cluster.live(id, 0);
  cluster.step(PauseExperiment{id});
  cluster.report(key, 1, 0.5);  // The searcher says: train on to 3.
  EXPECT_EQ(cluster.trial(id, 0).length, Units{3});
  EXPECT_EQ(cluster.attempts.at(key).decision->directive, Directive::pause);
  cluster.exit(key, 0);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  cluster.step(ResumeExperiment{id});
  EXPECT_EQ(cluster.attempts.at(cluster.live(id, 0)).spec.length, Units{3});
}

TEST(Experiment, CancelIsGracefulAndKillIsNot) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(4, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.step(CancelExperiment{id});
  EXPECT_EQ(cluster.attempts.at(key).decision->directive, Directive::stop);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
  cluster.step(KillExperiment{id});
  EXPECT_EQ(cluster.attempts.at(key).decision->directive, Directive::kill);
  cluster.exit(key, 0);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::canceled);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::canceled);
  EXPECT_TRUE(cluster.attempts.empty());
}

TEST(Experiment, CancelEndsATrialThatPausesWhileItsProgramWindsDown) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(9, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 1, 0.5);
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  ASSERT_TRUE(cluster.trial(id, 0).live);
  cluster.step(CancelExperiment{id});
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::canceled);
  cluster.exit(key, 0);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::canceled);
}

TEST(Experiment, SlotsGoByPriorityThenByFairShare) {
  TestCluster cluster;
  const ExperimentId low = cluster.create(random_config(9, 9));
  const ExperimentId heavy =
      cluster.create(random_config(9, 9, Value::Map{{"resources", Value::Map{{"weight", 3}}}}));
  const ExperimentId urgent =
      cluster.create(random_config(1, 9, Value::Map{{"resources", Value::Map{{"priority", 1}}}}));
  cluster.join("a", 9);
  EXPECT_EQ(cluster.engine.find(urgent)->running.size(), 1U);
  EXPECT_EQ(cluster.engine.find(low)->running.size(), 2U);
  EXPECT_EQ(cluster.engine.find(heavy)->running.size(), 6U);
}
TEST(Scheduler, TrialsThatTakeNoSlotRunWhileAllSlotsAreInUse) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId full = cluster.create(random_config(3, 3));
  const ExperimentId none =
      cluster.create(random_config(3, 2, {{"resources", Value::Map{{"slots_per_trial", 0}}}}));
  EXPECT_EQ(cluster.engine.find(full)->running.size(), 1U);
  EXPECT_EQ(cluster.engine.find(none)->running.size(), 2U);
  const ExperimentId waits = cluster.create(random_config(3, 3));
  EXPECT_TRUE(cluster.engine.find(waits)->running.empty());
  cluster.step(ChangeExperiment{none, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 3}}}}});
  EXPECT_EQ(cluster.engine.find(none)->running.size(), 3U);
  cluster.step(CancelExperiment{none});
  cluster.report(cluster.live(full, 0), 9, 0.5);
  cluster.exit(cluster.live(full, 0));
  EXPECT_EQ(cluster.engine.find(full)->running.size() + cluster.engine.find(waits)->running.size(), 1U)
      << "the slot that became free is given away";
}

}  // namespace
}  // namespace hpsearch::engine
