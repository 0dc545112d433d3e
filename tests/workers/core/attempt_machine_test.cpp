#include "hpsearch/workers/core/attempt_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace hpsearch::workers {
namespace {

using engine::AttemptKey;
using engine::AttemptNumber;
using engine::CheckpointReport;
using engine::Decision;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using engine::ExperimentId;
using engine::Instant;
using engine::InvalidHparamsReport;
using engine::LaunchSpec;
using engine::LeaseId;
using engine::Lsn;
using engine::MetricsReport;
using engine::Report;
using engine::TrialNumber;
using engine::Units;

constexpr QuestionId first{1};
constexpr QuestionId second{2};

/// An attempt of length 3 with the metric "acc" in a session, and all it wanted so far.
class Conversation {
 public:
  explicit Conversation(AttemptRules rules = {}, LaunchSpec wanted = spec())
      : attempt_(std::move(wanted), at_once(rules)) {}

  /// Nothing here is about waiting for the disk.
  static AttemptRules at_once(AttemptRules rules) {
    rules.spool_within = Duration::seconds(0);
    return rules;
  }

  static LaunchSpec spec() {
    LaunchSpec spec;
    spec.key = AttemptKey{ExperimentId{1}, TrialNumber{2}, AttemptNumber{3}, LeaseId{40}};
    spec.length = Units{3};
    spec.metric = "acc";
    spec.checkpoint_root = "/c";
    return spec;
  }

  /// One whose experiment says `environment.checkpoint_signal: SIGUSR1`.
  static LaunchSpec signaled_spec() {
    LaunchSpec signaled = spec();
    signaled.environment_variables["HPSEARCH_CHECKPOINT_SIGNAL"] = "SIGUSR1";
    return signaled;
  }

  static Conversation running(AttemptRules rules = {}, LaunchSpec wanted = spec()) {
    Conversation talk(rules, std::move(wanted));
    talk.attempt().start();
    talk.spool();
    talk.attempt().started(talk.now_, talk.out_);
    talk.clear();
    return talk;
  }

  AttemptMachine& attempt() { return attempt_; }
  AttemptOutput& out() { return out_; }
  [[nodiscard]] Instant now() const { return now_; }
  void pass(Duration time) {
    now_ = now_ + time;
    attempt_.look_at_clock(now_, out_);
  }
  void clear() { out_ = {}; }

  void report(std::optional<QuestionId> connection, int step, const std::string& metrics = R"("acc":0.5)") {
    const std::string line =
        connection ? R"({"type":"report","step":)" + std::to_string(step) + R"(,"metrics":{)" + metrics + "}}"
                   : R"({"step":)" + std::to_string(step) + "," + metrics + "}";
    tell(connection, line);
  }
  void say(const std::string& line) { tell(first, line); }
  void tell(std::optional<QuestionId> question, const std::string& line) {
    attempt_.said({attempt_.key(), question, line}, now_, out_);
    spool();
  }
  /// A disk that takes everything at once.
  void spool() {
    AttemptOutput out;
    attempt_.spool(now_, out);
    for (const Effect& effect : out.effects) {
      if (const auto* write = std::get_if<WriteSpool>(&effect)) {
        attempt_.spool_written(write->write, out_);
      }
    }
  }
  void decide(std::uint64_t id, Directive directive, std::uint64_t length = 0) {
    attempt_.decided(Decision{Lsn{id}, directive, Units{length}}, now_, out_);
    spool();
  }
  void publish(std::uint64_t step) {
    attempt_.published(CheckpointReport{Units{step}, "/c/1/2/3-" + std::to_string(step), 1, 10}, now_, out_);
    spool();
  }
  void end(bool by_signal, int code, const std::string& tail = "") {
    attempt_.ended({attempt_.key(), by_signal, code, tail}, out_);
    spool();
  }

  /// Answers to the program since the last look, "connection line".
  std::vector<std::string> answers() {
    std::vector<std::string> lines;
    for (const Effect& effect : out_.effects) {
      if (const auto* answer = std::get_if<AnswerProgram>(&effect)) {
        lines.push_back(std::to_string(answer->question.number()) + " " + answer->line);
      }
    }
    std::erase_if(out_.effects,
                  [](const Effect& effect) { return std::holds_alternative<AnswerProgram>(effect); });
    return lines;
  }

