#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workers/core/fixtures/conversation.hpp"
#include "workers/core/fixtures/program_line.hpp"

// The exit reports of an attempt, and which checkpoints count.

namespace hpsearch::workers::test {
namespace {

using Lines = std::vector<std::string>;

// --- exits ---

struct ExitCase {
  const char* name;
  bool by_signal;
  int code;
  ExitReport::Cause cause;
  const char* words;
  bool with_log;
};

class Exits : public testing::TestWithParam<ExitCase> {};

TEST_P(Exits, ReportTheReason) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"checkpoint"})");  // So no checkpoint is published at the end.
  talk.publish(0);
  talk.end(GetParam().by_signal, GetParam().code, "last words");
  const ExitReport report = talk.exit_report();
  EXPECT_EQ(report.cause, GetParam().cause);
  EXPECT_EQ(report.code, GetParam().code);
  EXPECT_NE(report.message.find(GetParam().words), std::string::npos) << report.message;
  EXPECT_EQ(report.log_tail, GetParam().with_log ? "last words" : "");
}

INSTANTIATE_TEST_SUITE_P(
    All, Exits,
    testing::Values(ExitCase{"Well", false, 0, ExitReport::Cause::exited, "", false},
                    ExitCase{"Failed", false, 1, ExitReport::Cause::exited, "exit status 1", true},
                    ExitCase{"NotFound", false, 127, ExitReport::Cause::exited, "not found", true},
                    ExitCase{"Again", false, 75, ExitReport::Cause::exited, "run again", true},
                    ExitCase{"OutOfMemory", true, 9, ExitReport::Cause::signaled, "memory", true},
                    ExitCase{"Crashed", true, 11, ExitReport::Cause::signaled, "SIGSEGV", true}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Exits, CouldNotStartHasItsOwnCause) {
  Conversation talk;
  talk.attempt().start();
  talk.spool();
  talk.attempt().not_started("there is no program train on PATH", ExitReport::Cause::could_not_start,
                             /*status=*/0, talk.out());
  const ExitReport report = talk.exit_report();
  EXPECT_EQ(report.cause, ExitReport::Cause::could_not_start);
  EXPECT_EQ(report.message, "there is no program train on PATH");
  EXPECT_TRUE(talk.out().messages.empty());
}

TEST(Exits, ComeAfterAllOtherReports) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.say(R"({"type":"checkpoint","step":1})");
  talk.end(false, 1);
  EXPECT_EQ(talk.attempt().held().exited, false);
  talk.publish(1);
  const auto batches = talk.sent();
  ASSERT_EQ(batches.size(), 1U);
  ASSERT_EQ(batches[0].reports.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<MetricsReport>(batches[0].reports[0]));
  EXPECT_TRUE(std::holds_alternative<CheckpointReport>(batches[0].reports[1]));
  EXPECT_TRUE(std::holds_alternative<ExitReport>(batches[0].reports[2]));
}

TEST(Exits, OutOfMemoryIsReportedOnlyIfTheProgramFailed) {
  Conversation talk = Conversation::running();
  talk.attempt().ended({talk.attempt().key(), true, 9, "tail", false, true}, talk.out());
  const ExitReport report = talk.exit_report();
  EXPECT_EQ(report.cause, ExitReport::Cause::out_of_memory);
  EXPECT_EQ(report.log_tail, "tail");
  Conversation well = Conversation::running();
  well.attempt().ended({well.attempt().key(), false, 0, "", false, true}, well.out());
  well.attempt().not_published(true, "", well.now(), well.out());
  EXPECT_EQ(well.exit_report().cause, ExitReport::Cause::exited);
}

// --- memory ---

ExitReport exit_with(bool by_signal, int code, const std::string& said) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"checkpoint"})");
  talk.publish(0);
  talk.end(by_signal, code, said);
  return talk.exit_report();
}

TEST(Exits, ProgramThatGotNoMemoryRanOutOfMemory) {
  const Lines ends{
      "MemoryError",
      "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 TiB for an array",
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity",
      "RuntimeError: CUDA error: out of memory",
      "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate",
      "RuntimeError: [enforce fail at alloc_cpu.cpp:118] . DefaultCPUAllocator: can't allocate memory: you",
      "ResourceExhaustedError: OOM when allocating tensor with shape[99,99]"};
  for (const std::string& line : ends) {
    const ExitReport report =
        exit_with(false, 1, "Traceback (most recent call last):\n[rank0]: " + line + "\n\nwandb: synced\n");
    EXPECT_EQ(report.cause, ExitReport::Cause::out_of_memory) << line;
    EXPECT_EQ(report.message, "ran out of memory: " + line);
    EXPECT_EQ(report.code, 1);
    EXPECT_FALSE(report.log_tail.empty());
  }
  const ExitReport aborted = exit_with(
      true, 6,
      "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n");
  EXPECT_EQ(aborted.cause, ExitReport::Cause::out_of_memory);
  EXPECT_EQ(aborted.message, "ran out of memory: what():  std::bad_alloc");
}

