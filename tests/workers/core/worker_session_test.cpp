#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/workers/core/worker_machine.hpp"
#include "workers/core/fixtures/stage.hpp"

namespace hpsearch::workers::test {
namespace {

TEST(Session, BeginsWithHelloOnANewConnection) {
  Stage stage;
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  const auto hellos = stage.said<proto::Hello>();
  ASSERT_EQ(hellos.size(), 1U);
  EXPECT_EQ(hellos[0].uid, "u");
  EXPECT_EQ(hellos[0].incarnation, 4U);
  EXPECT_EQ(hellos[0].slots, 2U);
  EXPECT_EQ(stage.sends()[0].envelope.cluster, 0U);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
}

TEST(Session, WithoutADaemonRetriesBecomeRarer) {
  Stage stage;
  std::vector<Duration> waits;
  for (int i = 0; i < 12; ++i) {
    stage.clear();
    stage.step(SendRefused{});
    const Instant before = stage.now();
    ASSERT_TRUE(stage.machine().next_wake());
    waits.push_back(*stage.machine().next_wake() - before);
    stage.pass(waits.back());
    EXPECT_EQ(stage.said<proto::Hello>().size(), 1U);
    EXPECT_TRUE(stage.wanted<NewConnection>().empty()) << "the connection tries by itself";
  }
  EXPECT_LE(waits.front(), Duration::millis(100));
  EXPECT_GE(waits.back(), Duration::millis(2500));
  EXPECT_LE(waits.back(), Duration::seconds(5));
}

TEST(Session, NewConnectionIsUsedAtOnce) {
  Stage stage;
  for (int i = 0; i < 12; ++i) {
    stage.step(SendRefused{});
    stage.pass(*stage.machine().next_wake() - stage.now());
  }
  stage.step(SendRefused{});
  stage.clear();
  stage.step(ConnectionMade{});
  EXPECT_EQ(stage.said<proto::Hello>().size(), 1U);
  EXPECT_TRUE(stage.wanted<NewConnection>().empty());
  stage.clear();
  stage.step(ConnectionMade{});
  EXPECT_TRUE(stage.sends().empty()) << "the HELLO is on its way";
}

TEST(Session, EndsWithItsConnection) {
  Stage stage;
  stage.step(ConnectionMade{});
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.clear();
  stage.step(ConnectionMade{true});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello) << "the daemon may be another start";
  const auto hellos = stage.said<proto::Hello>();
  ASSERT_EQ(hellos.size(), 1U);
  EXPECT_EQ(hellos.front().held.size(), 1U);
  stage.welcome({{key_of(1, 10), Fate::go_on, 0}}, 2);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

TEST(Session, LateConnectionEndsNothing) {
  Stage stage;
  stage.welcome();
  stage.clear();
  stage.step(ConnectionMade{});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  EXPECT_TRUE(stage.sends().empty());
}

TEST(CheckpointRoot, IsCheckedInEachSessionAndTheResultIsReported) {
  Stage stage;
  const auto welcome = [&](std::uint64_t session, const std::string& root) {
    proto::Welcome said{WorkerId{7}, 10'000, {}};
    said.checkpoint_root = root;
    stage.envelope().session_epoch = session;
    stage.clear();
    stage.say(said);
  };
  welcome(1, "/shared");
  ASSERT_EQ(stage.wanted<CheckCheckpointRoot>().size(), 1U);
  EXPECT_EQ(stage.wanted<CheckCheckpointRoot>().front().root, "/shared");
  EXPECT_EQ(stage.wanted<CheckCheckpointRoot>().front().store, 77U);
  stage.step(CheckpointRootChecked{"/shared", "/shared is not there"});
  stage.pass(Duration::millis(1));
  ASSERT_EQ(stage.said<proto::Beat>().size(), 1U) << "at once";
  EXPECT_EQ(stage.said<proto::Beat>().front().checkpoint_problem, "/shared is not there");
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready) << "experiments may store elsewhere";

  stage.clear();
  stage.pass(Duration::seconds(40));
  EXPECT_EQ(stage.wanted<CheckCheckpointRoot>().size(), 1U) << "it may be mounted meanwhile";
  stage.step(CheckpointRootChecked{"/old", "late, and about another"});
  stage.step(CheckpointRootChecked{"/shared", ""});
  stage.clear();
  stage.pass(Duration::seconds(120));
  EXPECT_TRUE(stage.wanted<CheckCheckpointRoot>().empty());
  EXPECT_EQ(stage.said<proto::Beat>().front().checkpoint_problem, "");

  welcome(2, "/shared");
  EXPECT_EQ(stage.wanted<CheckCheckpointRoot>().size(), 1U);
  welcome(3, "");
  EXPECT_TRUE(stage.wanted<CheckCheckpointRoot>().empty());
}

TEST(Beat, HasWhatRunningAttemptsUsedLately) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.run(key_of(2, 20), 1);
  const proto::Utilization used{1'769'000'000'000, 10'000, 39'100, 2'147'483'648, {}};
  stage.step(AttemptsMeasured{{{key_of(1, 10), used}, {key_of(9, 90), used}}});
  stage.clear();
  stage.pass(Duration::seconds(15));
  ASSERT_FALSE(stage.said<proto::Beat>().empty());
  const auto progress = stage.said<proto::Beat>().back().progress;
  ASSERT_EQ(progress.size(), 2U);
  EXPECT_EQ(progress[0].utilization, used);
  EXPECT_EQ(progress[1].utilization, std::nullopt) << "it was not measured";

  stage.step(AttemptsMeasured{});
  stage.clear();
  stage.pass(Duration::seconds(15));
  EXPECT_EQ(stage.said<proto::Beat>().back().progress[0].utilization, std::nullopt) << "old figures end";
}

TEST(Session, UnansweredHelloIsRepeatedOnANewConnection) {
  Stage stage;
  stage.clear();
  stage.pass(Duration::seconds(7));
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Hello>().size(), 1U);
}

TEST(Session, RetryAfterIsFollowed) {
  Stage stage;
  stage.clear();
  stage.say(proto::RetryAfter{20'000}, proto::Envelope{.cluster = 77, .daemon_epoch = 5});
  ASSERT_TRUE(stage.machine().next_wake());
  EXPECT_LE(*stage.machine().next_wake() - stage.now(), Duration::seconds(20));
  stage.pass(Duration::seconds(20));
  EXPECT_GE(stage.said<proto::Hello>().size(), 1U);
  stage.welcome();
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  stage.clear();
  stage.say(proto::RetryAfter{20'000}, proto::Envelope{.cluster = 77, .daemon_epoch = 5});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready) << "a late answer to an older HELLO";
}

TEST(Session, WelcomeMakesItReadyAndItBeats) {
  Stage stage;
  stage.welcome();
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  stage.clear();
  stage.pass(Duration::seconds(50));
  const auto beats = stage.said<proto::Beat>();
  EXPECT_GE(beats.size(), 4U);
  EXPECT_LE(beats.size(), 6U);
  EXPECT_EQ(stage.sends()[0].envelope.session_epoch, 1U);
  EXPECT_EQ(stage.sends()[0].envelope.cluster, 77U);
  EXPECT_EQ(stage.sends()[0].envelope.daemon_epoch, 5U);
  EXPECT_GT(stage.sends()[1].envelope.msg_no, stage.sends()[0].envelope.msg_no);
}

TEST(Session, ResyncStartsANewOne) {
  Stage stage;
  stage.welcome();
  stage.pass(Duration::seconds(9));
  stage.clear();
  proto::Envelope restarted = stage.envelope();
  restarted.daemon_epoch = 6;
  restarted.session_epoch = 0;
  stage.say(proto::Resync{}, restarted);
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  stage.pass(Duration::millis(100));
  EXPECT_EQ(stage.said<proto::Hello>().size(), 1U);
}

TEST(Session, FailingConnectionIsReplaced) {
  Stage stage;
  stage.welcome();
  stage.clear();
  stage.step(SendRefused{});
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
}

TEST(Session, StaleDaemonIsIgnored) {
  Stage stage;
  stage.welcome();
  stage.clear();
  proto::Envelope old = stage.envelope();
  old.daemon_epoch = 4;
  stage.say(lease_of(key_of(1, 10), 0), old);
  stage.say(proto::Resync{}, old);
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  EXPECT_TRUE(stage.wanted<NewConnection>().empty());
}

TEST(Session, WelcomeOfAnEndedSessionIsIgnored) {
  Stage stage;
  stage.welcome({}, 3);
  stage.step(SendRefused{});
  stage.welcome({}, 3);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello)
      << "it comes once more, and answers no HELLO of now";
  stage.welcome({}, 4);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

// Found by hpsearch-sim: a repeated HELLO made a session without the leases since
// then.
TEST(Session, RepeatedWelcomeOfAnEarlierHelloEndsItAndIsIgnored) {
  Stage stage;
  const std::uint64_t first = stage.sends()[0].envelope.msg_no;
  stage.welcome({}, 3);
  stage.run(key_of(1, 10), 0);
  stage.clear();
  stage.envelope().session_epoch = 4;
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {{key_of(1, 10), Fate::fenced, 0}}, "", first});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  stage.pass(Duration::seconds(10));
  ASSERT_GE(stage.said<proto::Hello>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Hello>().back().held.size(), 1U);
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {}, "", first});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {{key_of(1, 10), Fate::go_on, 0}}, "", first + 1});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

