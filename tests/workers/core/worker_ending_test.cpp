#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/workers/core/worker_machine.hpp"
#include "messages.hpp"
#include "workers/core/fixtures/stage.hpp"

namespace hpsearch::workers::test {
namespace {

TEST(Drain, IdleWorkerSendsGoodbyeAndEnds) {
  Stage stage;
  stage.welcome();
  stage.step(StopAsked{});
  EXPECT_EQ(stage.said<proto::Goodbye>().size(), 1U);
  ASSERT_EQ(stage.wanted<EndAgent>().size(), 1U);
  EXPECT_FALSE(stage.wanted<EndAgent>()[0].failed);
  EXPECT_EQ(stage.machine().next_wake(), std::nullopt);
}

TEST(Drain, ProgramsEndThenTheirExitsAreSentThenGoodbye) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::draining);
  ASSERT_EQ(stage.wanted<SignalProgram>().size(), 1U);
  EXPECT_FALSE(stage.wanted<SignalProgram>()[0].kill);
  stage.say(lease_of(key_of(2, 11), 1));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U) << "nothing new";
  stage.step(ProgramEnded{key_of(1, 10), true, 15, ""});
  const auto reports = stage.said<proto::Reports>();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(std::get<engine::ExitReport>(reports[0].reports[0]).cause,
            engine::ExitReport::Cause::ended_by_agent);
  EXPECT_TRUE(stage.said<proto::Goodbye>().empty());
  stage.say(proto::Ack{key_of(1, 10), 1});
  EXPECT_EQ(stage.said<proto::Goodbye>().size(), 1U);
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Drain, IgnoredSigtermCostsTheGrace) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  stage.pass(Duration::seconds(30));
  const auto signals = stage.wanted<SignalProgram>();
  ASSERT_EQ(signals.size(), 2U);
  EXPECT_TRUE(signals[1].kill);
}

TEST(Drain, SecondStopKillsAtOnce) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  stage.step(StopAsked{});
  const auto signals = stage.wanted<SignalProgram>();
  ASSERT_EQ(signals.size(), 2U);
  EXPECT_TRUE(signals[1].kill);
}

TEST(Drain, UnwrittenExitIsAwaitedLonger) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  stage.bad_disk("cannot write /state/spool: Input/output error");
  stage.step(ProgramEnded{key_of(1, 10), true, 15, ""});
  stage.pass(Duration::seconds(20));
  EXPECT_TRUE(stage.wanted<EndAgent>().empty()) << "its trial would count as lost with its worker";
  stage.bad_disk("");
  stage.pass(Duration::seconds(20));
  EXPECT_FALSE(stage.said<proto::Reports>().empty());
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Drain, UnwrittenExitIsNotAwaitedForever) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  stage.bad_disk("cannot write /state/spool: Input/output error");
  stage.step(ProgramEnded{key_of(1, 10), true, 15, ""});
  stage.pass(Duration::seconds(31));  // Only the grace is awaited.
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Drain, EndThatItsShimCannotWriteIsNotAwaitedForever) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.bad_disk("Read-only file system");
  stage.step(JournalNotWritten{"cannot write /state/journal: Read-only file system"});
  stage.step(StopAsked{});
  stage.step(StopAsked{});
  stage.pass(Duration::seconds(29));
  EXPECT_TRUE(stage.wanted<EndAgent>().empty());
  stage.step(JournalNotWritten{"cannot write /state/journal: Read-only file system"});
  stage.pass(Duration::seconds(2));
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
  EXPECT_TRUE(stage.said<proto::Goodbye>().empty()) << "what they hold may still be in use";
}

// A scheduler sends only one signal.
TEST(Drain, OneSignalEndsAWorkerWithAFailingDisk) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.bad_disk("No space left on device");
  stage.step(JournalNotWritten{"cannot write /state/journal: No space left on device"});
  stage.step(StopAsked{});
  stage.pass(Duration::seconds(36));  // The program's 30 s, and then 5 s in which space may become free.
  ASSERT_EQ(stage.wanted<EndAgent>().size(), 1U);
  EXPECT_MESSAGE(stage.wanted<EndAgent>()[0].why);
}

// Found by hpsearch-sim: the agent woke up at once, again and again, and time did not advance.
TEST(Drain, LateEndHasItsOwnTimeToBeWritten) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.bad_disk("No space left on device");
  stage.step(JournalNotWritten{"cannot write /state/journal: No space left on device"});
  stage.step(StopAsked{});
  stage.step(StopAsked{});
  stage.pass(Duration::seconds(28));
  stage.step(ProgramEnded{key_of(1, 10), true, 9, ""});
  stage.pass(Duration::seconds(4));
  EXPECT_TRUE(stage.wanted<EndAgent>().empty());
  stage.pass(Duration::seconds(2));
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Drain, StartingProgramIsKilledToo) {
  Stage stage;
  stage.welcome();
  stage.say(lease_of(key_of(1, 10), 0));
  ASSERT_EQ(stage.wanted<StartProgram>().size(), 1U);
  stage.step(StopAsked{});
  stage.step(StopAsked{});
  const auto signals = stage.wanted<SignalProgram>();
  ASSERT_EQ(signals.size(), 1U);
  EXPECT_TRUE(signals.front().kill);
}