  /// What the program is told, in order: "answer", and "ahead" for what its keeper answers from then on.
  std::vector<std::string> told() {
    std::vector<std::string> order;
    for (const Effect& effect : out_.effects) {
      if (std::holds_alternative<AnswerProgram>(effect)) {
        order.emplace_back("answer");
      } else if (std::holds_alternative<AnswerAhead>(effect)) {
        order.emplace_back("ahead");
      }
    }
    return order;
  }

  /// "CHECKPOINT", "TERM" and "KILL" since the last look.
  std::vector<std::string> signals() {
    std::vector<std::string> names;
    for (const Effect& effect : out_.effects) {
      if (const auto* signal = std::get_if<SignalProgram>(&effect)) {
        names.emplace_back(signal->kill ? "KILL" : signal->checkpoint ? "CHECKPOINT" : "TERM");
      }
    }
    std::erase_if(out_.effects,
                  [](const Effect& effect) { return std::holds_alternative<SignalProgram>(effect); });
    return names;
  }

  template <class Wanted>
  std::vector<Wanted> effects() {
    std::vector<Wanted> found;
    for (const Effect& effect : out_.effects) {
      if (const auto* wanted = std::get_if<Wanted>(&effect)) {
        found.push_back(*wanted);
      }
    }
    std::erase_if(out_.effects, [](const Effect& effect) { return std::holds_alternative<Wanted>(effect); });
    return found;
  }

  /// What REPORTS say now, batch by batch.
  std::vector<proto::Reports> sent() {
    spool();
    AttemptOutput out;
    attempt_.send(now_, 1024 * 1024, out);
    std::vector<proto::Reports> batches;
    for (proto::FromWorker& message : out.messages) {
      batches.push_back(std::get<proto::Reports>(std::move(message)));
    }
    return batches;
  }

  /// The kinds of notes among all reports so far, none of which is acknowledged.
  std::vector<std::string> notes() {
    attempt_.session_lost();
    std::vector<std::string> kinds;
    for (const proto::Reports& batch : sent()) {
      for (const Report& report : batch.reports) {
        if (const auto* note = std::get_if<engine::NoteReport>(&report)) {
          kinds.push_back(note->about);
        }
      }
    }
    return kinds;
  }

  /// The exit report, once it is the last thing to send.
  ExitReport exit_report() {
    attempt_.session_lost();
    const std::vector<proto::Reports> batches = sent();
    if (batches.empty() || !std::holds_alternative<ExitReport>(batches.back().reports.back())) {
      ADD_FAILURE() << "no exit report";
      return {};
    }
    return std::get<ExitReport>(batches.back().reports.back());
  }

 private:
  AttemptMachine attempt_;
  AttemptOutput out_;
  Instant now_ = Instant::from_micros(1'000'000'000);
};

using Lines = std::vector<std::string>;

// --- answers ---

TEST(Answers, BeforeTheLengthTheProgramGoesOnAtOnce) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.report(first, 2, R"("loss":1)");
  EXPECT_EQ(talk.answers(),
            (Lines{R"(1 {"directive":"continue","length":3})", R"(1 {"directive":"continue","length":3})"}));
}

TEST(Answers, AtTheLengthTheProgramWaitsForTheDecision) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  EXPECT_EQ(talk.answers(), Lines{});
  talk.decide(50, Directive::train_on, 9);
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"continue","length":9})"}));
  talk.report(first, 4);
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"continue","length":9})"}));
}

TEST(Answers, AreNewForTheKeeperBeforeTheProgramHearsOfTheNewLength) {
  Conversation talk = Conversation::running();
  talk.effects<AnswerAhead>();
  talk.report(first, 3);
  talk.decide(50, Directive::train_on, 9);
  EXPECT_EQ(talk.told(), (Lines{"ahead", "answer"}));
}

TEST(Answers, AtTheLengthWithoutTheMetricTheProgramGoesOn) {
  Conversation talk = Conversation::running();
  talk.report(first, 3, R"("loss":1)");
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"continue","length":3})"}));
}

TEST(Answers, AMetricThatIsNotANumberStillAsks) {
  Conversation talk = Conversation::running();
  talk.report(first, 3, R"("acc":NaN)");
  EXPECT_EQ(talk.answers(), Lines{});
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"stop","length":3})"}));
}

