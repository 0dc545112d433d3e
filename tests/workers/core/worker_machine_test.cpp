#include "hpsearch/workers/core/worker_machine.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/experiment/numbering.hpp"
#include "messages.hpp"
#include "workers/core/fixtures/program_line.hpp"
#include "workers/core/fixtures/stage.hpp"

namespace hpsearch::workers::test {
namespace {

TEST(Attempts, LeaseStartsAProgramOnce) {
  Stage stage;
  stage.welcome();
  stage.say(lease_of(key_of(1, 10), 0));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U);
  EXPECT_TRUE(stage.said<proto::Started>().empty());
  stage.step(ProgramStarted{key_of(1, 10)});
  EXPECT_EQ(stage.said<proto::Started>().size(), 1U);
  stage.say(lease_of(key_of(1, 10), 0));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Started>().size(), 2U);
}

TEST(Attempts, FinishedLeaseIsNotRunAgain) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(ProgramEnded{key_of(1, 10), false, 1, ""});
  stage.say(proto::Ack{key_of(1, 10), 1});
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  stage.say(lease_of(key_of(1, 10), 0));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U);
}

TEST(Attempts, SlotIsUsedAfterItsOldProgramHasExited) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(proto::Fenced{key_of(1, 10)});
  stage.say(lease_of(key_of(2, 11), 0));
  stage.say(lease_of(key_of(3, 12), 1));
  ASSERT_EQ(stage.wanted<StartProgram>().size(), 2U);
  EXPECT_EQ(stage.wanted<StartProgram>()[1].spec.key, key_of(3, 12)) << "the other slot is free";
  stage.step(ProgramEnded{key_of(1, 10), true, 9, ""});
  ASSERT_EQ(stage.wanted<StartProgram>().size(), 3U);
  EXPECT_EQ(stage.wanted<StartProgram>()[2].spec.key, key_of(2, 11));
}

TEST(Attempts, UnknownSlotIsRefused) {
  Stage stage;
  stage.welcome();
  stage.say(lease_of(key_of(1, 10), 2));
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  const auto reports = stage.said<proto::Reports>();
  ASSERT_EQ(reports.size(), 1U);
  const auto& exit = std::get<engine::ExitReport>(reports[0].reports.at(0));
  EXPECT_EQ(exit.cause, engine::ExitReport::Cause::could_not_start);
  EXPECT_MESSAGE(exit.message);
}

TEST(Attempts, ContinueDuringAnOutageAndReportEverythingAfterwards) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(program_line(key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"));
  stage.say(proto::Ack{key_of(1, 10), 1});
  stage.step(SendRefused{});
  stage.clear();
  stage.step(program_line(key_of(1, 10), std::nullopt, R"({"step":2,"acc":0.2})"));
  stage.step(ProgramEnded{key_of(1, 10), false, 1, ""});
  EXPECT_TRUE(stage.said<proto::Reports>().empty());
  stage.pass(Duration::seconds(1));
  const auto hellos = stage.said<proto::Hello>();
  ASSERT_FALSE(hellos.empty());
  ASSERT_EQ(hellos.back().held.size(), 1U);
  EXPECT_EQ(hellos.back().held[0].key, key_of(1, 10));
  EXPECT_EQ(hellos.back().held[0].last_seq, 3U);
  EXPECT_TRUE(hellos.back().held[0].exited);
  stage.welcome({{key_of(1, 10), Fate::go_on, 1}}, 2);
  const auto reports = stage.said<proto::Reports>();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].first_seq, 2U);
  EXPECT_EQ(reports[0].reports.size(), 2U);
}

TEST(Attempts, FatesOfTheWelcomeAreCarriedOut) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.run(key_of(2, 11), 1);
  stage.say(proto::Resync{});
  stage.clear();
  stage.welcome({{key_of(1, 10), Fate::fenced, 0}, {key_of(2, 11), Fate::hold, 0}}, 2);
  ASSERT_EQ(stage.wanted<SignalProgram>().size(), 1U);
  EXPECT_EQ(stage.wanted<SignalProgram>()[0].key, key_of(1, 10));
  stage.step(program_line(key_of(2, 11), std::nullopt, R"({"step":1,"acc":0.1})"));
  EXPECT_TRUE(stage.said<proto::Reports>().empty());
}

