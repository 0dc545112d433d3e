#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "messages.hpp"
#include "workers/core/fixtures/conversation.hpp"
#include "workers/core/fixtures/program_line.hpp"

// How a program is ended, and what remains of an attempt afterwards.

namespace hpsearch::workers::test {
namespace {

using Lines = std::vector<std::string>;

// --- decisions ---

TEST(Decisions, AreAlwaysAcknowledgedAndCarriedOutOnce) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  talk.decide(50, Directive::train_on, 9);
  talk.decide(50, Directive::train_on, 9);
  talk.decide(49, Directive::kill);
  ASSERT_EQ(talk.out().messages.size(), 3U);
  EXPECT_EQ(std::get<proto::DecisionAck>(talk.out().messages[2]).decision, Lsn{49});
  EXPECT_EQ(talk.answers().size(), 1U);
  EXPECT_EQ(talk.signals(), Lines{});
  EXPECT_EQ(talk.attempt().held().last_decision, Lsn{50});
}

TEST(Decisions, KillIsImmediate) {
  Conversation talk = Conversation::running();
  talk.decide(50, Directive::kill);
  EXPECT_EQ(talk.signals(), (Lines{"KILL"}));
  talk.end(true, 9);
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

// --- ending a program ---

TEST(Ending, ProgramThatIgnoresItsAnswerIsTerminatedThenKilled) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  talk.decide(50, Directive::pause);
  EXPECT_EQ(talk.attempt().next_wake(), talk.now() + Duration::seconds(30));
  talk.pass(Duration::seconds(29));
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  talk.pass(Duration::seconds(29));
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), (Lines{"KILL"}));
  talk.pass(Duration::seconds(1000));
  EXPECT_EQ(talk.signals(), Lines{});
}

TEST(Ending, GraceBeginsWithTheAnswer) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.decide(50, Directive::stop);
  talk.pass(Duration::seconds(20));
  talk.report(first, 2);
  talk.pass(Duration::seconds(29));
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
}

TEST(Ending, ReportsAndCheckpointsDoNotExtendTheGrace) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  talk.decide(50, Directive::stop);
  Lines signals;
  for (int turn = 0; turn < 100 && signals.empty(); ++turn) {
    talk.say(R"({"type":"checkpoint","step":3})");
    talk.publish(3);
    talk.report(first, 4 + turn);
    talk.pass(Duration::seconds(1));
    signals = talk.signals();
  }
  EXPECT_EQ(signals, (Lines{"TERM"}));
}

TEST(Ending, PrintingProgramIsTerminatedAtOnceBelowItsLength) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 1);
  talk.decide(50, Directive::pause);
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  talk.end(true, 15);
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

TEST(Ending, CheckpointSignalComesFirstAndStartsTheGrace) {
  for (const bool prints : {true, false}) {
    Conversation talk = Conversation::running({}, Conversation::signaled_spec());
    if (prints) {
      talk.report(std::nullopt, 1);
    }
    talk.decide(50, Directive::pause);
    EXPECT_EQ(talk.signals(), (Lines{"CHECKPOINT"}));
    talk.pass(Duration::seconds(29));
    EXPECT_EQ(talk.signals(), Lines{});
    talk.pass(Duration::seconds(1));
    EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
    talk.pass(Duration::seconds(30));
    EXPECT_EQ(talk.signals(), (Lines{"KILL"}));
    talk.end(true, 9);
    EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
  }
}

TEST(Ending, ProgramWithSocketGetsACheckpointSignalOnlyFromAnEndingWorker) {
  Conversation talk = Conversation::running({}, Conversation::signaled_spec());
  talk.report(first, 1);
  talk.decide(50, Directive::pause);
  EXPECT_EQ(talk.signals(), Lines{});
  Conversation other = Conversation::running({}, Conversation::signaled_spec());
  other.report(first, 1);
  other.attempt().end_now(other.now(), other.out());
  EXPECT_EQ(other.signals(), (Lines{"CHECKPOINT"}));
  other.pass(Duration::seconds(30));
  EXPECT_EQ(other.signals(), (Lines{"TERM"}));
}