TEST(Exits, OtherFailuresThatNameMemoryStayWhatTheyAre) {
  for (const std::string& line : Lines{"ValueError: memory is 3; it must be from 4", "  except MemoryError:",
                                       "warning: torch.OutOfMemoryError was caught before"}) {
    EXPECT_EQ(exit_with(false, 1, line + "\n").cause, ExitReport::Cause::exited) << line;
  }
  EXPECT_EQ(exit_with(false, 0, "MemoryError\n").cause, ExitReport::Cause::exited);
  EXPECT_EQ(exit_with(false, 75, "MemoryError\n").cause, ExitReport::Cause::exited)
      << "it asks to be run again";
  EXPECT_EQ(exit_with(true, 9, "MemoryError\n").cause, ExitReport::Cause::signaled);
}

TEST(Exits, FailedSetupNamesTheErrorOfPip) {
  const std::string said = "Looking\nERROR: first\nERROR: No matching distribution found for x==9\n";
  const std::string ours =
      "hpsearch: requirements.txt could not be installed with python3 (pip ended with status 1)\n";
  Conversation talk = Conversation::running();
  talk.attempt().ended({talk.attempt().key(), false, 1, said + ours, false, false}, talk.out());
  const ExitReport report = talk.exit_report();
  EXPECT_EQ(report.cause, ExitReport::Cause::could_not_start);
  EXPECT_EQ(report.code, 78) << "the experiment is wrong, not the machine";
  EXPECT_EQ(report.message,
            "requirements.txt could not be installed: No matching distribution found for x==9");
  EXPECT_EQ(report.log_tail, said + ours);
  Conversation other = Conversation::running();
  other.attempt().ended({other.attempt().key(), false, 1, ours + said, false, false}, other.out());
  EXPECT_EQ(other.exit_report().cause, ExitReport::Cause::exited) << "the program went on behind that line";
}

TEST(Exits, SignalOfAnEarlierAgentIsNoFailureOfTheProgram) {
  Conversation talk = Conversation::running();
  talk.attempt().ended({talk.attempt().key(), true, 15, "", true, false}, talk.out());
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

// --- checkpoints ---

TEST(Checkpoints, ArePublishedOneAtATimeAndThenAnswered) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"checkpoint","step":1})");
  talk.say(R"({"type":"checkpoint","step":2})");
  EXPECT_EQ(talk.answers(), Lines{});
  auto wanted = talk.effects<PublishCheckpoint>();
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0].step, Units{1});
  EXPECT_EQ(wanted[0].root, "/c");
  talk.publish(1);
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"continue","length":3})"}));
  wanted = talk.effects<PublishCheckpoint>();
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0].step, Units{2});
}

TEST(Checkpoints, WithoutAStepHaveTheStepOfTheLastReport) {
  Conversation talk = Conversation::running();
  talk.report(first, 2);
  talk.say(R"({"type":"checkpoint"})");
  EXPECT_EQ(talk.effects<PublishCheckpoint>().at(0).step, Units{2});
}

TEST(Checkpoints, ProgramGetsTheErrorOfAnInvalidOne) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"checkpoint","step":1})");
  talk.attempt().not_published(true, "the directory is empty", talk.now(), talk.out());
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"error":"the directory is empty"})"}));
  EXPECT_EQ(talk.attempt().held().last_seq, 0U);
}

TEST(Checkpoints, CountIfTheirProgramExitedWithZero) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 3);
  talk.end(false, 0);
  EXPECT_EQ(talk.effects<PublishCheckpoint>().at(0).step, Units{3});
  talk.publish(3);
  EXPECT_EQ(talk.attempt().held().last_seq, 3U);
  EXPECT_TRUE(talk.attempt().exited());
}

TEST(Checkpoints, AreOptional) {
  Conversation talk = Conversation::running();
  talk.end(false, 0);
  talk.attempt().not_published(true, "the directory is empty", talk.now(), talk.out());
  EXPECT_TRUE(talk.effects<Notice>().empty());
  EXPECT_EQ(talk.exit_report().message, "");
}

TEST(Checkpoints, LostOnesAreNamedInTheExit) {
  Conversation talk = Conversation::running();
  talk.end(false, 0);
  talk.attempt().not_published(false, "no space left", talk.now(), talk.out());
  EXPECT_EQ(talk.exit_report().message, "a checkpoint was not taken: no space left");
}

