#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "messages.hpp"
#include "workers/core/fixtures/conversation.hpp"
#include "workers/core/fixtures/program_line.hpp"

// Messages of a program: answered, noted, numbered, and sent until the daemon has them.

namespace hpsearch::workers::test {
namespace {

using Lines = std::vector<std::string>;

// --- answers ---

TEST(Answers, BelowTheLengthTheProgramContinuesAtOnce) {
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

TEST(Answers, ShimGetsTheNewLengthBeforeTheProgram) {
  Conversation talk = Conversation::running();
  talk.effects<AnswerAhead>();
  talk.report(first, 3);
  talk.decide(50, Directive::train_on, 9);
  EXPECT_EQ(talk.answers_in_order(), (Lines{"ahead", "answer"}));
}

TEST(Answers, AtTheLengthWithoutTheMetricTheProgramContinues) {
  Conversation talk = Conversation::running();
  talk.report(first, 3, R"("loss":1)");
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"continue","length":3})"}));
}

TEST(Answers, MetricThatIsNotANumberIsAQuestion) {
  Conversation talk = Conversation::running();
  talk.report(first, 3, R"("acc":NaN)");
  EXPECT_EQ(talk.answers(), Lines{});
  talk.decide(50, Directive::stop);
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"stop","length":3})"}));
}

TEST(Answers, WaitingPauseIsTheAnswerToTheNextReport) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.answers();
  talk.decide(50, Directive::pause);
  EXPECT_EQ(talk.answers(), Lines{});
  talk.report(first, 2);
  EXPECT_EQ(talk.answers(), (Lines{R"(1 {"directive":"pause","length":3})"}));
}

TEST(Answers, WithdrawnDecisionIsNotAnswered) {
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

TEST(Answers, RepeatedQuestionIsOneReportWithTwoAnswers) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  talk.report(second, 3);
  talk.decide(50, Directive::train_on, 9);
  EXPECT_EQ(talk.answers().size(), 2U);
  EXPECT_EQ(talk.attempt().held().last_seq, 1U);
}

TEST(Answers, AnotherValueOfTheSameStepIsAnotherReport) {
  Conversation talk = Conversation::running();
  talk.report(first, 3);
  talk.report(second, 3, R"("acc":0.25)");
  talk.decide(50, Directive::train_on, 9);
  EXPECT_EQ(talk.answers().size(), 2U);
  EXPECT_EQ(talk.attempt().held().last_seq, 2U);
}