TEST(Answers, PauseThatWaitsIsHeardAtTheNextReport) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.answers();
  talk.decide(50, Directive::pause);
  EXPECT_EQ(talk.answers(), Lines{});
  talk.report(first, 2);
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"pause","length":3})"}));
}

TEST(Answers, ADecisionTakenBackBeforeItWasHeardIsForgotten) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.answers();
  talk.decide(50, Directive::pause);
  talk.decide(51, Directive::train_on, 3);
  talk.report(first, 2);
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"continue","length":3})"}));
  talk.pass(Duration::seconds(100));
  EXPECT_EQ(talk.signals(), Lines{});
}

TEST(Answers, TheSameQuestionTwiceIsOneReportAndTwoAnswers) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  talk.report(second, 3);
  talk.decide(50, Directive::train_on, 9);
  EXPECT_EQ(talk.answers().size(), 2U);
  EXPECT_EQ(talk.attempt().held().last_seq, 1U);
}

TEST(Answers, ABadLineIsNamedToTheProgramAndOnceToTheOperator) {
  Conversation talk = Conversation::running();
  talk.say("hello");
  talk.say("hello");
  const Lines answers = talk.answers();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_NE(answers[0].find(R"({"error":"not a JSON object)"), std::string::npos) << answers[0];
  EXPECT_EQ(talk.effects<Notice>().size(), 1U);
  EXPECT_EQ(talk.notes(), Lines{"misunderstood"});
}

TEST(Notes, GoodReportsHaveNone) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.report(first, 2, R"("training.loss":1)");
  talk.report(first, 2);
  talk.report(first, 3, R"("training.loss":1)");
  talk.report(first, 3);
  talk.decide(50, Directive::train_on, 9);
  talk.report(first, 6, R"("training.loss":1)");
  talk.report(first, 9);
  EXPECT_EQ(talk.notes(), Lines{});
}

TEST(Notes, AStepThatFallsIsToldOnce) {
  Conversation talk = Conversation::running();
  talk.report(first, 2);
  talk.report(first, 1);
  talk.report(first, 0);
  EXPECT_EQ(talk.notes(), Lines{"backward"});
  EXPECT_EQ(talk.effects<Notice>().size(), 1U);
}

TEST(Notes, BeginningAgainInsteadOfResumingIsTold) {
  LaunchSpec spec = Conversation::spec();
  spec.latest_step = Units{2};
  AttemptMachine attempt(spec, Conversation::at_once({}));
  AttemptOutput out;
  const Instant now = Instant::from_micros(1);
  attempt.start();
  attempt.spool(now, out);
  attempt.spool_written(1, out);
  attempt.started(now, out);
  attempt.said({attempt.key(), first, R"({"type":"report","step":1,"metrics":{"acc":1}})"}, now, out);
  const auto told = [](const Effect& effect) {
    const auto* notice = std::get_if<Notice>(&effect);
    return notice != nullptr && notice->text.find("HPSEARCH_LATEST_CHECKPOINT") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(out.effects.begin(), out.effects.end(), told), 1);
}

TEST(Notes, ReportsTooFarApartAreToldAtTheFirst) {
  Conversation talk = Conversation::running();
  talk.report(first, 2);
  talk.report(first, 4);
  EXPECT_EQ(talk.notes(), Lines{"sparse"});
}

TEST(Notes, PassingTheLengthWithoutTheMetricIsTold) {
  Conversation talk = Conversation::running();
  talk.report(first, 3, R"("accuracy":1)");
  EXPECT_EQ(talk.notes(), Lines{});  // It may still come in a second report of the same step.
  talk.report(first, 4, R"("accuracy":1)");
  EXPECT_EQ(talk.notes(), Lines{"missing"});
}

TEST(Notes, WhatIsNoNumberIsTold) {
  Conversation talk = Conversation::running();
  talk.report(first, 1, R"("acc":1,"name":"x")");
  talk.tell(std::nullopt, unreadable_payload("acc", "n/a"));
  EXPECT_EQ(talk.notes(), (Lines{"no_number", "unreadable"}));
}

