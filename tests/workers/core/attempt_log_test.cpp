// The kept part of an attempt's output: when it is delivered, and when the delivery is given up.

#include <gtest/gtest.h>

#include "workers/core/fixtures/stage.hpp"

namespace hpsearch::workers::test {
namespace {

const AttemptKey key = key_of(2, 40);

proto::Lease kept_lease(const AttemptKey& of, std::uint64_t slot) {
  proto::Lease lease = lease_of(of, slot);
  lease.spec.hand_over_log = true;
  return lease;
}

/// Ends its program; the exit is on disk and reported.
void end(Stage& stage, const AttemptKey& of = key, std::uint64_t slot = 0) {
  stage.say(kept_lease(of, slot));
  stage.step(ProgramStarted{of});
  stage.step(ProgramEnded{of, false, 3, ""});
}

TEST(Log, IsDeliveredWithTheExitAndHoldsNoSlot) {
  Stage stage;
  stage.welcome();
  end(stage);
  ASSERT_EQ(stage.wanted<HandOverLog>().size(), 1U);
  EXPECT_EQ(stage.wanted<HandOverLog>().front().key, key);
  EXPECT_EQ(stage.wanted<HandOverLog>().front().within, Duration::seconds(29));
  EXPECT_FALSE(stage.said<proto::Reports>().empty()) << "the exit does not wait for it";
  stage.clear();
  stage.say(kept_lease(key_of(3, 41), 0));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U) << "nor does whoever gets the slot next";
}

TEST(Log, KeepsTheAttemptUntilItIsDelivered) {
  Stage stage;
  stage.welcome();
  end(stage);
  stage.say(proto::Ack{key, 1});
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().empty());
  stage.step(LogHandedOver{key, 1, ""});
  ASSERT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().front().keep_logs);
  EXPECT_TRUE(stage.said<proto::LogNotKept>().empty());
}

TEST(Log, DeliveredFirstWaitsForTheAcknowledgement) {
  Stage stage;
  stage.welcome();
  end(stage);
  stage.step(LogHandedOver{key, 1, ""});
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().empty());
  stage.say(proto::Ack{key, 1});
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
}

TEST(Log, IsNotDeliveredIfTheExperimentKeepsItOnTheWorker) {
  Stage stage;
  stage.welcome();
  stage.run(key, 0);
  stage.step(ProgramEnded{key, false, 3, ""});
  stage.say(proto::Ack{key, 1});
  EXPECT_TRUE(stage.wanted<HandOverLog>().empty());
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
}

TEST(Log, ProgramThatNeverRanHasNone) {
  Stage stage;
  stage.welcome();
  stage.say(kept_lease(key, 0));
  stage.step(ProgramNotStarted{key, "there is no such program"});
  EXPECT_TRUE(stage.wanted<HandOverLog>().empty());
}

TEST(Log, IsGivenUpAfterThirtySeconds) {
  Stage stage;
  stage.welcome();
  end(stage);
  stage.say(proto::Ack{key, 1});
  stage.pass(Duration::millis(29'999));
  EXPECT_TRUE(stage.said<proto::LogNotKept>().empty());
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().empty());
  stage.pass(Duration::millis(1));
  ASSERT_EQ(stage.said<proto::LogNotKept>().size(), 1U);
  EXPECT_EQ(stage.said<proto::LogNotKept>().front().key, key);
  EXPECT_EQ(stage.said<proto::LogNotKept>().front().why, "the daemon did not take it within 30 s");
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  stage.clear();
  stage.step(LogHandedOver{key, 1, ""});
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().empty()) << "too late";
}

TEST(Log, RefusedLogIsGivenUpWithTheReason) {
  Stage stage;
  stage.welcome();
  end(stage);
  stage.say(proto::Ack{key, 1});
  stage.step(LogHandedOver{key, 1, "the daemon answered with status 403"});
  ASSERT_EQ(stage.said<proto::LogNotKept>().size(), 1U);
  EXPECT_EQ(stage.said<proto::LogNotKept>().front().why, "the daemon answered with status 403");
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
}

TEST(Log, IsDeliveredWhenTheDaemonReturns) {
  Stage stage;
  stage.welcome();
  stage.say(kept_lease(key, 0));
  stage.step(ProgramStarted{key});
  stage.step(SendRefused{});
  stage.step(ProgramEnded{key, false, 3, ""});
  stage.pass(Duration::seconds(3600));
  EXPECT_TRUE(stage.wanted<HandOverLog>().empty()) << "there is no session whose key would open the door";
  stage.welcome({{key, Fate::go_on, 0}}, 2);
  EXPECT_EQ(stage.wanted<HandOverLog>().size(), 1U);
}