TEST(Attempts, AdoptedOneReportsUnderItsNewLease) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(proto::Resync{});
  stage.clear();
  stage.welcome({{key_of(1, 10), Fate::go_on, 0, LeaseId{50}}}, 2);
  stage.step(program_line(key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"));
  ASSERT_EQ(stage.said<proto::Reports>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Reports>()[0].key, key_of(1, 50));
  stage.say(proto::Ack{key_of(1, 50), 1});
  stage.say(proto::Decide{key_of(1, 50), Decision{Lsn{60}, Directive::stop, Units{3}}});
  ASSERT_EQ(stage.said<proto::DecisionAck>().size(), 1U);
  EXPECT_EQ(stage.said<proto::DecisionAck>()[0].key, key_of(1, 50));
  ASSERT_EQ(stage.wanted<SignalProgram>().size(), 1U);
  EXPECT_EQ(stage.wanted<SignalProgram>()[0].key, key_of(1, 10)) << "its program is the one that was started";
  stage.clear();
  stage.say(proto::Resync{});
  stage.pass(Duration::seconds(1));
  ASSERT_FALSE(stage.said<proto::Hello>().empty());
  const auto held = stage.said<proto::Hello>()[0].held;
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].key, key_of(1, 10));
  EXPECT_EQ(held[0].first_seq, 2U);
}