TEST(Answers, InvalidHyperparametersAreReportedOnceAndStopTheProgram) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"invalid_hyperparameters","why":"too many layers"})");
  talk.say(R"({"type":"invalid_hyperparameters","why":"too many layers"})");
  EXPECT_EQ(talk.answers(),
            (Lines{R"(1 {"directive":"stop","length":3})", R"(1 {"directive":"stop","length":3})"}));
  const auto batches = talk.sent();
  ASSERT_EQ(batches.size(), 1U);
  ASSERT_EQ(batches[0].reports.size(), 1U);
  EXPECT_EQ(std::get<InvalidHparamsReport>(batches[0].reports[0]).why, "too many layers");
}

TEST(Answers, RemarksAreAnsweredAndNotReported) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"progress","fraction":0.5})");
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"continue","length":3})"}));
  EXPECT_EQ(talk.attempt().held().last_seq, 0U);
}

// --- decisions ---

TEST(Decisions, AreAcknowledgedAlwaysAndObeyedOnce) {
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

TEST(Decisions, KillIsAtOnce) {
  Conversation talk = Conversation::running();
  talk.decide(50, Directive::kill);
  EXPECT_EQ(talk.signals(), (Lines{"KILL"}));
  talk.end(true, 9);
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

// --- ending a program ---

TEST(Ending, WhoDoesNotEndAfterItsAnswerIsTerminatedThenKilled) {
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

TEST(Ending, TheGraceBeginsWithTheAnswer) {
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

TEST(Ending, ReportingAndSavingForEverDoesNotBuyTime) {
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

TEST(Ending, AProgramThatOnlyPrintsIsTerminatedAtOnceInMidLength) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 1);
  talk.decide(50, Directive::pause);
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
  talk.end(true, 15);
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

TEST(Ending, WhoWantsACheckpointSignalGetsItFirstAndTheGrace) {
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

TEST(Ending, WhoHearsAnswersNeedsNoCheckpointSignalUnlessTheWorkerEnds) {
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

TEST(Ending, AfterACheckpointSignalEndingWellIsNoDecisionOfTheProgram) {
  Conversation talk = Conversation::running({}, Conversation::signaled_spec());
  talk.attempt().end_now(talk.now(), talk.out());
  talk.end(false, 0);
  ASSERT_EQ(talk.effects<PublishCheckpoint>().size(), 1U);
  talk.publish(2);
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

TEST(Ending, AProgramThatOnlyPrintsMayEndByItselfAtItsLength) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 3);
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(9));
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
}

TEST(Ending, AProgramThatOnlyPrintsTrainsOnInSilence) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 3);
  talk.decide(50, Directive::train_on, 9);
  EXPECT_EQ(talk.answers(), Lines{});
  talk.pass(Duration::seconds(100));
  EXPECT_EQ(talk.signals(), Lines{});
}

TEST(Ending, AProgramNobodyHeardOfYetGetsTheGrace) {
  Conversation talk = Conversation::running();
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.signals(), Lines{});
  talk.pass(Duration::seconds(30));
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
}

TEST(Ending, PatienceRestsWhileACheckpointIsPublished) {
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

TEST(Ending, AStopWhileStartingWaitsForTheStart) {
  Conversation talk;
  talk.attempt().start();
  talk.spool();
  talk.attempt().end_now(talk.now(), talk.out());
  EXPECT_EQ(talk.signals(), Lines{});
  talk.attempt().started(talk.now(), talk.out());
  EXPECT_EQ(talk.signals(), (Lines{"TERM"}));
}

TEST(Ending, WhoNeverStartedNeedsNoSignal) {
  Conversation talk;
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.signals(), Lines{});
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

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

TEST_P(Exits, SayHowItEnded) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"checkpoint"})");  // So nothing is published at the end.
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

TEST(Exits, CouldNotStartIsAReportOfItsOwn) {
  Conversation talk;
  talk.attempt().start();
  talk.spool();
  talk.attempt().not_started("there is no program train on PATH", false, talk.out());
  const ExitReport report = talk.exit_report();
  EXPECT_EQ(report.cause, ExitReport::Cause::could_not_start);
  EXPECT_EQ(report.message, "there is no program train on PATH");
  EXPECT_TRUE(talk.out().messages.empty());
}