TEST(Log, IsSentAgainInTheNextSession) {
  Stage stage;
  stage.welcome();
  end(stage);
  stage.say(proto::Ack{key, 1});
  stage.step(SendRefused{});
  stage.pass(Duration::seconds(60));
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().empty()) << "without a session the time does not run";
  stage.step(LogHandedOver{key, 1, "the daemon answered with status 401"});
  EXPECT_TRUE(stage.said<proto::LogNotKept>().empty()) << "its key went with the session";
  const auto hellos = stage.said<proto::Hello>();
  EXPECT_TRUE(hellos.back().held.empty()) << "the daemon has heard all of it";
  stage.clear();
  stage.welcome({}, 2);
  ASSERT_EQ(stage.wanted<HandOverLog>().size(), 1U);
  stage.step(LogHandedOver{key, stage.wanted<HandOverLog>().front().delivery, ""});
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
}

TEST(Log, IsDeliveredByTheNextAgent) {
  SpooledAttempt left;
  left.spec = kept_lease(key, 0).spec;
  left.state.exited = true;
  left.state.acked = 1;
  Stage stage({left}, {77, 5});
  EXPECT_TRUE(stage.said<proto::Hello>().front().held.empty());
  stage.welcome();
  ASSERT_EQ(stage.wanted<HandOverLog>().size(), 1U);
  stage.step(LogHandedOver{key, 1, ""});
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
}

TEST(Log, IsDeliveredEvenIfFencedAfterTheExit) {
  Stage stage;
  stage.welcome();
  end(stage);
  stage.say(proto::Fenced{key});
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().empty());
  stage.step(LogHandedOver{key, 1, ""});
  ASSERT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().front().keep_logs);
}

TEST(Log, UndeliveredLogDoesNotBindTheWorkerToItsStore) {
  Stage stage;
  stage.welcome();
  end(stage);
  stage.say(proto::Ack{key, 1});
  stage.step(SendRefused{});
  stage.clear();
  stage.envelope() = {.cluster = 78, .daemon_epoch = 1, .session_epoch = 1, .msg_no = 1};
  stage.welcome();
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  stage.say(kept_lease(key, 0));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U) << "by that key the other store means another attempt";
}

TEST(Logs, AreDeliveredAFewAtATime) {
  Stage stage;
  stage.welcome();
  for (std::uint64_t trial = 0; trial < 7; ++trial) {
    end(stage, key_of(trial, 40 + trial));
    stage.say(proto::Ack{key_of(trial, 40 + trial), 1});
  }
  EXPECT_EQ(stage.wanted<HandOverLog>().size(), 4U);
  stage.step(LogHandedOver{key_of(1, 41), 1, ""});
  ASSERT_EQ(stage.wanted<HandOverLog>().size(), 5U);
  EXPECT_EQ(stage.wanted<HandOverLog>().back().key, key_of(4, 44));
  stage.pass(Duration::seconds(61));
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 7U) << "each has its own thirty seconds";
}

TEST(Logs, AreGivenUpIfTheDaemonIsTooSlow) {
  Stage stage;
  stage.welcome();
  for (std::uint64_t trial = 0; trial < 1010; ++trial) {
    end(stage, key_of(trial, 40 + trial));
    stage.say(proto::Ack{key_of(trial, 40 + trial), 1});
  }
  const auto given_up = stage.said<proto::LogNotKept>();
  ASSERT_EQ(given_up.size(), 6U) << "four are under way, a thousand wait";
  EXPECT_EQ(given_up.front().key, key_of(4, 44));
  EXPECT_EQ(given_up.front().why, "more than 1000 logs wait to be taken");
}

TEST(Logs, AreAwaitedBrieflyWhenTheWorkerEnds) {
  Stage stage;
  stage.welcome();
  end(stage);
  stage.say(proto::Ack{key, 1});
  stage.step(StopAsked{});
  stage.pass(Duration::seconds(20));
  EXPECT_TRUE(stage.said<proto::Goodbye>().empty()) << "the farewell of 5 s is for acknowledgements";
  stage.step(LogHandedOver{key, 1, ""});
  EXPECT_EQ(stage.said<proto::Goodbye>().size(), 1U);
}

TEST(Logs, AreNotAwaitedWhenTheWorkerEndsAtOnceOrWithoutADaemon) {
  Stage hurried;
  hurried.welcome();
  end(hurried);
  hurried.say(proto::Ack{key, 1});
  hurried.step(StopAsked{});
  hurried.step(StopAsked{});
  EXPECT_EQ(hurried.said<proto::LogNotKept>().size(), 1U);
  EXPECT_EQ(hurried.said<proto::Goodbye>().size(), 1U);

  Stage alone;
  alone.welcome();
  end(alone);
  alone.step(SendRefused{});
  alone.step(StopAsked{});
  alone.pass(Duration::seconds(6));
  EXPECT_EQ(alone.machine().state(), WorkerMachine::State::over);
}

}  // namespace
}  // namespace hpsearch::workers::test