TEST(Ending, ExitAfterACheckpointSignalIsNoDecisionOfTheProgram) {
  Conversation talk = Conversation::running({}, Conversation::signaled_spec());
  talk.attempt().end_now(talk.now(), talk.out());
  talk.end(false, 0);
  ASSERT_EQ(talk.effects<PublishCheckpoint>().size(), 1U);
  talk.publish(2);
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

TEST(Ending, PrintingProgramMayEndVoluntarilyAtItsLength) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 3);
  talk.decide_at_length(50, Directive::stop);
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(599));
  EXPECT_EQ(talk.signals(), Lines{}) << "it may evaluate its model, and save it";
  EXPECT_EQ(talk.notes(), Lines{});
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  ASSERT_EQ(talk.notes(), (Lines{"ended"}));
  EXPECT_MESSAGE(talk.whole_notes()[0].text);
}

TEST(Ending, ProgramWithAnAnswerAtItsLengthMayFinish) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  talk.decide_at_length(50, Directive::stop);
  EXPECT_EQ(talk.answers().size(), 1U);
  talk.pass(Duration::seconds(300));
  talk.report(second, 3, R"("test_acc":0.5)");
  EXPECT_EQ(talk.answers(), (Lines{R"(2 {"directive":"stop","length":3})"}));
  talk.pass(Duration::seconds(299));
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
}

TEST(Ending, ProgramThatContinuesAfterItsAnswerHasTheGrace) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  talk.decide_at_length(50, Directive::stop);
  talk.report(second, 4);
  talk.pass(Duration::seconds(29));
  talk.report(second, 5);
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  EXPECT_EQ(talk.notes(), (Lines{"ended"}));
}

TEST(Ending, FinishingProgramGetsTheGraceWhenItsSearchEnds) {
  for (const std::optional<QuestionId> question : {std::optional<QuestionId>(), std::optional(first)}) {
    Conversation talk = Conversation::running();
    talk.report(question, 3);
    talk.decide_at_length(50, Directive::stop);
    talk.pass(Duration::seconds(100));
    talk.decide(51, Directive::stop);
    talk.pass(Duration::seconds(29));
    EXPECT_EQ(talk.signals(), Lines{});
    talk.pass(Duration::seconds(1));
    EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  }
}

TEST(Ending, ProgramAtItsLastLengthGetsTheGraceWhenItsSearchIsPaused) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 3);
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.notes(), Lines{}) << "no time has passed yet";
  talk.pass(Duration::seconds(29));
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  EXPECT_EQ(talk.notes(), (Lines{"ended"}));
}

TEST(Ending, CheckpointSignalIsNotSentAtTheLastLength) {
  Conversation talk = Conversation::running({}, Conversation::signaled_spec());
  talk.report(std::nullopt, 3);
  talk.decide_at_length(50, Directive::stop);
  talk.pass(Duration::seconds(599));
  EXPECT_EQ(talk.signals(), Lines{});
}

/// For a search whose trials have at most length 27.
LaunchSpec spec_below_the_top() {
  LaunchSpec spec = Conversation::spec();
  spec.max_length = Units{27};
  return spec;
}

TEST(Ending, PrintingProgramIsTerminatedAtOnceWhenItsSearcherStopsIt) {
  Conversation talk = Conversation::running({}, spec_below_the_top());
  talk.report(std::nullopt, 3);
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  talk.pass(Duration::seconds(30));
  EXPECT_EQ(talk.signals(), (Lines{"KILL"}));
  talk.end(true, 9);
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

TEST(Ending, PrintingProgramMaySaveACheckpointAtAPauseAndTrainOneMoreStep) {
  Conversation talk = Conversation::running({}, spec_below_the_top());
  talk.report(std::nullopt, 3);
  talk.decide_at_length(50, Directive::pause);
  talk.report(std::nullopt, 3, R"("loss":0.5)");
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(300));
  EXPECT_EQ(talk.signals(), Lines{});
  talk.report(std::nullopt, 4);
  EXPECT_EQ(talk.signals(), (Lines{"TERM"})) << "it saves nothing, it trains";
  EXPECT_EQ(talk.notes(), (Lines{"ended"}));
}

TEST(Ending, ProgramThatContinuedBeforeTheDecisionIsTerminatedAtOnce) {
  for (const Directive directive : {Directive::pause, Directive::stop}) {
    Conversation talk = Conversation::running();
    talk.report(std::nullopt, 3);
    talk.report(std::nullopt, 4);
    talk.decide(50, directive);
    EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  }
}

