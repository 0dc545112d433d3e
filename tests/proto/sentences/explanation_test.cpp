#include "hpsearch/proto/sentences/explanation.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "messages.hpp"

namespace hpsearch::sentences {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace)

std::string now(TrialNow fact, Reason reason = {}) {
  Explanation explanation;
  explanation.now = std::move(fact);
  explanation.reason = std::move(reason);
  return now_text(explanation, "epochs");
}

std::string next(TrialNext fact) {
  Explanation explanation;
  explanation.next = std::move(fact);
  return next_text(explanation, "epochs");
}

Reason at_rung(std::uint64_t rank, std::uint64_t size, std::uint64_t keep) {
  Reason reason{Reason::Why::waits_at_rung, {}, 0, rank, size, keep, {}, ""};
  reason.at = Units{1};
  return reason;
}

std::string promotion(std::uint64_t ahead) {
  Explanation explanation;
  explanation.next = NextPromotion{WaitForResume{}};
  explanation.reason = at_rung(0, 9, 3);
  explanation.ahead = ahead;
  return next_text(explanation, "epochs");
}

std::string results(std::uint64_t needed, std::uint64_t to_come, NextResults fact = {}) {
  Explanation explanation;
  explanation.next = std::move(fact);
  explanation.results_needed = needed;
  explanation.results_to_come = to_come;
  return next_text(explanation, "epochs");
}

TEST(NowText, TrainingTrial) {
  EXPECT_EQ(now(NowTrains{AttemptNumber(2), {{"a", false}}, Units{3}, Units{9}}),
            "attempt 2 trains on worker \"a\" and has reached 3 of 9 epochs");
  EXPECT_EQ(now(NowTrains{AttemptNumber(1), {{"a", true}, {"b", false}}, Units{0}, Units{1}}),
            "attempt 1 trains on workers \"a\" (gone), \"b\" and has reached 0 of 1 epoch");
}

TEST(NowText, WaitingTrial) {
  EXPECT_EQ(now(NowNeedsSlots{2, Units{1}, Units{9}}), "waits for 2 slots to train from 1 to 9 epochs");
  EXPECT_EQ(now(NowNeedsSlots{0, Units{0}, Units{9}}), "waits for a worker to train from 0 to 9 epochs");
  EXPECT_EQ(now(NowAwaitsResume{Units{3}}), "waits at 3 epochs because the experiment is paused");
  EXPECT_EQ(now(NowAtRung{Units{1}, Units{1}}, at_rung(0, 2, 0)),
            "at 1 epoch: waits at its rung; rank 1 of 2 at 1 epoch (too few results for a promotion)");
  EXPECT_EQ(
      now(NowAtRung{Units{4}, Units{1}}, at_rung(3, 9, 3)),
      "at 4 epochs (its rung is at 1 epoch): waits at its rung; rank 4 of 9 at 1 epoch (keeps the best 3)");
}

TEST(NowText, EndedTrial) {
  Reason reason;
  reason.why = Reason::Why::max_length;
  EXPECT_EQ(now(NowEnded{TrialState::completed, Units{9}}, reason),
            "has ended as COMPLETED at 9 epochs: trained to the maximum length");
}

TEST(FinishingText, HasTheTimeThatAProgramMayStillRun) {
  EXPECT_EQ(
      finishing_text(Duration::seconds(3'600)),
      "its program may finish what it does at its length, for 3600 s at most (environment.finish_within); "
      "its slots are in use until it exits");
}

TEST(NextText, EachFactHasItsSentence) {
  EXPECT_EQ(next(NextNothing{}), "");
  EXPECT_EQ(next(NextDecision{"val_acc", Units{4}}),
            "the searcher decides when the trial reports val_acc at 4 epochs");
  EXPECT_EQ(next(NextExit{Directive::stop, false}), "the attempt must stop and has not exited yet");
  EXPECT_EQ(next(NextExit{Directive::kill, false}), "the attempt is being killed and has not exited yet");
  EXPECT_EQ(next(NextExit{Directive::pause, true}),
            "the attempt must pause because the experiment exceeds its limits; it has not exited yet");
  EXPECT_EQ(next(NextExitOfLast{}), "its last attempt has not exited yet");
  EXPECT_EQ(next(NextEndOfExperiment{}), "the trial ends with its experiment, which is ending");
  EXPECT_EQ(next(NextResume{}), "the trial continues when the experiment is resumed");
  EXPECT_EQ(next(NextStop{}), "the trial is stopped");
  EXPECT_EQ(next(NextSlots{WaitForWorker{}}), "no worker is connected");
}

TEST(NextText, PromotedTrial) {
  EXPECT_EQ(promotion(0),
            "the trial is among the best 3 of 9 and gets the next free slot of this experiment. Waiting: the "
            "experiment is paused");
  EXPECT_EQ(
      promotion(2),
      "the trial is among the best 3 of 9 and is number 3 in the queue for free slots of this experiment. "
      "Waiting: the experiment is paused");
}

TEST(NextText, TrialThatNeedsResults) {
  EXPECT_EQ(
      results(2, 11),
      "the trial is promoted after 2 more results at its rung if all rank behind the trial, later if some "
      "rank "
      "ahead; at most 11 can arrive. When no more results can arrive, the trial is stopped unless it is "
      "promoted");
  EXPECT_EQ(
      results(1, 1),
      "the trial is promoted after 1 more result at its rung if it ranks behind the trial, later if it ranks "
      "ahead; at most 1 can arrive. When no more results can arrive, the trial is stopped unless it is "
      "promoted");
  EXPECT_MESSAGE(results(1, 1, {false, WaitForWorker{}}));
}

TEST(NextText, TrialThatCannotBePromoted) {
  EXPECT_EQ(
      results(30, 5),
      "the trial cannot be promoted at present: it needs 30 more results at its rung, and at most 5 can "
      "arrive. This changes if max_trials is raised or if trials that rank ahead end early. When no more "
      "results can arrive, the trial is stopped unless it is promoted");
  EXPECT_EQ(
      results(1, 0, {true, std::nullopt}),
      "the trial cannot be promoted at present: it needs 1 more result at its rung, and no more can arrive. "
      "This changes if on_duplicate is set to allow (every configuration was tried) or if trials that rank "
      "ahead end early. When no more results can arrive, the trial is stopped unless it is promoted");
}

}  // namespace
}  // namespace hpsearch::sentences
