#include <gtest/gtest.h>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {
namespace {

TEST(EndTrial, StopsARunningAttemptAndFreesItsSlotOnlyAfterItsExit) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(2, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.step(EndTrial{id, TrialNumber(0), ExitReason::user_canceled});
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::canceled);
  EXPECT_EQ(cluster.attempts.at(key).decision->directive, Directive::stop);
  EXPECT_EQ(cluster.attempts.size(), 1U) << "the slot is not free before the exit";
  cluster.exit(key);
  EXPECT_EQ(cluster.live(id, 1).trial, TrialNumber(1));
  cluster.step(EndTrial{id, TrialNumber(0), ExitReason::user_canceled});  // Asking twice is not an error.
  cluster.run_all([](TrialNumber) { return 0.5; });
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  EXPECT_EQ(cluster.trial(id, 1).state, TrialState::completed);
}

TEST(EndTrial, AnEndedTrialThatWaitedAtItsRungIsNeverPromoted) {
  for (const ExitReason reason : {ExitReason::user_canceled, ExitReason::user_stopped}) {
    TestCluster cluster;
    cluster.join("a", 1);
    const ExperimentId id = cluster.create(asha_config(6, 1));
    const AttemptKey first = cluster.live(id, 0);
    cluster.report(first, 1, 0.01);  // The best of all, but alone in its rung: it waits.
    ASSERT_EQ(cluster.trial(id, 0).state, TrialState::paused);
    cluster.step(EndTrial{id, TrialNumber(0), reason});
    const bool canceled = reason == ExitReason::user_canceled;
    EXPECT_EQ(cluster.trial(id, 0).state, canceled ? TrialState::canceled : TrialState::stopped);
    cluster.exit(first);
    cluster.run_all([](TrialNumber trial) { return static_cast<double>(trial.number()); });
    EXPECT_EQ(count(cluster.trial(id, 0).reached), 1U);
    EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  }
}

TEST(EndTrial, RefusesWhatIsNotThereAndWhatAUserCannotMean) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  EXPECT_EQ(cluster.refused(EndTrial{ExperimentId(9), TrialNumber(0), ExitReason::user_canceled}).code,
            Errc::not_found);
  EXPECT_EQ(cluster.refused(EndTrial{id, TrialNumber(5), ExitReason::user_canceled}).code, Errc::not_found);
  EXPECT_EQ(cluster.refused(EndTrial{id, TrialNumber(0), ExitReason::errored}).code, Errc::bad_request);
  cluster.run_all([](TrialNumber) { return 0.5; });
  EXPECT_EQ(cluster.refused(EndTrial{id, TrialNumber(0), ExitReason::user_canceled}).code, Errc::wrong_state);
}

TEST(MayFinish, ATrialWithADecisionAtItsLengthUntilItsSearchIsCanceled) {
  TestCluster cluster;
  cluster.join("a", 2);
  const ExperimentId id = cluster.create(random_config(4, 2));
  const AttemptKey finishing = cluster.live(id, 0);
  const AttemptKey training = cluster.live(id, 1);
  cluster.report(finishing, 9, 0.5);
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::completed);
  EXPECT_EQ(cluster.attempts.at(finishing).decision->directive, Directive::stop);
  EXPECT_TRUE(cluster.attempts.at(finishing).decision->may_finish);
  cluster.step(CancelExperiment{id});
  EXPECT_EQ(cluster.attempts.at(finishing).decision->directive, Directive::stop);
  EXPECT_FALSE(cluster.attempts.at(finishing).decision->may_finish);
  EXPECT_FALSE(cluster.attempts.at(training).decision->may_finish);
  cluster.expect_replayable();
}

TEST(MayFinish, UntilALimitOfTimeAndNotUntilATarget) {
  for (const bool by_time : {true, false}) {
    TestCluster cluster;
    cluster.join("a", 2);
    const Value::Map limit = by_time ? Value::Map{{"max_time", 60}} : Value::Map{{"target", 0.5}};
    const ExperimentId id = cluster.create(random_config(4, 2, Value::Map{{"budget", limit}}));
    const AttemptKey finishing = cluster.live(id, 0);
    cluster.report(finishing, 9, by_time ? 0.75 : 0.25);
    cluster.now = cluster.now + Duration::seconds(61);
    cluster.step(CheckTimers{});
    ASSERT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
    EXPECT_EQ(cluster.attempts.at(finishing).decision->may_finish, !by_time);
  }
}

TEST(MayFinish, AnAttemptOfATrialThatIsPausedAtItsLength) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(9, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 1, 0.5);
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  EXPECT_EQ(cluster.attempts.at(key).decision->directive, Directive::pause);
  EXPECT_TRUE(cluster.attempts.at(key).decision->may_finish);
}

TEST(MayFinish, NotWhoseUserEndsIt) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(4, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 5, 0.5);
  cluster.step(EndTrial{id, TrialNumber(0), ExitReason::user_stopped});
  EXPECT_EQ(cluster.attempts.at(key).decision->directive, Directive::stop);
  EXPECT_FALSE(cluster.attempts.at(key).decision->may_finish);
}

}  // namespace
}  // namespace hpsearch::engine