TEST(Ending, PrintingProgramBeyondTheLastLengthIsTerminatedAtItsNextStep) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 3);
  talk.decide_at_length(50, Directive::stop);
  EXPECT_EQ(talk.signals(), Lines{}) << "it may be saving its model";
  talk.report(std::nullopt, 4);
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  talk.report(std::nullopt, 5);
  EXPECT_EQ(talk.signals(), Lines{}) << "once";
  ASSERT_EQ(talk.notes(), (Lines{"ended"}));
  EXPECT_MESSAGE(talk.whole_notes()[0].text);
}

TEST(Ending, ProgramMayContinueUntilItsSignaledCheckpointIsWritten) {
  Conversation talk = Conversation::running({}, Conversation::signaled_spec());
  talk.report(std::nullopt, 3);
  talk.decide(50, Directive::pause);
  EXPECT_EQ(talk.signals(), (Lines{"CHECKPOINT"}));
  talk.report(std::nullopt, 4);
  EXPECT_EQ(talk.signals(), Lines{});
}

TEST(Ending, ProgramThatStartsAfterTheDecisionIsTerminated) {
  Conversation talk = Conversation::running();
  talk.decide(50, Directive::stop);
  talk.report(std::nullopt, 1);
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
}

TEST(Ending, PrintingProgramContinuesWithoutAnAnswer) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 3);
  talk.decide(50, Directive::train_on, 9);
  EXPECT_EQ(talk.answers(), Lines{});
  talk.pass(Duration::seconds(100));
  EXPECT_EQ(talk.signals(), Lines{});
}

TEST(Ending, StartingProgramGetsTheGrace) {
  Conversation talk = Conversation::running();
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(30));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
}

TEST(Ending, PatienceIsSuspendedWhileACheckpointIsPublished) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  talk.decide(50, Directive::pause);
  talk.say(R"({"type":"checkpoint","step":3})");
  talk.answers();
  talk.pass(Duration::seconds(500));
  EXPECT_EQ(talk.signals(), Lines{});
  EXPECT_FALSE(talk.attempt().next_wake() == talk.now());
  talk.publish(3);
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"pause","length":3})"}));
  talk.pass(Duration::seconds(29));
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
}

TEST(Ending, StopWhileStartingWaitsForTheStart) {
  Conversation talk;
  talk.attempt().start();
  talk.spool();
  talk.attempt().end_now(talk.now(), talk.out());
  EXPECT_EQ(talk.signals(), Lines{});
  talk.attempt().started(talk.now(), talk.out());
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
}

TEST(Ending, ProgramThatNeverStartedGetsNoSignal) {
  Conversation talk;
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.signals(), Lines{});
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

// --- a missing metric ---

std::size_t unmeasured(Conversation& talk) {
  std::size_t reports = 0;
  talk.attempt().session_lost();
  for (const proto::Reports& batch : talk.sent()) {
    reports += static_cast<std::size_t>(std::count_if(
        batch.reports.begin(), batch.reports.end(),
        [](const Report& report) { return std::holds_alternative<engine::UnmeasuredReport>(report); }));
  }
  return reports;
}

TEST(Unmeasured, SecondReportAtTheLengthWithoutTheMetricWaitsForTheDecision) {
  Conversation talk = Conversation::running();
  talk.report(first, 2, R"("accu":0.5)");
  talk.report(first, 3, R"("accu":0.5)");
  EXPECT_EQ(talk.answers().size(), 2U);
  talk.report(second, 3, R"("accu":0.5)");
  EXPECT_EQ(talk.answers(), Lines{});
  EXPECT_EQ(unmeasured(talk), 1U);
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.answers(), (Lines{R"(2 {"directive":"stop","length":3})"}));
}

TEST(Unmeasured, ComesAfterOtherMetricsOfTheSameStep) {
  Conversation talk = Conversation::running();
  for (const int step : {2, 3}) {
    for (int batch = 0; batch < 3; ++batch) {
      talk.report(first, step, R"("batch_loss":0.5)");
    }
    talk.report(first, step, R"("lr":0.5)");
    EXPECT_EQ(talk.answers().size(), 4U);
    talk.report(first, step);
    talk.answers();
  }
  EXPECT_EQ(unmeasured(talk), 0U);
}

TEST(Unmeasured, EachProcessMayReport) {
  LaunchSpec spec = Conversation::spec();
  spec.slots = {engine::SlotIndex{0}, engine::SlotIndex{1}};
  Conversation talk = Conversation::running({}, spec);
  talk.report(first, 3, R"("loss":0.5)");
  talk.report(second, 3, R"("loss":0.25)");
  EXPECT_EQ(unmeasured(talk), 0U);
  talk.report(first, 3, R"("loss":0.5)");
  EXPECT_EQ(unmeasured(talk), 1U);
}