TEST(Exits, ComeAfterEverythingElse) {
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

// --- checkpoints ---

TEST(Checkpoints, ArePublishedOneAtATimeAndAnsweredWhenTheyLie) {
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

TEST(Checkpoints, WithoutStepStandForTheLastReport) {
  Conversation talk = Conversation::running();
  talk.report(first, 2);
  talk.say(R"({"type":"checkpoint"})");
  EXPECT_EQ(talk.effects<PublishCheckpoint>().at(0).step, Units{2});
}

TEST(Checkpoints, ThatCannotBeTakenAreToldToTheProgram) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"checkpoint","step":1})");
  talk.attempt().not_published(true, "the directory is empty", talk.now(), talk.out());
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"error":"the directory is empty"})"}));
  EXPECT_EQ(talk.attempt().held().last_seq, 0U);
}

TEST(Checkpoints, LeftByAProgramThatEndedWellCount) {
  Conversation talk = Conversation::running();
  talk.report(std::nullopt, 3);
  talk.end(false, 0);
  EXPECT_EQ(talk.effects<PublishCheckpoint>().at(0).step, Units{3});
  talk.publish(3);
  EXPECT_EQ(talk.attempt().held().last_seq, 3U);
  EXPECT_TRUE(talk.attempt().exited());
}

TEST(Checkpoints, NobodyWroteOneIsNoProblem) {
  Conversation talk = Conversation::running();
  talk.end(false, 0);
  talk.attempt().not_published(true, "the directory is empty", talk.now(), talk.out());
  EXPECT_TRUE(talk.effects<Notice>().empty());
  EXPECT_EQ(talk.exit_report().message, "");
}

TEST(Checkpoints, LeftBehindButLostAreNamedInTheExit) {
  Conversation talk = Conversation::running();
  talk.end(false, 0);
  talk.attempt().not_published(false, "no space left", talk.now(), talk.out());
  EXPECT_EQ(talk.exit_report().message, "a checkpoint was not taken: no space left");
}

TEST(Checkpoints, OfAProgramThatFailedAreNotTaken) {
  Conversation talk = Conversation::running();
  talk.end(false, 1);
  EXPECT_TRUE(talk.effects<PublishCheckpoint>().empty());
  EXPECT_TRUE(talk.attempt().exited());
}

// --- reports and acknowledgements ---

TEST(Reports, AreNumberedAndSentOnce) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  auto batches = talk.sent();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].first_seq, 1U);
  EXPECT_TRUE(talk.sent().empty());
  talk.report(first, 2);
  batches = talk.sent();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].first_seq, 2U);
}

TEST(Reports, AreSentAgainUntilAcknowledgedLessAndLessOften) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.sent();
  for (const int seconds : {1, 2, 4, 8, 16, 30, 30}) {
    EXPECT_EQ(talk.attempt().next_wake(), talk.now() + Duration::seconds(seconds));
    talk.pass(Duration::seconds(seconds));
    const auto batches = talk.sent();
    ASSERT_EQ(batches.size(), 1U);
    EXPECT_EQ(batches[0].first_seq, 1U);
  }
  EXPECT_EQ(talk.attempt().unanswered_resends(), 7U);
  talk.attempt().acknowledged(1, talk.out());
  EXPECT_EQ(talk.attempt().unanswered_resends(), 0U);
  EXPECT_EQ(talk.attempt().next_wake(), std::nullopt);
  EXPECT_TRUE(talk.sent().empty());
}

TEST(Reports, AfterAWelcomeGoOnBehindWhatIsDurable) {
  Conversation talk = Conversation::running();
  for (const int step : {1, 2}) {
    talk.report(first, step);
  }
  talk.sent();
  talk.attempt().session_lost();
  talk.attempt().go_on(1, talk.out());
  const auto batches = talk.sent();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].first_seq, 2U);
  EXPECT_EQ(batches[0].reports.size(), 1U);
}

TEST(Reports, AGapIsFilledFromWhereItBegins) {
  Conversation talk = Conversation::running();
  for (const int step : {1, 2, 2, 2}) {
    talk.report(first, step);
  }
  talk.sent();
  talk.attempt().resend_from(3, talk.now());
  talk.attempt().resend_from(3, talk.now());
  const auto batches = talk.sent();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].first_seq, 3U);
  EXPECT_EQ(batches[0].reports.size(), 2U);
  talk.attempt().resend_from(3, talk.now());
  EXPECT_TRUE(talk.sent().empty()) << "one lost frame makes many NACKs";
}

