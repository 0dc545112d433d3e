#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "engine/gangs.hpp"

// Whatever ends one member of an attempt on several workers ends all, and counts once or not at all.

namespace hpsearch::engine {
namespace {

TEST_F(RunningGang, EndsWhenItsLastMemberHasEnded) {
  step(TakeReports{a, launched.at(a).key, 1, {MetricsReport{Units{9}, {{"score", 0.5}}}}});
  exits(a, 0, 2);
  EXPECT_TRUE(trial().live.has_value());
  EXPECT_EQ(free_slots(a), 2U);
  EXPECT_EQ(free_slots(b), 0U);
  EXPECT_EQ(sent.at(b), Directive::stop);
  expect_replayable();
  exits(b, 0);
  EXPECT_EQ(acked.at(b), 1U);
  EXPECT_FALSE(trial().live.has_value());
  EXPECT_EQ(free_slots(b), 2U);
  EXPECT_EQ(trial().state, TrialState::completed);
  EXPECT_EQ(trial().restarts, 0U);
  expect_replayable();
}

TEST_F(RunningGang, WaitsForRank0WhenAnotherEndsWellFirst) {
  exits(b, 0);
  EXPECT_FALSE(sent.contains(a));
  EXPECT_TRUE(trial().live.has_value());
  EXPECT_EQ(free_slots(b), 2U);
}

TEST_F(RunningGang, CountsAFailureOnceWhoeverHasIt) {
  exits(b, 1);
  EXPECT_EQ(sent.at(a), Directive::kill);
  EXPECT_EQ(trial().restarts, 0U) << "what ended it is not known before all are gone";
  EXPECT_TRUE(trial().live.has_value());
  expect_replayable();
  exits(a, 1);
  EXPECT_EQ(trial().restarts, 1U);
  EXPECT_EQ(trial().attempts, 2U);
  EXPECT_TRUE(trial().live.has_value());  // It runs again, on both.
  EXPECT_NE(trial().last_failure->find("rank 1"), std::string::npos);
  expect_replayable();
}

TEST_F(RunningGang, EndsEverywhereUncountedWhenAWorkerIsLost) {
  step(LoseWorker{b, "it says goodbye"});
  EXPECT_EQ(sent.at(a), Directive::kill);
  EXPECT_TRUE(trial().live.has_value());
  EXPECT_EQ(free_slots(a), 0U);  // Until its processes have ended.
  expect_replayable();
  ends_as_asked(a);
  EXPECT_EQ(free_slots(a), 2U);
  EXPECT_EQ(trial().restarts, 0U);
  EXPECT_EQ(trial().state, TrialState::pending);
  EXPECT_FALSE(trial().live.has_value());
  launched.clear();
  join("2", 2, {}, 2);
  EXPECT_EQ(trial().attempts, 2U);
  EXPECT_EQ(launched.size(), 2U);
  expect_replayable();
}

TEST_F(RunningGang, IsKilledUncountedWhenADeviceOfAnyMemberBreaks) {
  ExitReport broken;
  broken.cause = ExitReport::Cause::lost;
  broken.code = 9;
  broken.message = "its node failed: GPU 1 is lost";
  step(TakeReports{b, launched.at(b).key, 1, {broken}});
  EXPECT_EQ(sent.at(a), Directive::kill) << "without the other it can only wait";
  ends_as_asked(a);
  EXPECT_EQ(trial().restarts, 0U);
  EXPECT_EQ(trial().attempts, 2U);
  sent.clear();
  step(TakeReports{a, launched.at(a).key, 1, {broken}});
  EXPECT_EQ(sent.at(b), Directive::kill);
  ends_as_asked(b);
  EXPECT_EQ(trial().restarts, 0U);
  EXPECT_EQ(trial().attempts, 2U) << "twice in a row as soon as it was leased: it is put off";
  cluster.now = cluster.now + Duration::seconds(1);
  step(CheckTimers{});
  EXPECT_EQ(trial().attempts, 3U);
  expect_replayable();
}

TEST_F(RunningGang, GoesOnFromTheCheckpointOfRank0) {
  const AttemptKey key = launched.at(a).key;
  step(TakeReports{
      a, key, 1, {MetricsReport{Units{4}, {{"score", 0.5}}}, CheckpointReport{Units{4}, "/c/4", 1, 1}}});
  step(LoseWorker{b, "its machine burns"});
  ends_as_asked(a, 3);
  join("2", 2, {}, 2);
  EXPECT_EQ(launched.at(a).latest_checkpoint, "/c/4");
  EXPECT_EQ(launched.at(b).latest_checkpoint, "/c/4");
}

/// The gang's trial saved at 4, its store was brought back, and it runs anew on both workers.
class GangOfARestoredStore : public RunningGang {
 protected:
  void SetUp() override {
    RunningGang::SetUp();
    step(TakeReports{
        a,
        launched.at(a).key,
        1,
        {MetricsReport{Units{4}, {{"score", 0.5}}}, CheckpointReport{Units{4}, "/c/1/0/1-4", 1, 1}}});
    const Lsn next(cluster.engine.last_lsn().number() + 1);
    cluster.log.push_back({next, cluster.now, StoreRestored{std::uint64_t{217'000'000} << 20U}});
    ASSERT_TRUE(cluster.engine.replay(cluster.log.back()));
    join("1", 2, {}, 2);
    join("2", 2, {}, 2);
    starts(a);
    starts(b);
  }
  void misses_its_checkpoint(WorkerId worker) {
    ExitReport exit;
    exit.cause = ExitReport::Cause::checkpoint_gone;
    exit.message = "its latest checkpoint is not on this worker's machine";
    step(TakeReports{worker, launched.at(worker).key, 1, {exit}});
  }
  const AttemptSpec& next_launch() {
    cluster.now = cluster.now + Duration::seconds(10);
    step(CheckTimers{});
    return launched.at(a);
  }
};

TEST_F(GangOfARestoredStore, DoesWithoutACheckpointThatTheLostPartDeleted) {
  ASSERT_EQ(launched.at(b).latest_checkpoint, "/c/1/0/1-4");
  misses_its_checkpoint(b);
  ends_as_asked(a);
  EXPECT_EQ(next_launch().latest_checkpoint, "");
  EXPECT_EQ(trial().restarts, 0U);
  expect_replayable();
}

TEST_F(GangOfARestoredStore, KeepsWhatRank0HasSavedSince) {
  misses_its_checkpoint(b);
  const std::string later = "/c/1/0/" + label_of(launched.at(a).key) + "-6";
  step(TakeReports{a, launched.at(a).key, 1, {CheckpointReport{Units{6}, later, 1, 1}}});
  ends_as_asked(a, 2);
  EXPECT_EQ(next_launch().latest_checkpoint, later);
  EXPECT_EQ(trial().restarts, 0U);
  expect_replayable();
}

TEST_F(RunningGang, FencesAMemberThatComesBackTooLate) {
  const AttemptKey key = launched.at(b).key;
  cluster.now = cluster.now + Duration::seconds(4'000);
  step(ExpireLeases{b, Instant::from_micros(1'000'000), Duration::seconds(300), Duration{}});
  EXPECT_EQ(sent.at(a), Directive::kill);
  HeldAttempt held;
  held.key = key;
  held.first_seq = 1;
  held.slots = {SlotIndex{0}, SlotIndex{1}};
  JoinWorker again = offer("2", 2);
  again.held = {held};
  const Effects effects = step(again);
  const auto welcome = std::find_if(effects.orders.begin(), effects.orders.end(), [](const Order& order) {
    return std::holds_alternative<WelcomeWorker>(order);
  });
  ASSERT_NE(welcome, effects.orders.end());
  EXPECT_EQ(std::get<WelcomeWorker>(*welcome).attempts.at(0).fate, WelcomeWorker::Fate::fenced);
  EXPECT_TRUE(trial().live.has_value());
  ends_as_asked(a);
  EXPECT_EQ(trial().attempts, 2U);
}

TEST_F(RunningGang, IsPausedAndEndedEverywhere) {
  step(PauseExperiment{experiment});
  EXPECT_EQ(sent.at(a), Directive::pause);
  EXPECT_EQ(sent.at(b), Directive::pause);
  exits(b, 0);
  exits(a, 0);
  EXPECT_EQ(trial().state, TrialState::paused);
  EXPECT_EQ(trial().restarts, 0U);
  step(ResumeExperiment{experiment});
  EXPECT_EQ(trial().attempts, 2U);
  sent.clear();
  step(KillExperiment{experiment});
  EXPECT_EQ(sent.at(a), Directive::kill);
  EXPECT_EQ(sent.at(b), Directive::kill);
  ends_as_asked(a);
  EXPECT_FALSE(is_ended(cluster.engine.find(experiment)->state));
  ends_as_asked(b);
  EXPECT_TRUE(is_ended(cluster.engine.find(experiment)->state));
  expect_replayable();
}

// Whoever loses a peer fails at once, and reports long before the peer's machine is known to be lost.
TEST_F(RunningGang, CountsNoFailureOfWhoHasLostAPeer) {
  exits(a, 1);
  EXPECT_EQ(sent.at(b), Directive::kill);
  expect_replayable();
  step(LoseWorker{b, "its lease has expired"});
  EXPECT_FALSE(trial().live.has_value());
  EXPECT_EQ(trial().restarts, 0U);
  EXPECT_FALSE(trial().last_failure.has_value());
  ASSERT_TRUE(trial().failure_history.has_value());
  EXPECT_EQ(trial().failure_history->crashes, 0U);
  EXPECT_TRUE(cluster.engine.workers().at(a).marks.empty());
  expect_replayable();
  launched.clear();
  join("2", 2, {}, 2);
  EXPECT_EQ(launched.size(), 2U);
}

TEST_F(RunningGang, CountsNoFailureBesideABrokenDevice) {
  exits(b, 1);
  ExitReport broken;
  broken.cause = ExitReport::Cause::lost;
  broken.message = "its node failed: GPU 1 is lost";
  step(TakeReports{a, launched.at(a).key, 1, {broken}});
  EXPECT_EQ(trial().restarts, 0U);
  EXPECT_EQ(trial().attempts, 2U);
  expect_replayable();
}

TEST_F(RunningGang, CountsNoFailureBesideAWorkerThatIsGoingAway) {
  exits(a, 1);
  cluster.engine.set_suspect(b, true);  // As one that says it is draining.
  ends_as_asked(b);
  EXPECT_EQ(trial().restarts, 0U);
  EXPECT_EQ(trial().state, TrialState::pending);
  expect_replayable();
}

TEST_F(RunningGang, CountsAFailureAfterWhichTheOthersEndedAsOrdered) {
  exits(a, 1);
  ends_as_asked(b);
  EXPECT_EQ(trial().restarts, 1U);
  EXPECT_EQ(*trial().last_failure, "exit status 1");
  EXPECT_EQ(trial().failure_history->crashes, 1U);
  EXPECT_EQ(trial().failure_history->crashed_on, a);
  expect_replayable();
}

TEST_F(RunningGang, IsNoCrashOnceItHasReported) {
  step(TakeReports{a, launched.at(a).key, 1, {MetricsReport{Units{2}, {{"score", 0.5}}}}});
  exits(b, 1);
  exits(a, 1, 2);
  EXPECT_EQ(trial().restarts, 1U);
  EXPECT_FALSE(trial().failure_history.has_value());
}

TEST_F(RunningGang, AvoidsWhereItCrashed) {
  const WorkerId c = join("3", 2);
  exits(b, 1);
  const AttemptKey key = launched.at(a).key;
  launched.clear();
  ExitReport ordered;
  ordered.cause = ExitReport::Cause::ended_by_agent;
  step(TakeReports{a, key, 1, {ordered}});
  EXPECT_EQ(trial().attempts, 2U);
  EXPECT_TRUE(launched.contains(a));
  EXPECT_TRUE(launched.contains(c));
  EXPECT_FALSE(launched.contains(b));
}

TEST_F(RunningGang, SpeaksWellOfAllItsWorkersByItsReports) {
  exits(b, 1);
  exits(a, 1);
  EXPECT_EQ(cluster.engine.workers().at(b).marks.size(), 1U);
  starts(a);
  starts(b);
  step(TakeReports{a, launched.at(a).key, 1, {MetricsReport{Units{2}, {{"score", 0.5}}}}});
  EXPECT_TRUE(cluster.engine.workers().at(b).marks.empty());
}

TEST_F(Gangs, PausedByTheWorkerOfRank0GoesOnWithoutACountedRestart) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  Value::Map others{{"resources", Value::Map{{"slots_per_trial", 4}, {"spans_workers", true}}}};
  experiment = *step(submit(asha_config(9, 1, false, std::move(others)))).created;
  for (const double metric : {0.5, 0.6}) {  // Neither is among the best third of so few.
    step(TakeReports{a, launched.at(a).key, 1, {MetricsReport{Units{1}, {{"score", metric}}}}});
    exits(a, 0, 2);
    exits(b, 0);
  }
  starts(a);
  starts(b);
  const std::uint64_t number = launched.at(a).key.trial.number();
  ASSERT_EQ(number, 2U);
  exits(b, 0);  // It followed rank 0, and its worker was back first.
  ExitReport paused;
  paused.cause = ExitReport::Cause::ended_by_agent;
  step(TakeReports{
      a,
      launched.at(a).key,
      1,
      {MetricsReport{Units{1}, {{"score", 0.1}}}, CheckpointReport{Units{1}, "/c/2", 1, 1}, paused}});
  EXPECT_EQ(trial(number).length, Units{3}) << "promoted by the report, whatever came of its program";
  EXPECT_EQ(trial(number).attempts, 2U);
  EXPECT_EQ(launched.at(a).latest_checkpoint, "/c/2");
  EXPECT_EQ(launched.at(a).key.trial, TrialNumber(number));
  EXPECT_EQ(trial(number).restarts, 0U);
  expect_replayable();
}

}  // namespace
}  // namespace hpsearch::engine