TEST(Answers, InvalidLineIsReportedToTheProgramAndOnceToTheOperator) {
  Conversation talk = Conversation::running();
  talk.say("hello");
  talk.say("hello");
  const Lines answers = talk.answers();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_NE(answers[0].find(R"({"error":"not a JSON object)"), std::string::npos) << answers[0];
  EXPECT_EQ(talk.effects<Notice>().size(), 1U);
  EXPECT_EQ(talk.notes(), Lines{"misunderstood"});
}

TEST(Notes, CorrectReportsHaveNone) {
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

TEST(Notes, FallingStepIsNotedOnce) {
  Conversation talk = Conversation::running();
  talk.report(first, 2);
  talk.report(first, 1);
  talk.report(first, 0);
  EXPECT_EQ(talk.notes(), Lines{"backward"});
  EXPECT_EQ(talk.effects<Notice>().size(), 1U);
}

TEST(Notes, TwoOutputsMayHaveDifferentOrders) {
  Conversation talk = Conversation::running();
  for (int step = 1; step <= 3; ++step) {
    talk.report(std::nullopt, step, R"("loss":0.5)");
  }
  for (int step = 1; step <= 3; ++step) {
    talk.report(std::nullopt, step);
  }
  EXPECT_EQ(talk.notes(), Lines{"missing"}) << "of the first report";
  talk.report(std::nullopt, 2);
  EXPECT_EQ(talk.notes(), (Lines{"missing", "backward"}));
}

TEST(Notes, BufferedOutputAtTheEnd) {
  Conversation talk = Conversation::running();
  talk.pass(Duration::seconds(3));
  for (int step = 1; step <= 3; ++step) {
    talk.report(std::nullopt, step);
    talk.pass(Duration::millis(20));
  }
  EXPECT_EQ(talk.notes(), Lines{});
  talk.end(false, 0);
  EXPECT_EQ(talk.notes(), Lines{"late"});
}

// The shim answers reports below the length, so the machine gets them without a question to answer.
TEST(Notes, ReportsOverTheSocketAreNeverBuffered) {
  for (const bool prints_too : {false, true}) {
    Conversation talk = Conversation::running();
    talk.pass(Duration::seconds(3));
    for (int step = 1; step <= 3; ++step) {
      if (prints_too) {
        talk.report(std::nullopt, step);
      }
      const std::string line =
          R"({"type":"report","step":)" + std::to_string(step) + R"(,"metrics":{"acc":0.5}})";
      talk.attempt().said(program_line(talk.attempt().key(), first, line, 0, step < 3), talk.now(),
                          talk.out());
      talk.spool();
      talk.pass(Duration::millis(20));
    }
    talk.end(false, 0);
    EXPECT_EQ(talk.notes(), Lines{}) << prints_too;
  }
}

TEST(Notes, UnbufferedOutputIsNotLate) {
  for (const auto& [silence, between, steps] :
       std::vector<std::tuple<int, int, int>>{{3000, 100, 3},  // A slow beginning, then one at a time.
                                              {1000, 0, 3},    // All quickly.
                                              {3000, 0, 2}}) {
    Conversation talk = Conversation::running();
    talk.pass(Duration::millis(silence));
    for (int step = 1; step <= steps; ++step) {
      talk.report(std::nullopt, step);
      talk.pass(Duration::millis(between));
    }
    talk.end(false, 0);
    EXPECT_EQ(talk.notes(), Lines{}) << silence << " " << between << " " << steps;
  }
}

TEST(Notes, RestartInsteadOfResuming) {
  LaunchSpec spec = Conversation::spec();
  spec.latest_step = Units{2};
  AttemptMachine attempt(spec, Conversation::at_once({}));
  AttemptOutput out;
  const Instant now = Instant::from_micros(1);
  attempt.start();
  attempt.spool(now, out);
  attempt.spool_written(1, now, out);
  attempt.started(now, out);
  attempt.said(program_line(attempt.key(), first, R"({"type":"report","step":1,"metrics":{"acc":1}})"), now,
               out);
  const auto is_note = [](const Effect& effect) {
    const auto* notice = std::get_if<Notice>(&effect);
    return notice != nullptr && notice->text.find("HPSEARCH_LATEST_CHECKPOINT") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(out.effects.begin(), out.effects.end(), is_note), 1);
}

TEST(Notes, ReportsTooFarApartAreNotedAtTheFirst) {
  Conversation talk = Conversation::running();
  talk.report(first, 2);
  talk.report(first, 4);
  EXPECT_EQ(talk.notes(), Lines{"sparse"});
}

TEST(Notes, FirstReportBeyondTheLengthIsCalledTheFirst) {
  Conversation talk = Conversation::running();
  talk.report(first, 4);
  const auto notices = talk.effects<Notice>();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_MESSAGE(notices[0].text);
}

TEST(Notes, FirstReportWithoutTheMetric) {
  Conversation talk = Conversation::running();
  talk.report(first, 1, R"("accuracy":1)");
  EXPECT_EQ(talk.notes(), Lines{"missing"});
  const auto notices = talk.effects<Notice>();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(
      notices[0].text,
      "experiment 1 trial 2 attempt 3: at 1 it reported \"accuracy\"; the search's metric is \"acc\" (did "
      "you mean \"accuracy\"?)");
}

TEST(Notes, TrainingReportMayLackTheMetric) {
  Conversation talk = Conversation::running();
  talk.report(first, 1, R"("training.loss":1)");
  EXPECT_EQ(talk.notes(), Lines{});
}

TEST(Notes, PassingTheLengthWithoutTheMetric) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.report(first, 3, R"("accuracy":1)");
  EXPECT_EQ(talk.notes(), Lines{});  // It may be in a second report of the same step.
  talk.report(first, 4, R"("accuracy":1)");
  EXPECT_EQ(talk.notes(), Lines{"missing"});
}

TEST(Notes, NaNFromTheFirstReportOn) {
  Conversation talk = Conversation::running();
  talk.report(first, 1, R"("acc":NaN)");
  talk.report(first, 2, R"("acc":NaN)");
  EXPECT_EQ(talk.notes(), Lines{"not_finite"});
}

TEST(Notes, NaNAfterAFiniteValueIsNot) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.report(first, 2, R"("acc":NaN)");
  EXPECT_EQ(talk.notes(), Lines{});
}

TEST(Notes, StepThatDoesNotGrowIsNotedAndThenEndsTheProgram) {
  Conversation talk = Conversation::running();
  for (int i = 0; i < 9; ++i) {
    talk.report(first, 1);
  }
  EXPECT_EQ(talk.notes(), Lines{});
  talk.report(first, 1);
  EXPECT_EQ(talk.notes(), Lines{"standing"});
  for (int i = 10; i < 999; ++i) {
    talk.report(first, 1);
  }
  EXPECT_TRUE(talk.effects<SignalProgram>().empty());
  talk.report(first, 1);
  EXPECT_EQ(talk.effects<SignalProgram>().size(), 1U);
}