// --- the end of an attempt ---

TEST(Finish, AcknowledgedExitKeepsItsLogs) {
  Conversation talk = Conversation::running();
  talk.end(false, 1);
  talk.sent();
  EXPECT_FALSE(talk.attempt().finished());
  talk.attempt().acknowledged(1, talk.out());
  EXPECT_TRUE(talk.attempt().finished());
  const auto deleted = talk.effects<DeleteAttempt>();
  ASSERT_EQ(deleted.size(), 1U);
  EXPECT_TRUE(deleted[0].keep_logs);
}

TEST(Finish, FencedProgramIsKilledAndLeavesNothing) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.attempt().fenced(talk.out());
  EXPECT_EQ(talk.signals(), (Lines{"KILL"}));
  EXPECT_FALSE(talk.attempt().finished());
  EXPECT_TRUE(talk.sent().empty());
  talk.end(true, 9);
  EXPECT_TRUE(talk.attempt().finished());
  const auto deleted = talk.effects<DeleteAttempt>();
  ASSERT_EQ(deleted.size(), 1U);
  EXPECT_FALSE(deleted[0].keep_logs);
}

// Found by hpsearch-sim: the agent woke up repeatedly for a write that a fenced attempt doesn't make.
TEST(Finish, FencedAttemptDoesNotWakeForItsSpool) {
  Conversation talk = Conversation::running();
  talk.attempt().said(
      program_line(talk.attempt().key(), first, R"({"type":"report","step":3,"metrics":{"acc":0.5}})"),
      talk.now(), talk.out());
  talk.attempt().spool(talk.now(), talk.out());
  const auto writes = talk.effects<WriteSpool>();
  ASSERT_EQ(writes.size(), 1U);
  talk.attempt().spool_not_written(writes[0].write, "no space left on device", talk.now(), talk.out());
  ASSERT_TRUE(talk.attempt().next_wake().has_value());
  talk.attempt().fenced(talk.out());
  EXPECT_EQ(talk.attempt().next_wake(), std::nullopt);
}

TEST(Finish, FenceWhileStartingKillsTheProgramAgainOnceItRuns) {
  Conversation talk;
  talk.attempt().start();
  talk.spool();
  talk.attempt().fenced(talk.out());
  EXPECT_EQ(talk.signals(), (Lines{"KILL"})) << "it may run, and a full disk keep it from being heard";
  talk.attempt().started(talk.now(), talk.out());
  EXPECT_EQ(talk.signals(), (Lines{"KILL"}));
  EXPECT_TRUE(talk.out().messages.empty());
}

TEST(Finish, FencedExitIsDroppedAtOnce) {
  Conversation talk = Conversation::running();
  talk.end(false, 1);
  talk.attempt().fenced(talk.out());
  EXPECT_TRUE(talk.attempt().finished());
}

TEST(Finish, RepeatedLeaseIsOnlyAnsweredWithStarted) {
  Conversation talk = Conversation::running();
  talk.attempt().lease_again(talk.out());
  ASSERT_EQ(talk.out().messages.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<proto::Started>(talk.out().messages[0]));
  EXPECT_TRUE(talk.effects<StartProgram>().empty());
}

// --- what survives SIGKILL ---

TEST(Unkillable, TrialIsReturnedButSlotsAreNot) {
  Conversation talk = Conversation::running();
  talk.decide(50, Directive::kill);
  EXPECT_EQ(talk.signals(), (Lines{"KILL"}));
  talk.attempt().stuck("process 7 survives SIGKILL", talk.out());
  const ExitReport report = talk.exit_report();
  EXPECT_EQ(report.cause, ExitReport::Cause::ended_by_agent);
  EXPECT_TRUE(report.unkillable);
  EXPECT_EQ(report.message, "process 7 survives SIGKILL");
  EXPECT_TRUE(talk.attempt().held().unkillable);
  talk.attempt().acknowledged(1, talk.out());
  EXPECT_FALSE(talk.attempt().finished()) << "it is not forgotten while something of it is there";
  EXPECT_TRUE(talk.attempt().leaves_leaked_processes());
  talk.end(true, 9);
  EXPECT_TRUE(talk.attempt().finished());
  EXPECT_FALSE(talk.attempt().leaves_leaked_processes());
}