TEST(Reports, FitTheirFrames) {
  Conversation talk = Conversation::running();
  std::string metrics;
  for (int i = 0; i < 200; ++i) {
    metrics += (i == 0 ? "\"" : ",\"") + std::string(100, 'm') + std::to_string(i) + "\":1";
  }
  for (int step = 0; step < 30; ++step) {
    talk.report(std::nullopt, 1, metrics);
  }
  const auto batches = talk.sent();
  EXPECT_GT(batches.size(), 5U);
  std::uint64_t next = 1;
  for (const proto::Reports& batch : batches) {
    EXPECT_EQ(batch.first_seq, next);
    next += batch.reports.size();
    EXPECT_LT(proto::encode(proto::Envelope{}, proto::FromWorker{batch}).size(), proto::max_frame_bytes / 2);
  }
  EXPECT_EQ(next, 31U);
}

TEST(Reports, AWindowBoundsWhatIsUnderWay) {
  Conversation talk = Conversation::running();
  const std::string name(200, 'n');
  for (int i = 0; i < 6000; ++i) {
    talk.report(std::nullopt, 1, "\"" + name + "\":1");
  }
  std::uint64_t upto = 0;
  for (const proto::Reports& batch : talk.sent()) {
    upto += batch.reports.size();
  }
  EXPECT_LT(upto, 5000U);
  EXPECT_TRUE(talk.sent().empty());
  talk.attempt().acknowledged(upto, talk.out());
  const auto more = talk.sent();
  ASSERT_FALSE(more.empty());
  EXPECT_EQ(more[0].first_seq, upto + 1);
}

TEST(Reports, ManySmallBatchesUnderWayAreBoundedToo) {
  Conversation talk = Conversation::running();
  std::size_t batches = 0;
  for (int i = 0; i < 200; ++i) {
    talk.report(std::nullopt, 1);
    batches += talk.sent().size();
  }
  EXPECT_EQ(batches, 64U);
  talk.attempt().acknowledged(1, talk.out());
  const auto more = talk.sent();
  ASSERT_EQ(more.size(), 1U) << "one was acknowledged";
  EXPECT_EQ(more[0].reports.size(), 136U) << "and what waited goes together";
}

TEST(Reports, ASilentDaemonCostsBoundedMemory) {
  AttemptRules rules;
  rules.kept_bytes = 10'000;
  Conversation talk = Conversation::running(rules);
  for (int i = 0; i < 1000; ++i) {
    talk.report(std::nullopt, 1);
  }
  EXPECT_LT(talk.attempt().held().last_seq, 200U);
  EXPECT_EQ(talk.effects<Notice>().size(), 1U);
  const std::uint64_t before = talk.attempt().held().last_seq;
  talk.report(std::nullopt, 3);
  EXPECT_EQ(talk.attempt().held().last_seq, before + 1) << "what decides is always kept";
}

TEST(Reports, HoldMeansSilence) {
  Conversation talk = Conversation::running();
  talk.attempt().hold();
  talk.report(first, 1);
  EXPECT_EQ(talk.answers().size(), 1U);
  EXPECT_TRUE(talk.sent().empty());
  talk.attempt().go_on(0, talk.out());
  EXPECT_EQ(talk.sent().size(), 1U);
}

// --- the end of an attempt ---