TEST(Drain, AbsentDaemonIsAwaitedBriefly) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(SendRefused{});
  stage.step(StopAsked{});
  stage.step(ProgramEnded{key_of(1, 10), true, 15, ""});
  stage.pass(Duration::seconds(4));
  EXPECT_TRUE(stage.wanted<EndAgent>().empty());
  stage.pass(Duration::seconds(2));
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Drain, IsReportedBeforeTheExitsOfItsPrograms) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.clear();
  stage.step(StopAsked{});
  auto beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U);
  EXPECT_TRUE(beats[0].draining);
  stage.step(SendRefused{});
  stage.pass(Duration::seconds(1));
  stage.clear();
  stage.welcome({{key_of(1, 10), Fate::go_on, 0}}, 2);
  stage.pass(Duration::millis(1));
  beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U) << "a new session must not be leased anything either";
  EXPECT_TRUE(beats[0].draining);
}

class InAllocation : public testing::Test {
 protected:
  static WorkerRules rules() {
    WorkerRules rules = Stage::rules();
    rules.ends_when_idle_for = Duration::seconds(60);
    rules.ends_when_alone_for = Duration::seconds(600);
    return rules;
  }
};

TEST_F(InAllocation, AWorkerWithoutATrialEndsAsIdle) {
  Stage stage(rules());
  stage.welcome();
  stage.pass(Duration::seconds(59));
  EXPECT_TRUE(stage.said<proto::Goodbye>().empty());
  stage.pass(Duration::seconds(2));
  ASSERT_EQ(stage.said<proto::Goodbye>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Goodbye>()[0].why, "idle");
  ASSERT_EQ(stage.wanted<EndAgent>().size(), 1U);
  EXPECT_FALSE(stage.wanted<EndAgent>()[0].failed);
}

TEST_F(InAllocation, ATrialKeepsTheWorker) {
  Stage stage(rules());
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.pass(Duration::seconds(3'600));
  EXPECT_TRUE(stage.wanted<EndAgent>().empty());
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
}

TEST_F(InAllocation, AWorkerThatSendsFilesIsNotIdle) {
  Stage stage(rules());
  stage.welcome();
  stage.step(SendingFiles{true});
  stage.pass(Duration::seconds(3'600));
  EXPECT_TRUE(stage.wanted<EndAgent>().empty());
  stage.step(SendingFiles{false});
  stage.pass(Duration::seconds(61));
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST_F(InAllocation, AWorkerThatIsAskedToStopSendsItsFilesFirst) {
  Stage stage({}, {}, rules(), "gpu/17");
  stage.welcome();
  stage.step(SendingFiles{true});
  stage.step(StopAsked{});
  EXPECT_TRUE(stage.said<proto::Goodbye>().empty()) << "with the session its key would go";
  stage.step(SendingFiles{false});
  EXPECT_EQ(stage.said<proto::Goodbye>().size(), 1U);
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST_F(InAllocation, AStoppedWorkerDoesNotWaitForFilesForEver) {
  Stage stage({}, {}, rules(), "gpu/17");
  stage.welcome();
  stage.step(SendingFiles{true});
  stage.step(StopAsked{});
  stage.pass(Duration::seconds(61));
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Drain, FilesOfAFixedWorkerAreSentByTheNextOne) {
  Stage stage;
  stage.welcome();
  stage.step(SendingFiles{true});
  stage.step(StopAsked{});
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST_F(InAllocation, AWorkerWithoutADaemonEndsItsPrograms) {
  Stage stage(rules());
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(SendRefused{});
  stage.clear();
  stage.pass(Duration::seconds(599));
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  stage.pass(Duration::seconds(2));
  ASSERT_EQ(stage.wanted<SignalProgram>().size(), 1U);
  EXPECT_FALSE(stage.wanted<SignalProgram>()[0].kill);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::draining);
}

class Orphans : public testing::Test {
 protected:
  static WorkerRules rules(Duration end_after) {
    WorkerRules rules = Stage::rules();
    rules.orphans_end_after = end_after;
    return rules;
  }
};

TEST_F(Orphans, ContinueByDefault) {
  Stage stage(rules(Duration()));
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(SendRefused{});
  stage.clear();
  stage.pass(Duration::seconds(30L * 86'400));
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
}

TEST_F(Orphans, AreEndedOnceIfNoDaemonReturnsInTime) {
  Stage stage(rules(Duration::seconds(600)));
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.pass(Duration::seconds(3'600));
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty()) << "time in a session does not count";
  stage.step(SendRefused{});
  stage.clear();
  stage.pass(Duration::seconds(599));
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  stage.pass(Duration::seconds(2));
  const auto signals = stage.wanted<SignalProgram>();
  ASSERT_EQ(signals.size(), 1U);
  EXPECT_FALSE(signals[0].kill) << "gently first";
}

TEST_F(Orphans, ReturningDaemonRestartsTheTime) {
  Stage stage(rules(Duration::seconds(600)));
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  for (std::uint64_t session = 2; session < 5; ++session) {
    stage.step(SendRefused{});
    stage.pass(Duration::seconds(500));
    stage.welcome({{key_of(1, 10), Fate::go_on, 0}}, session);
  }
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
}

}  // namespace
}  // namespace hpsearch::workers::test