TEST(Unkillable, ExitIsReportedIfItEndsBeforeTheAcknowledgement) {
  Conversation talk = Conversation::running();
  talk.attempt().stuck("process 7 survives SIGKILL", talk.out());
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::lost) << "nobody saw how its first process ended";
  talk.attempt().lost("its shim is gone", talk.out());
  EXPECT_FALSE(talk.attempt().finished());
  talk.attempt().acknowledged(1, talk.out());
  EXPECT_TRUE(talk.attempt().finished());
}

TEST(Unkillable, FencedAttemptIsForgottenAtItsEnd) {
  Conversation talk = Conversation::running();
  talk.attempt().fenced(talk.out());
  talk.attempt().stuck("process 7 survives SIGKILL", talk.out());
  EXPECT_TRUE(talk.attempt().exited());
  EXPECT_FALSE(talk.attempt().finished());
  EXPECT_TRUE(talk.sent().empty());
  talk.end(true, 9);
  EXPECT_TRUE(talk.attempt().finished());
}

TEST(Unkillable, AttemptFencedAfterItsExitKeepsItsLogs) {
  Conversation talk = Conversation::running();
  talk.attempt().stuck("process 7 survives SIGKILL", talk.out());
  talk.spool();
  talk.attempt().acknowledged(1, talk.out());
  talk.attempt().fenced(talk.out());  // Its trial continues elsewhere.
  EXPECT_FALSE(talk.attempt().finished());
  talk.end(true, 9);
  EXPECT_TRUE(talk.attempt().finished());
  const auto deleted = talk.effects<DeleteAttempt>();
  ASSERT_EQ(deleted.size(), 1U);
  EXPECT_TRUE(deleted[0].keep_logs);
}

TEST(Unkillable, WaitsForTheCheckpointThatIsBeingPublished) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"checkpoint","step":2})");
  talk.attempt().stuck("process 7 survives SIGKILL", talk.out());
  EXPECT_FALSE(talk.attempt().exited());
  talk.publish(2);
  EXPECT_TRUE(talk.exit_report().unkillable);
}

/// A running attempt, and its disk, from which the next agent takes it over.
class Spooling {
 public:
  Spooling() : attempt(Conversation::spec(), AttemptRules{}) {
    attempt.start();
    write();
    attempt.started(now, out);
  }
  /// Starts the requested writes and, unless the disk is slow, finishes them.
  void write(bool slow = false) {
    AttemptOutput wanted;
    attempt.spool(now, wanted);
    for (const Effect& effect : wanted.effects) {
      if (const auto* one = std::get_if<WriteSpool>(&effect)) {
        spool = one->anew ? one->bytes : spool + one->bytes;
        under_way = one->write;
        if (!slow) {
          attempt.spool_written(under_way, now, out);
        }
      }
    }
  }
  [[nodiscard]] AttemptMachine next() const {
    auto found = read_spool(spool);
    EXPECT_TRUE(found);
    return {found ? *std::move(found) : SpooledAttempt{}, AttemptRules{}};
  }

  AttemptMachine attempt;
  AttemptOutput out;
  std::string spool;
  std::uint64_t under_way = 0;
  Instant now = Instant::from_micros(1);
};

TEST(HeldTime, ContinuesAcrossAgentsAndEndsWithTheExit) {
  Spooling disk;
  const Instant later = disk.now + engine::Duration::seconds(60);
  EXPECT_EQ(disk.next().held_for(later), engine::Duration::seconds(60));
  EXPECT_EQ(disk.next().held_for(Instant{}), engine::Duration{}) << "its clock was set back";
  disk.now = later;
  disk.attempt.ended({disk.attempt.key(), false, 1, "", false, false}, disk.out);
  disk.write();
  EXPECT_TRUE(disk.next().held().exited);
  EXPECT_EQ(disk.next().held_for(later + engine::Duration::seconds(900)), engine::Duration::seconds(60));
}

/// It looks for remaining processes, and finishes when they have exited.
void expect_to_wait_for_its_remains(AttemptMachine attempt) {
  EXPECT_TRUE(attempt.held().exited);
  EXPECT_TRUE(attempt.held().unkillable);
  AttemptOutput wanted;
  attempt.attach(wanted);
  ASSERT_EQ(wanted.effects.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<AttachProgram>(wanted.effects[0]));
  attempt.acknowledged(1, wanted);
  EXPECT_FALSE(attempt.finished());
  attempt.lost("the machine was restarted while it ran", wanted);
  EXPECT_TRUE(attempt.finished());
}