TEST(Session, WelcomeOfAnEarlierAgentsHelloIsIgnored) {
  Stage stage;
  const std::uint64_t first = stage.sends()[0].envelope.msg_no;
  stage.envelope().session_epoch = 4;
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {}, "", first - 1});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {}, "", first});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

TEST(Session, FramesOfAnOlderSessionAreIgnored) {
  Stage stage;
  stage.welcome({}, 3);
  proto::Envelope old = stage.envelope();
  old.session_epoch = 2;
  stage.say(lease_of(key_of(1, 10), 0), old);
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
}

TEST(Session, FramesBeforeTheWelcomeAreIgnored) {
  Stage stage;
  stage.say(lease_of(key_of(1, 10), 0));
  stage.say(proto::Resync{});
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
}

TEST(Session, AnotherStoreIsIgnoredWhileAttemptsAreHeld) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(SendRefused{});
  stage.clear();
  proto::Envelope foreign{.cluster = 88, .daemon_epoch = 1, .session_epoch = 9, .msg_no = 1};
  stage.say(proto::Welcome{WorkerId{1}, 1000, {{key_of(1, 10), Fate::fenced, 0}}}, foreign);
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  ASSERT_EQ(stage.wanted<Notice>().size(), 1U);
  EXPECT_EQ(stage.wanted<Notice>()[0].level, Notice::Level::error);
}