TEST(Attempts, ContinueIfTheWelcomeDoesNotNameThem) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(proto::Resync{});
  stage.clear();
  stage.welcome({}, 2);
  stage.step(program_line(key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"));
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  EXPECT_TRUE(stage.said<proto::Reports>().empty());
}

TEST(Attempts, LostFrameIsSentAgain) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(program_line(key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"));
  stage.clear();
  stage.pass(Duration::millis(1'250));
  EXPECT_EQ(stage.said<proto::Reports>().size(), 1U);
}

TEST(Attempts, DaemonThatNeverAcknowledgesGetsANewSession) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(program_line(key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"));
  stage.clear();
  stage.pass(Duration::seconds(40));
  EXPECT_GE(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_GE(stage.said<proto::Hello>().size(), 1U);
}

TEST(Attempts, SessionContinuesIfTheDaemonHasNoSpace) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(program_line(key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"));
  proto::Envelope older = stage.envelope();
  older.session_epoch = 0;
  for (int times = 0; times < 60; ++times) {
    stage.clear();
    stage.pass(Duration::seconds(6));
    EXPECT_GE(stage.said<proto::Reports>().size(), 1U) << "it is sent again as often as that";
    stage.say(proto::RetryAfter{4'000});
  }
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  stage.clear();
  for (int times = 0; times < 60; ++times) {
    stage.pass(Duration::seconds(6));
    stage.say(proto::RetryAfter{4'000}, older);
  }
  EXPECT_FALSE(stage.wanted<NewConnection>().empty()) << "that answers a HELLO, not reports";
}

TEST(Attempts, DecisionForAnUnknownAttemptIsAcknowledged) {
  Stage stage;
  stage.welcome();
  stage.say(proto::Decide{key_of(9, 9), Decision{Lsn{5}, Directive::stop, Units{}}});
  EXPECT_EQ(stage.said<proto::DecisionAck>().size(), 1U);
}

TEST(Attempts, LogsAreReadByTheShellAndAnswered) {
  Stage stage;
  stage.welcome();
  proto::ReadLog request;
  request.request = 12;
  stage.say(request);
  ASSERT_EQ(stage.wanted<ReadLogPart>().size(), 1U);
  proto::LogPart part;
  part.request = 12;
  part.text = "hello";
  stage.step(LogWasRead{part});
  ASSERT_EQ(stage.said<proto::LogPart>().size(), 1U);
  EXPECT_EQ(stage.said<proto::LogPart>()[0].text, "hello");
}

TEST(Beats, ReportStepAndSilenceOfEachProgram) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(
      program_line(key_of(1, 10), QuestionId{1}, R"({"type":"report","step":2,"metrics":{"loss":1}})"));
  stage.clear();
  stage.pass(Duration::seconds(13));
  const auto beats = stage.said<proto::Beat>();
  ASSERT_FALSE(beats.empty());
  ASSERT_EQ(beats[0].progress.size(), 1U);
  EXPECT_EQ(beats[0].progress[0].key, key_of(1, 10));
  EXPECT_EQ(beats[0].progress[0].step, Units{2});
  EXPECT_GE(beats[0].progress[0].silent_ms, 8'000U);
  EXPECT_LE(beats[0].progress[0].silent_ms, 13'000U);
  EXPECT_TRUE(beats[0].leaked_processes.empty());
}

TEST(Beats, ReportLeakedProcessesAndTheirEndAtOnce) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 1);
  stage.clear();
  stage.step(ProgramStuck{key_of(1, 10), "process 7 survives SIGKILL"});
  stage.pass(Duration::millis(1));
  auto beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U);
  ASSERT_EQ(beats[0].leaked_processes.size(), 1U);
  EXPECT_EQ(beats[0].leaked_processes[0].key, key_of(1, 10));
  EXPECT_EQ(beats[0].leaked_processes[0].slots, std::vector{SlotIndex{1}});
  const auto reports = stage.said<proto::Reports>();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_TRUE(std::get<engine::ExitReport>(reports[0].reports.back()).unkillable);
  stage.say(proto::Ack{key_of(1, 10), 1});
  stage.clear();
  stage.step(ProgramEnded{key_of(1, 10), true, 9, ""});
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  stage.pass(Duration::millis(1));
  beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U);
  EXPECT_TRUE(beats[0].leaked_processes.empty());
}

TEST(Beats, ReportLeakedProcessesThatAreOnDisk) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 1);
  stage.say(proto::Fenced{key_of(1, 10)});
  stage.slow_disk();
  stage.clear();
  stage.step(ProgramStuck{key_of(1, 10), "process 7 survives SIGKILL"});
  const auto writes = stage.wanted<WriteSpool>();
  ASSERT_EQ(writes.size(), 1U) << "fenced or not, who starts next must know of it";
  stage.pass(Duration::seconds(13));
  auto beats = stage.said<proto::Beat>();
  ASSERT_FALSE(beats.empty());
  EXPECT_TRUE(beats[0].leaked_processes.empty());
  stage.clear();
  stage.step(SpoolWritten{writes[0].key, writes[0].write});
  stage.pass(Duration::millis(1));
  beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U);
  EXPECT_EQ(beats[0].leaked_processes.size(), 1U);
}

TEST(Inventory, HasTheStartOfEachProgram) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(lease_of(key_of(2, 20), 0));  // Its slot isn't free here yet.
  stage.say(lease_of(key_of(3, 30), 1));  // Requested, and may have started.
  stage.clear();
  stage.say(proto::Resync{});
  stage.pass(Duration::millis(100));
  const auto hellos = stage.said<proto::Hello>();
  ASSERT_EQ(hellos.size(), 1U);
  ASSERT_EQ(hellos[0].held.size(), 3U);
  EXPECT_FALSE(hellos[0].held[0].waits);
  EXPECT_TRUE(hellos[0].held[1].waits);
  EXPECT_FALSE(hellos[0].held[2].waits);
}

TEST(Inventory, ProgramThatStartsLaterIsReportedInTheSession) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(lease_of(key_of(2, 20), 0));
  stage.say(proto::Fenced{key_of(1, 10)});
  stage.say(proto::Resync{});
  stage.pass(Duration::millis(100));  // It waits with its HELLO.
  stage.step(ProgramEnded{key_of(1, 10), true, 9, ""});
  stage.step(ProgramStarted{key_of(2, 20)});
  stage.clear();
  stage.welcome({{key_of(2, 20), Fate::go_on, 0}}, 2);
  const auto started = stage.said<proto::Started>();
  ASSERT_EQ(started.size(), 1U) << "or an older attempt of its trial could take its place";
  EXPECT_EQ(started[0].key, key_of(2, 20));
}

TEST(Attempts, AttemptFencedAfterItsEndKeepsItsLogs) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.run(key_of(2, 20), 1);
  stage.step(ProgramEnded{key_of(1, 10), false, 3,
                          "Traceback"});  // FENCED acknowledges it when its trial continues.
  stage.clear();
  stage.say(proto::Fenced{key_of(1, 10)});
  stage.say(proto::Fenced{key_of(2, 20)});
  stage.step(ProgramEnded{key_of(2, 20), true, 9, ""});
  const auto deleted = stage.wanted<DeleteAttempt>();
  ASSERT_EQ(deleted.size(), 2U);
  EXPECT_TRUE(deleted[0].keep_logs);
  EXPECT_FALSE(deleted[1].keep_logs) << "nobody asked for what it did";
}

TEST(Slots, AttemptOnHoldOfTheSameNumberBlocksNoOtherSlots) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(proto::Hold{key_of(1, 10)});
  stage.clear();
  // The store was restored from an older copy: the trial's first attempt is leased again.
  const AttemptKey again = key_of(1, engine::Numbering::first_after_a_restore + 30);
  ASSERT_EQ(again.attempt, key_of(1, 10).attempt);
  stage.say(lease_of(again, 1));
  ASSERT_EQ(stage.wanted<StartProgram>().size(), 1U) << "in a directory of its own, so it need not wait";
  EXPECT_EQ(stage.wanted<StartProgram>()[0].spec.key, again);
}

TEST(Slots, SlotsOfLeakedProcessesNeedAPermissionOfTheDaemon) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(ProgramStuck{key_of(1, 10), "process 7 survives SIGKILL"});
  stage.clear();
  stage.say(lease_of(key_of(2, 20), 0));
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  proto::Lease knowing = lease_of(key_of(3, 30), 0);
  knowing.spec.despite_leaked_processes = true;
  stage.say(knowing);
  ASSERT_EQ(stage.wanted<StartProgram>().size(), 1U);
  EXPECT_EQ(stage.wanted<StartProgram>()[0].spec.key, key_of(3, 30));
}

}  // namespace
}  // namespace hpsearch::workers::test