TEST(Unkillable, NextAgentLooksForItAgain) {
  Spooling disk;
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.write();
  expect_to_wait_for_its_remains(disk.next());
}

TEST(Unkillable, NextAgentLooksForAFencedOne) {
  Spooling disk;
  disk.attempt.fenced(disk.out);
  disk.write();
  EXPECT_FALSE(disk.next().held().exited)
      << "fenced, it is killed, and the next agent may have to do that again";
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.write();
  EXPECT_EQ(disk.next().held().first_seq, disk.next().held().last_seq + 1) << "it has nothing to report";
  expect_to_wait_for_its_remains(disk.next());
}

TEST(Unkillable, FencedAfterwardsItIsStillWritten) {
  Spooling disk;
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.attempt.fenced(disk.out);
  disk.write();
  expect_to_wait_for_its_remains(disk.next());
}

TEST(Ending, NextAgentFinishesTheEndOfAKilledAgent) {
  Spooling disk;
  disk.attempt.end_now(disk.now, disk.out);  // A child of the program survives this SIGTERM.
  disk.write();
  AttemptMachine next = disk.next();
  AttemptOutput out;
  next.attach(out);
  next.started(disk.now, out);
  const auto signals = [&out] {
    std::vector<bool> kills;
    for (const Effect& effect : out.effects) {
      if (const auto* signal = std::get_if<SignalProgram>(&effect)) {
        kills.push_back(signal->kill);
      }
    }
    return kills;
  };
  EXPECT_EQ(signals(), std::vector<bool>{false});
  next.check_timers(disk.now + Duration::seconds(30), out);
  EXPECT_EQ(signals(), (std::vector<bool>{false, true})) << "nobody else would ever end it";
}

/// A program that continues earlier could overwrite files that the next agent would publish.
TEST(Checkpoints, AreAnsweredWhenTheirReportIsOnDisk) {
  Spooling disk;
  const auto answered = [&disk] {
    return std::count_if(disk.out.effects.begin(), disk.out.effects.end(),
                         [](const Effect& effect) { return std::holds_alternative<AnswerProgram>(effect); });
  };
  disk.attempt.said(
      program_line(Conversation::spec().key, QuestionId{1}, R"({"type":"checkpoint","step":2})", 1, false),
      disk.now, disk.out);
  disk.write();
  disk.attempt.published(CheckpointReport{Units{2}, "/c/1/2/3-2", 1, 10}, disk.now, disk.out);
  EXPECT_EQ(answered(), 0);
  disk.write(true);
  EXPECT_EQ(answered(), 0);
  disk.attempt.spool_written(disk.under_way, disk.now, disk.out);
  EXPECT_EQ(answered(), 1);
}

TEST(Unkillable, IsReportedOnceItIsOnDisk) {
  Spooling disk;
  disk.attempt.fenced(disk.out);
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.write(true);
  EXPECT_TRUE(disk.attempt.leaves_leaked_processes());
  EXPECT_FALSE(disk.attempt.reports_leaked_processes());
  EXPECT_FALSE(disk.attempt.held().unkillable);
  disk.attempt.spool_written(disk.under_way, disk.now, disk.out);
  EXPECT_TRUE(disk.attempt.reports_leaked_processes());
  EXPECT_TRUE(disk.attempt.held().unkillable);
  EXPECT_TRUE(disk.next().reports_leaked_processes());
}

TEST(Unkillable, NextAgentDetectsItWhileACheckpointIsPublished) {
  Spooling disk;
  disk.attempt.said(
      program_line(Conversation::spec().key, QuestionId{1}, R"({"type":"checkpoint","step":2})", 1, false),
      disk.now, disk.out);
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.attempt.decided({Lsn{9}, Directive::kill, Units{}}, disk.now, disk.out);
  disk.write();
  AttemptMachine next = disk.next();
  EXPECT_FALSE(next.leaves_leaked_processes()) << "its exit is still to be reported";
  next.started(disk.now, disk.out);
  next.ended({Conversation::spec().key, true, 9, "", true, false}, disk.out);
  next.not_published(false, "the disk is full", disk.now, disk.out);
  EXPECT_TRUE(next.exited());
}

}  // namespace
}  // namespace hpsearch::workers::test