TEST(Finish, AnAcknowledgedExitLeavesItsLogs) {
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

TEST(Finish, AFencedProgramIsKilledAndLeavesNothing) {
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

// Found by hpsearch-sim: the agent woke up for a write that a fenced attempt does not make, again and again.
TEST(Finish, AFencedAttemptAsksNotToBeWokenForItsSpool) {
  Conversation talk = Conversation::running();
  talk.attempt().said({talk.attempt().key(), first, R"({"type":"report","step":3,"metrics":{"acc":0.5}})"}, talk.now(),
                      talk.out());
  talk.attempt().spool(talk.now(), talk.out());
  const auto writes = talk.effects<WriteSpool>();
  ASSERT_EQ(writes.size(), 1U);
  talk.attempt().spool_not_written(writes[0].write, "no space left on device", talk.now(), talk.out());
  ASSERT_TRUE(talk.attempt().next_wake().has_value());
  talk.attempt().fenced(talk.out());
  EXPECT_EQ(talk.attempt().next_wake(), std::nullopt);
}

TEST(Finish, AFenceWhileStartingKillsTheProgramWhenItIsThere) {
  Conversation talk;
  talk.attempt().start();
  talk.spool();
  talk.attempt().fenced(talk.out());
  EXPECT_EQ(talk.signals(), Lines{});
  talk.attempt().started(talk.now(), talk.out());
  EXPECT_EQ(talk.signals(), (Lines{"KILL"}));
  EXPECT_TRUE(talk.out().messages.empty());
}

TEST(Finish, AFencedExitIsDroppedAtOnce) {
  Conversation talk = Conversation::running();
  talk.end(false, 1);
  talk.attempt().fenced(talk.out());
  EXPECT_TRUE(talk.attempt().finished());
}

TEST(Finish, TheSameLeaseAgainIsOnlyAnsweredStarted) {
  Conversation talk = Conversation::running();
  talk.attempt().lease_again(talk.out());
  ASSERT_EQ(talk.out().messages.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<proto::Started>(talk.out().messages[0]));
  EXPECT_TRUE(talk.effects<StartProgram>().empty());
}

TEST(Exits, OfAFullMemoryAreSaidOnlyWhenItFailed) {
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

TEST(Exits, AfterASignalThatAnEarlierAgentSentAreNotTheProgramsFault) {
  Conversation talk = Conversation::running();
  talk.attempt().ended({talk.attempt().key(), true, 15, "", true, false}, talk.out());
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::ended_by_agent);
}

// --- what survives SIGKILL ---

TEST(Unkillable, ItsTrialIsGivenBackAndItsSlotsAreNot) {
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
  EXPECT_TRUE(talk.attempt().leaves_remains());
  talk.end(true, 9);
  EXPECT_TRUE(talk.attempt().finished());
  EXPECT_FALSE(talk.attempt().leaves_remains());
}

TEST(Unkillable, GoneBeforeItsExitIsAcknowledgedItStillReportsIt) {
  Conversation talk = Conversation::running();
  talk.attempt().stuck("process 7 survives SIGKILL", talk.out());
  EXPECT_EQ(talk.exit_report().cause, ExitReport::Cause::lost) << "nobody saw how its first process ended";
  talk.attempt().lost("its keeper is gone", talk.out());
  EXPECT_FALSE(talk.attempt().finished());
  talk.attempt().acknowledged(1, talk.out());
  EXPECT_TRUE(talk.attempt().finished());
}

TEST(Unkillable, AFencedOneIsForgottenWhenItIsGone) {
  Conversation talk = Conversation::running();
  talk.attempt().fenced(talk.out());
  talk.attempt().stuck("process 7 survives SIGKILL", talk.out());
  EXPECT_TRUE(talk.attempt().exited());
  EXPECT_FALSE(talk.attempt().finished());
  EXPECT_TRUE(talk.sent().empty());
  talk.end(true, 9);
  EXPECT_TRUE(talk.attempt().finished());
}

TEST(Unkillable, WaitsForTheCheckpointThatIsOnItsWay) {
  Conversation talk = Conversation::running();
  talk.say(R"({"type":"checkpoint","step":2})");
  talk.attempt().stuck("process 7 survives SIGKILL", talk.out());
  EXPECT_FALSE(talk.attempt().exited());
  talk.publish(2);
  EXPECT_TRUE(talk.exit_report().unkillable);
}

/// An attempt that runs, and its disk, from which the next agent takes it over.
class Spooling {
 public:
  Spooling() : attempt(Conversation::spec(), AttemptRules{}) {
    attempt.start();
    write();
    attempt.started(now, out);
  }
  /// What is wanted written, begun and, if the disk is not slow, done.
  void write(bool slow = false) {
    AttemptOutput wanted;
    attempt.spool(now, wanted);
    for (const Effect& effect : wanted.effects) {
      if (const auto* one = std::get_if<WriteSpool>(&effect)) {
        spool = one->anew ? one->bytes : spool + one->bytes;
        under_way = one->write;
        if (!slow) {
          attempt.spool_written(under_way, out);
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

/// It looks for what is left, and goes when that has gone.
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

TEST(Unkillable, TheNextAgentLooksForItAgain) {
  Spooling disk;
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.write();
  expect_to_wait_for_its_remains(disk.next());
}

TEST(Unkillable, TheNextAgentLooksForAFencedOneToo) {
  Spooling disk;
  disk.attempt.fenced(disk.out);
  disk.write();
  EXPECT_FALSE(disk.next().held().exited) << "fenced, it is killed, and the next agent may have to do that again";
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.write();
  EXPECT_EQ(disk.next().held().first_seq, disk.next().held().last_seq + 1) << "it has nothing to report";
  expect_to_wait_for_its_remains(disk.next());
}

TEST(Unkillable, FencedAfterwardsItIsStillWrittenDown) {
  Spooling disk;
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.attempt.fenced(disk.out);
  disk.write();
  expect_to_wait_for_its_remains(disk.next());
}

TEST(Unkillable, IsToldWhenTheNextAgentWouldTellItToo) {
  Spooling disk;
  disk.attempt.fenced(disk.out);
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.write(true);
  EXPECT_TRUE(disk.attempt.leaves_remains());
  EXPECT_FALSE(disk.attempt.tells_remains());
  EXPECT_FALSE(disk.attempt.held().unkillable);
  disk.attempt.spool_written(disk.under_way, disk.out);
  EXPECT_TRUE(disk.attempt.tells_remains());
  EXPECT_TRUE(disk.attempt.held().unkillable);
  EXPECT_TRUE(disk.next().tells_remains());
}

TEST(Unkillable, WhileACheckpointIsOnItsWayTheNextAgentFindsOutByItself) {
  Spooling disk;
  disk.attempt.said({Conversation::spec().key, QuestionId{1}, R"({"type":"checkpoint","step":2})", 1, false}, disk.now,
                    disk.out);
  disk.attempt.stuck("process 7 survives SIGKILL", disk.out);
  disk.attempt.decided({Lsn{9}, Directive::kill, Units{}}, disk.now, disk.out);
  disk.write();
  AttemptMachine next = disk.next();
  EXPECT_FALSE(next.leaves_remains()) << "its exit is still to be reported";
  next.started(disk.now, disk.out);
  next.ended({Conversation::spec().key, true, 9, "", true, false}, disk.out);
  next.not_published(false, "the disk is full", disk.now, disk.out);
  EXPECT_TRUE(next.exited());
}

// --- programs that say nothing ---

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
        attempt.spool_written(write->write, out);
      }
    }
  }
  /// As its shell would: wakes it when it wants to be woken.
  void pass(Duration time) {
    const Instant end = now + time;
    while (attempt.next_wake() && *attempt.next_wake() <= end) {
      now = std::max(now, *attempt.next_wake());
      attempt.look_at_clock(now, out);
      spool();
    }
    now = end;
  }
  void say(const std::string& line) {
    attempt.said({attempt.key(), first, line}, now, out);
    spool();
  }
  [[nodiscard]] std::size_t signals() const {
    return static_cast<std::size_t>(std::count_if(out.effects.begin(), out.effects.end(), [](const Effect& effect) {
      return std::holds_alternative<SignalProgram>(effect);
    }));
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
  EXPECT_EQ(report.message, "ended: it said nothing for 600 s (progress_timeout)");
  EXPECT_EQ(report.log_tail, "epoch 3");
}

TEST(NoProgress, WhateverTheProgramSaysIsProgress) {
  Impatient talk;
  for (int i = 0; i < 10; ++i) {
    talk.pass(Duration::seconds(500));
    talk.say(R"({"type":"report","step":1,"metrics":{"loss":1}})");
  }
  EXPECT_EQ(talk.signals(), 0U);
  EXPECT_EQ(talk.attempt.last_step(), Units{1});
  EXPECT_EQ(talk.attempt.silent_since(), talk.now);
}

TEST(NoProgress, WhoWaitsForAnAnswerIsNotSilent) {
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

TEST(NoProgress, ALateLookFindsNothingOut) {
  Impatient talk;
  talk.now = talk.now + Duration::seconds(4'000);  // The agent was stopped; what the program said lies unread.
  talk.attempt.look_at_clock(talk.now, talk.out);
  EXPECT_EQ(talk.signals(), 0U);
  talk.say(R"({"type":"report","step":1,"metrics":{"loss":1}})");
  talk.pass(Duration::seconds(599));
  EXPECT_EQ(talk.signals(), 0U);
}

TEST(NoProgress, OffByDefault) {
  Conversation talk = Conversation::running();
  talk.pass(Duration::seconds(1'000'000));
  EXPECT_EQ(talk.signals(), Lines{});
  EXPECT_EQ(talk.attempt().next_wake(), std::nullopt);
}

}  // namespace
}  // namespace hpsearch::workers