TEST(Session, AnotherStoreIsAcceptedByAnIdleWorker) {
  Stage stage;
  stage.welcome();
  stage.step(SendRefused{});
  proto::Envelope foreign{.cluster = 88, .daemon_epoch = 1, .session_epoch = 9, .msg_no = 1};
  stage.say(proto::Welcome{WorkerId{1}, 1000, {}}, foreign);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

TEST(Session, RefusalEndsAnIdleWorker) {
  Stage stage;
  stage.say(proto::Refused{"version 1 is too old"});
  const auto ends = stage.wanted<EndAgent>();
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_TRUE(ends[0].failed);
  EXPECT_EQ(ends[0].why, "version 1 is too old");
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::over);
}

TEST(Session, RefusalLetsProgramsFinish) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(proto::Refused{"upgraded"});
  EXPECT_TRUE(stage.wanted<EndAgent>().empty());
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  stage.step(ProgramEnded{key_of(1, 10), false, 1, ""});
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Session, RunningFencedProgramIsNotReported) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.run(key_of(2, 11), 1);
  stage.say(proto::Fenced{key_of(1, 10)});
  ASSERT_FALSE(stage.wanted<SignalProgram>().empty());
  stage.clear();
  stage.step(SendRefused{});
  stage.pass(Duration::seconds(1));
  const auto hellos = stage.said<proto::Hello>();
  ASSERT_FALSE(hellos.empty());
  ASSERT_EQ(hellos.back().held.size(), 1U) << "or the daemon may give the trial back to what is being killed";
  EXPECT_EQ(hellos.back().held[0].key, key_of(2, 11));
}

TEST(Session, RefusalOfAnotherStartIsIgnored) {
  Stage stage;
  stage.clear();
  const proto::Refused refused{"an old copy", 5};  // This start is the fourth.
  stage.say(refused, proto::Envelope{.cluster = 77, .daemon_epoch = 5});
  stage.welcome();
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

}  // namespace
}  // namespace hpsearch::workers::test