TEST(Checkpoints, AreNotPublishedIfTheProgramFailed) {
  Conversation talk = Conversation::running();
  talk.end(false, 1);
  EXPECT_TRUE(talk.effects<PublishCheckpoint>().empty());
  EXPECT_TRUE(talk.attempt().exited());
}

// --- silent programs ---

class Impatient {
 public:
  Impatient() : attempt(impatient(), Conversation::at_once({})) {
    attempt.start();
    spool();
    attempt.started(now, out);
  }
  static LaunchSpec impatient() {
    LaunchSpec spec = Conversation::spec();
    spec.progress_timeout = Duration::seconds(600);
    return spec;
  }
  void spool() {
    AttemptOutput wanted;
    attempt.spool(now, wanted);
    for (const Effect& effect : wanted.effects) {
      if (const auto* write = std::get_if<WriteSpool>(&effect)) {
        attempt.spool_written(write->write, now, out);
      }
    }
  }
  /// Wakes it when it is due, like its shell.
  void pass(Duration time) {
    const Instant end = now + time;
    while (attempt.next_wake() && *attempt.next_wake() <= end) {
      now = std::max(now, *attempt.next_wake());
      attempt.check_timers(now, out);
      spool();
    }
    now = end;
  }
  void say(const std::string& line) {
    attempt.said(program_line(attempt.key(), first, line), now, out);
    spool();
  }
  [[nodiscard]] std::size_t signals() const {
    return static_cast<std::size_t>(
        std::count_if(out.effects.begin(), out.effects.end(),
                      [](const Effect& effect) { return std::holds_alternative<SignalProgram>(effect); }));
  }

  AttemptMachine attempt;
  AttemptOutput out;
  Instant now = Instant::from_micros(1'000'000'000);
};

TEST(NoProgress, EndsTheProgramWithItsCause) {
  Impatient talk;
  talk.pass(Duration::seconds(599));
  EXPECT_EQ(talk.signals(), 0U);
  talk.pass(Duration::seconds(1));
  ASSERT_EQ(talk.signals(), 1U) << "SIGTERM first";
  talk.pass(Duration::seconds(30));
  EXPECT_EQ(talk.signals(), 2U) << "then SIGKILL";
  talk.attempt.ended({talk.attempt.key(), true, 9, "epoch 3"}, talk.out);
  talk.spool();
  AttemptOutput out;
  talk.attempt.send(talk.now, 1024 * 1024, out);
  ASSERT_EQ(out.messages.size(), 1U);
  const auto& report = std::get<ExitReport>(std::get<proto::Reports>(out.messages[0]).reports.back());
  EXPECT_EQ(report.cause, ExitReport::Cause::no_progress);
  EXPECT_EQ(report.message, "ended: no report from it for 600 s (progress_timeout)");
  EXPECT_EQ(report.log_tail, "epoch 3");
}

TEST(NoProgress, AnyMessageIsProgress) {
  Impatient talk;
  for (int i = 0; i < 10; ++i) {
    talk.pass(Duration::seconds(500));
    talk.say(R"({"type":"report","step":1,"metrics":{"loss":1}})");
  }
  EXPECT_EQ(talk.signals(), 0U);
  EXPECT_EQ(talk.attempt.last_step(), Units{1});
  EXPECT_EQ(talk.attempt.silent_since(), talk.now);
}

TEST(NoProgress, WaitForAnAnswerIsNoSilence) {
  Impatient talk;
  talk.say(R"({"type":"report","step":3,"metrics":{"acc":1}})");
  talk.pass(Duration::seconds(5'000));
  EXPECT_EQ(talk.signals(), 0U);
  talk.attempt.decided(Decision{Lsn{50}, Directive::train_on, Units{9}}, talk.now, talk.out);
  talk.spool();
  talk.pass(Duration::seconds(599));
  EXPECT_EQ(talk.signals(), 0U) << "its time begins with the answer";
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), 1U);
}

TEST(NoProgress, LateCheckWaitsForUnreadMessages) {
  Impatient talk;
  talk.now =
      talk.now + Duration::seconds(4'000);  // The agent was suspended; messages of the program are unread.
  talk.attempt.check_timers(talk.now, talk.out);
  EXPECT_EQ(talk.signals(), 0U);
  talk.say(R"({"type":"report","step":1,"metrics":{"loss":1}})");
  talk.pass(Duration::seconds(599));
  EXPECT_EQ(talk.signals(), 0U);
}

TEST(NoProgress, IsOffByDefault) {
  Conversation talk = Conversation::running();
  talk.pass(Duration::seconds(1'000'000));
  EXPECT_EQ(talk.signals(), Lines{});
  EXPECT_EQ(talk.attempt().next_wake(), std::nullopt);
}

}  // namespace
}  // namespace hpsearch::workers::test