TEST(Notes, LineThatLooksLikeAReport) {
  Conversation talk = Conversation::running();
  talk.tell(std::nullopt,
            LookalikeMessage{"INFO HPSEARCH {\"step\": 1}", "other text stands before HPSEARCH"});
  EXPECT_EQ(talk.notes(), Lines{"malformed_report"});
}

TEST(Notes, UnreadLineNamesThePatternThatReadsIt) {
  Conversation talk = Conversation::running();
  talk.tell(std::nullopt,
            UnreadMessage{.line = "it's epoch 1 acc=0.5", .pattern = "it's epoch {step} acc={number}"});
  const std::vector<engine::NoteReport> notes = talk.whole_notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes.front().about, "unread");
  EXPECT_MESSAGE(notes.front().text);
}

TEST(Notes, PatternThatReadsAnotherMetricIsNotedOnce) {
  Conversation talk = Conversation::running();
  for (int line = 0; line < 2; ++line) {
    talk.tell(std::nullopt, DoubtfulMessage{"loss", "val_loss: 0.25 loss: 0.5", "val_loss"});
  }
  const std::vector<engine::NoteReport> notes = talk.whole_notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes.front().about, "other_metric");
  EXPECT_MESSAGE(notes.front().text);
}

TEST(Notes, PatternWhoseLinesAreNotEpochs) {
  LaunchSpec of_epochs = Conversation::spec();
  of_epochs.unit = "epochs";
  Conversation talk = Conversation::running({}, of_epochs);
  talk.tell(std::nullopt, DoubtfulMessage{"loss", "Epoch 1/3, batch 2: loss 0.5", ""});
  const std::vector<engine::NoteReport> notes = talk.whole_notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes.front().about, "each_batch");
  EXPECT_MESSAGE(notes.front().text);
}

