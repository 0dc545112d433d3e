#include <gtest/gtest.h>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {
namespace {

TEST(Workers, ReconnectGoesOnWhereReportsAreDurable) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 1, 0.5);
  const Effects effects =
      cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {HeldAttempt{key, false, 3, Lsn()}}});
  EXPECT_TRUE(effects.events.empty());
  const auto* welcome = find_order<WelcomeWorker>(effects);
  ASSERT_NE(welcome, nullptr);
  ASSERT_EQ(welcome->attempts.size(), 1U);
  EXPECT_EQ(welcome->attempts[0].fate, WelcomeWorker::Fate::go_on);
  EXPECT_EQ(welcome->attempts[0].upto, 1U);
  EXPECT_EQ(find_order<LaunchAttempt>(effects), nullptr);
}

TEST(Workers, ReconnectGetsUnstartedLeasesAndUnheardDecisionsAgain) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(1, 1, true));
  const AttemptKey key = cluster.live(id, 0);
  Effects effects = cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {}});
  ASSERT_NE(find_order<LaunchAttempt>(effects), nullptr);
  EXPECT_EQ(find_order<LaunchAttempt>(effects)->spec.key, key);
  cluster.report(key, 1, 0.5);
  effects = cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {HeldAttempt{key, false, 1, Lsn()}}});
  ASSERT_NE(find_order<DecideAttempt>(effects), nullptr);
  EXPECT_EQ(find_order<DecideAttempt>(effects)->decision.length, Units{3});
  const Lsn heard = find_order<DecideAttempt>(effects)->decision.id;
  effects = cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {HeldAttempt{key, false, 1, heard}}});
  EXPECT_EQ(find_order<DecideAttempt>(effects), nullptr);
}

TEST(Workers, RestartedAgentLosesWhatItDoesNotHold) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.report(first, 1, 0.5);
  const Effects effects = cluster.step(JoinWorker{"a", "a", 2, 1, "cpu", {}});
  EXPECT_EQ(all<AttemptLost>(effects.events).size(), 1U);
  EXPECT_EQ(cluster.live(id, 0).attempt, AttemptNumber(2));
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U);
}

TEST(Workers, AnUnnamedAttemptIsLostOnlyWhenItsAgentReports) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.step(ConfirmStart{worker, first});
  const Effects late = cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {}});
  EXPECT_TRUE(late.events.empty()) << "it may be late, and know nothing of the lease";
  EXPECT_EQ(find_order<LaunchAttempt>(late), nullptr) << "it may have been there and be over";
  ASSERT_NE(find_order<WelcomeWorker>(late), nullptr);
  EXPECT_EQ(find_order<WelcomeWorker>(late)->in_doubt, std::vector{first});
  const Effects spoken = cluster.step(DisclaimAttempts{worker, {first}});
  EXPECT_EQ(all<AttemptLost>(spoken.events).size(), 1U);
  EXPECT_EQ(cluster.live(id, 0).attempt, AttemptNumber(2));
  EXPECT_TRUE(all<AttemptLost>(cluster.step(DisclaimAttempts{worker, {first}}).events).empty());
  EXPECT_EQ(cluster.refused(DisclaimAttempts{WorkerId(9), {first}}).code, Errc::not_found);
}

TEST(Workers, AnUnstartedLeaseThatWasEndedIsInDoubtToo) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.step(CancelExperiment{id});
  const Effects back = cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {}});
  EXPECT_TRUE(back.events.empty());
  EXPECT_EQ(find_order<LaunchAttempt>(back), nullptr);
  ASSERT_EQ(find_order<WelcomeWorker>(back)->in_doubt, std::vector{first});
  EXPECT_EQ(all<AttemptLost>(cluster.step(DisclaimAttempts{worker, {first}}).events).size(), 1U);
}

TEST(Workers, AnOlderCopyOfAWorkerIsRefused) {
  TestCluster cluster;
  cluster.join("a", 1, 5);
  EXPECT_EQ(cluster.refused(JoinWorker{"a", "a", 4, 1, "cpu", {}}).code, Errc::wrong_state);
}

TEST(Workers, ReturningAfterBeingLostIsFenced) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.step(LoseWorker{worker, "silent"});
  const Effects effects =
      cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {HeldAttempt{key, false, 4, Lsn()}}});
  EXPECT_EQ(find_order<WelcomeWorker>(effects)->attempts[0].fate, WelcomeWorker::Fate::fenced);
  EXPECT_EQ(cluster.live(id, 0).attempt, AttemptNumber(2));
}

TEST(Workers, SuspectOnesGetNoNewLeases) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  cluster.engine.set_suspect(worker, true);
  const ExperimentId id = cluster.create(random_config(1, 1));
  EXPECT_TRUE(cluster.attempts.empty());
  cluster.engine.set_suspect(worker, false);
  cluster.step(CheckTimers{});
  EXPECT_EQ(cluster.engine.find(id)->running.size(), 1U);
}

TEST(Workers, WithMoreSlotsThanAnyMachineHasAreRefused) {
  TestCluster cluster;
  EXPECT_EQ(cluster.refused(JoinWorker{"a", "a", 1, 10'000'001, "cpu", {}}).code, Errc::bad_request);
  cluster.step(JoinWorker{"a", "a", 1, 1'500'000, "cpu", {}});
  cluster.expect_replayable();
}

}  // namespace
}  // namespace hpsearch::engine