TEST(Notes, ValueThatIsNoNumber) {
  Conversation talk = Conversation::running();
  talk.report(first, 1, R"("acc":1,"name":"x")");
  talk.tell(std::nullopt, UnreadableMessage{"acc", "n/a", "there is no number in it"});
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

void expect_about(Duration expected, Duration given) {
  EXPECT_GE(given.in_seconds(), 0.8 * expected.in_seconds());
  EXPECT_LE(given.in_seconds(), 1.2 * expected.in_seconds());
}

LaunchSpec long_one(std::uint64_t lease = 40) {
  LaunchSpec spec = Conversation::spec();
  spec.key.lease = LeaseId{lease};
  spec.length = Units{100};
  return spec;
}

TEST(Reports, ResendWaitFollowsTheTimeOfAcknowledgements) {
  Conversation talk = Conversation::running({}, long_one());
  int step = 0;
  const auto say = [&] {
    talk.report(first, ++step);
    ASSERT_EQ(talk.sent().size(), 1U);
  };
  const auto wait = [&] { return *talk.attempt().next_wake() - talk.now(); };
  const auto answer = [&] {
    talk.attempt().answered(static_cast<std::uint64_t>(step), talk.now(), talk.out());
  };
  say();
  talk.pass(Duration::millis(700));
  answer();
  say();
  expect_about(Duration::millis(2'800), wait());
  // The acknowledgement of a repeated batch is ambiguous.
  talk.pass(wait());
  ASSERT_EQ(talk.sent().size(), 1U);
  talk.pass(Duration::millis(1));
  answer();
  say();
  expect_about(Duration::millis(2'800), wait());
  for (int quick = 0; quick < 30; ++quick) {
    answer();
    say();
  }
  expect_about(Duration::seconds(1), wait());
}

TEST(Reports, AreNotResentByAllAttemptsAtOnce) {
  std::set<Duration> waits;
  for (std::uint64_t lease = 1; lease <= 20; ++lease) {
    Conversation talk = Conversation::running({}, long_one(lease));
    talk.report(first, 1);
    talk.sent();
    waits.insert(*talk.attempt().next_wake() - talk.now());
  }
  EXPECT_EQ(waits.size(), 20U);
}

TEST(Reports, WaitAsLongAsTheDaemonRequests) {
  Conversation talk = Conversation::running();
  talk.attempt().asked_to_wait(talk.now() + Duration::seconds(4));
  EXPECT_EQ(talk.attempt().next_wake(), std::nullopt) << "nothing of it waits for an answer";
  talk.report(first, 1);
  talk.sent();
  for (int resend = 0; resend < 2; ++resend) {
    talk.pass(*talk.attempt().next_wake() - talk.now());
    EXPECT_EQ(talk.sent().size(), 1U);
  }
  EXPECT_EQ(talk.attempt().unanswered_resends(), 2U);
  talk.attempt().asked_to_wait(talk.now() + Duration::millis(2'500));
  EXPECT_EQ(talk.attempt().unanswered_resends(), 0U);
  EXPECT_EQ(talk.attempt().next_wake(), talk.now() + Duration::millis(2'500));
  talk.pass(Duration::millis(2'500));
  EXPECT_EQ(talk.sent().size(), 1U);
  expect_about(Duration::seconds(2), *talk.attempt().next_wake() - talk.now());  // The waits start again.
}

TEST(Reports, AreResentWithGrowingWaitsUntilAcknowledged) {
  Conversation talk = Conversation::running();
  talk.report(first, 1);
  talk.sent();
  for (const int seconds : {1, 2, 4, 8, 16, 30, 30}) {
    const Duration wait = *talk.attempt().next_wake() - talk.now();
    expect_about(Duration::seconds(seconds), wait);
    talk.pass(wait);
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

TEST(Reports, ContinueAfterDurableOnesInANewSession) {
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

TEST(Reports, GapIsFilledFromItsBeginning) {
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
  EXPECT_EQ(next, 32U) << "30, and a note that none has the metric";
}

TEST(Reports, WindowLimitsUnacknowledgedReports) {
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

TEST(Reports, NumberOfSmallBatchesInFlightIsLimited) {
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

TEST(Reports, SilentDaemonCostsBoundedMemory) {
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

TEST(Reports, BeyondTheLengthAreBounded) {
  AttemptRules rules;
  rules.kept_bytes = 10'000;
  Conversation talk = Conversation::running(rules);
  for (int step = 3; step < 1000; ++step) {
    talk.report(std::nullopt, step);
  }
  EXPECT_LT(talk.attempt().held().last_seq, 200U) << "the first of them has asked";
  const std::uint64_t before = talk.attempt().held().last_seq;
  talk.decide(5, Directive::train_on, 2000);
  talk.report(std::nullopt, 1999);
  EXPECT_EQ(talk.attempt().held().last_seq, before);
  talk.report(std::nullopt, 2000);
  EXPECT_EQ(talk.attempt().held().last_seq, before + 1) << "and the next length is asked about";
}

TEST(Reports, UnkeptQuestionsWaitForTheDecision) {
  AttemptRules rules;
  rules.kept_bytes = 1;
  Conversation talk = Conversation::running(rules);
  talk.report(first, 3);
  talk.report(second, 4);
  EXPECT_EQ(talk.attempt().held().last_seq, 1U);
  EXPECT_TRUE(talk.answers().empty());
  talk.decide(5, Directive::stop);
  EXPECT_EQ(talk.answers().size(), 2U);
}

TEST(Reports, LeftOutGiveTheJournalsSpaceBackAllTheSame) {
  AttemptRules rules;
  rules.kept_bytes = 1;
  Conversation talk = Conversation::running(rules);
  talk.report(std::nullopt, 1);
  talk.spool();
  talk.clear();
  ProgramMessageReceived said =
      program_line(talk.attempt().key(), std::nullopt, R"({"step":1,"acc":0.5})", 1'000);
  talk.attempt().said(said, talk.now(), talk.out());
  AttemptOutput out;
  talk.attempt().spool(talk.now(), out);
  EXPECT_TRUE(out.effects.empty()) << "nothing is new";
  said.position = 32'000'000;
  talk.attempt().said(said, talk.now(), talk.out());
  talk.attempt().spool(talk.now(), out);
  ASSERT_EQ(out.effects.size(), 1U);
  EXPECT_EQ(std::get<WriteSpool>(out.effects[0]).position, 32'000'000U);
}

TEST(Reports, ThatTheDaemonKnowsAndTheSpoolDoesNotAreLeftBehind) {
  Conversation talk = Conversation::running();
  const auto say = [&talk](int step) {
    const std::string line = R"({"step":)" + std::to_string(step) + R"(,"acc":0.5})";
    talk.attempt().said(program_line(talk.attempt().key(), std::nullopt, line), talk.now(), talk.out());
  };
  say(1);
  say(2);
  talk.attempt().go_on(1, talk.out());  // Before any of it is in this spool: a copy of the state directory.
  AttemptOutput out;
  talk.attempt().spool(talk.now(), out);
  ASSERT_EQ(out.effects.size(), 1U);
  const auto& write = std::get<WriteSpool>(out.effects[0]);
  EXPECT_TRUE(write.anew) << "what stands there does not lead up to it";
  const auto read = read_spool(write.bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->state.acked, 1U);
  ASSERT_EQ(read->reports.size(), 1U);
  EXPECT_EQ(std::get<MetricsReport>(read->reports[0]).step, Units{2});
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

}  // namespace
}  // namespace hpsearch::workers::test
