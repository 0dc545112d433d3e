#include <gtest/gtest.h>

#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/sentences/explanation.hpp"
#include "hpsearch/proto/sentences/reason.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"
#include "hpsearch/proto/sentences/wait.hpp"
#include "messages.hpp"

namespace hpsearch::sentences {
namespace {

// The English sentences are those of the other tests of this folder.

using namespace engine;  // NOLINT(google-build-using-namespace)
using Why = Reason::Why;

constexpr Language chinese = Language::chinese;

std::string in_chinese(const Reason& reason, std::string_view unit = "epochs") {
  return describe(reason, unit, chinese);
}

std::string waits(const Wait& wait) {
  return why_trial_waits(wait, chinese);
}

std::string now_in_chinese(TrialNow fact, Reason reason = {}) {
  Explanation explanation;
  explanation.now = std::move(fact);
  explanation.reason = std::move(reason);
  return now_text(explanation, "epochs", chinese);
}

std::string next_in_chinese(TrialNext fact, const Explanation& numbers = {}) {
  Explanation explanation = numbers;
  explanation.next = std::move(fact);
  return next_text(explanation, "epochs", chinese);
}

Reason standing(std::uint64_t rank, std::uint64_t size, std::uint64_t keep) {
  Reason reason{Why::waits_at_rung, {}, 0, rank, size, keep, {}, ""};
  reason.at = Units{1};
  return reason;
}

TEST(ChineseReasons, Ranks) {
  Reason reason{Why::promoted, 0, 1, 2, 17, 4, 0.912, ""};
  reason.at = Units{9};
  EXPECT_MESSAGE(in_chinese(reason));
  reason.bracket = 2;
  reason.keep.reset();
  EXPECT_MESSAGE(describe_rank(reason, "epochs", chinese));
  Reason begun{Why::new_trial, 1, 2, {}, {}, {}, {}, ""};
  begun.at = Units{9};
  EXPECT_MESSAGE(in_chinese(begun));
  EXPECT_MESSAGE(in_chinese(standing(1, 2, 0)));
}

TEST(ChineseReasons, Details) {
  Reason reason;
  reason.why = Why::early_exit;
  reason.detail = "exit status 1";
  EXPECT_MESSAGE(in_chinese(reason));
  reason.detail = "out of luck";
  EXPECT_MESSAGE(in_chinese(reason));
  reason.why = Why::paused_itself;
  reason.detail.clear();
  EXPECT_MESSAGE(in_chinese(reason));
  reason.why = Why::max_length;
  reason.detail = "its program ended at 3 epochs of 9 epochs";
  EXPECT_MESSAGE(in_chinese(reason));
  reason.why = Why::repeat;
  reason.near = 17;
  reason.detail = "2 of 3";
  EXPECT_MESSAGE(in_chinese(reason));
}

TEST(ChineseReasons, RulesThatStopTrials) {
  Reason compared;
  compared.why = Why::worse_than_others;
  compared.rank = 6;
  compared.size = 9;
  compared.keep = 4;
  compared.cutoff = 0.31;
  compared.value = 0.52;
  compared.at = Units{5};
  compared.detail = "50";
  EXPECT_MESSAGE(in_chinese(compared));
  compared.detail = "25";
  EXPECT_MESSAGE(in_chinese(compared));
  Reason impatient;
  impatient.why = Why::no_improvement;
  impatient.detail = "4";
  impatient.at = Units{4};
  EXPECT_MESSAGE(in_chinese(impatient));
  impatient.value = 0.75;
  impatient.cutoff = 0.625;
  EXPECT_MESSAGE(in_chinese(impatient));
}

TEST(ChineseReasons, Draws) {
  Reason reason;
  reason.why = Why::near_trial;
  reason.near = 12;
  reason.near_rank = 2;
  reason.results = 40;
  reason.spread = 1.0 / 3;
  EXPECT_MESSAGE(in_chinese(reason));
  Reason chosen;
  chosen.why = Why::model_choice;
  chosen.rung = 1;
  chosen.at = Units{3};
  chosen.expected = ExpectedResult{0.93123, 0.01249, -3.2149, 0.834, {12, 7, 3}};
  EXPECT_MESSAGE(in_chinese(chosen, ""));
  Reason early;
  early.why = Why::before_model;
  early.results = 3;
  EXPECT_MESSAGE(in_chinese(early));
}

TEST(ChineseWaits, LimitsOfTheExperiment) {
  EXPECT_MESSAGE(waits(WaitForResume{}));
  EXPECT_MESSAGE(waits(WaitForConcurrency{1, 0, {2, std::nullopt}}));
  EXPECT_MESSAGE(waits(WaitForConcurrency{4, 1, {4, 4}}));
  EXPECT_MESSAGE(waits(WaitForFirstReport{2, 0, "exit status 1: no data", {}, 3}));
  EXPECT_MESSAGE(waits(WaitForMaxSlots{4, 2, 5}));
  EXPECT_MESSAGE(waits(WaitForQuota{"nlp", "ann", 3, 2, 4, true}));
  EXPECT_MESSAGE(waits(WaitForSlotHours{"nlp", Duration::seconds(36'000), 10, {}}));
}

TEST(ChineseWaits, Workers) {
  const WantedWorkers big{"big", {{"disk", "fast"}, {"gpu", "h200"}}};
  EXPECT_MESSAGE(waits(WaitForWorker{}));
  EXPECT_MESSAGE(waits(WaitForWorker{big}));
  EXPECT_MESSAGE(waits(WaitForRelease{{}, 1, 2}));
  EXPECT_MESSAGE(waits(WaitForGang{{4, 2, WantedWorkers{"big", {}}}, 2, 2, 1}));
  EXPECT_MESSAGE(
      waits(WaitForFreeSlots{0,
                             3,
                             0,
                             0,
                             1,
                             std::nullopt,
                             {{2, "in use by search lr (process 12)"}, {1, "promised to x, which waits"}}}));
  EXPECT_MESSAGE(waits(WaitForTime{Duration::seconds(2'420), 12, "gpu-17", Duration::seconds(1'980)}));
  EXPECT_MESSAGE(why_experiment_waits(
      Wait(WaitForRetry{TrialNumber(7), 2, "gpu-7", "no such image", Duration::seconds(8)}), chinese));
  EXPECT_MESSAGE(why_worker_rests(WorkerRest{2, Duration::seconds(1)}, chinese));
}

TEST(ChineseExplanations, Now) {
  EXPECT_MESSAGE(
      now_in_chinese(NowTrains{AttemptNumber(2), {{"a", true}, {"b", false}}, Units{3}, Units{9}}));
  EXPECT_MESSAGE(now_in_chinese(NowNeedsSlots{2, Units{1}, Units{9}}));
  EXPECT_MESSAGE(now_in_chinese(NowAtRung{Units{4}, Units{1}}, standing(3, 9, 3)));
  Reason full;
  full.why = Why::max_length;
  EXPECT_MESSAGE(now_in_chinese(NowEnded{TrialState::completed, Units{9}}, full));
}

TEST(ChineseExplanations, Next) {
  EXPECT_MESSAGE(next_in_chinese(NextDecision{"val_acc", Units{4}}));
  EXPECT_MESSAGE(next_in_chinese(NextExit{Directive::pause, true}));
  Explanation numbers;
  numbers.reason = standing(0, 9, 3);
  numbers.ahead = 2;
  EXPECT_MESSAGE(next_in_chinese(NextPromotion{WaitForResume{}}, numbers));
  numbers.results_needed = 2;
  numbers.results_to_come = 5;
  EXPECT_MESSAGE(next_in_chinese(NextResults{}, numbers));
  numbers.results_needed = 3;
  numbers.results_to_come = 0;
  EXPECT_MESSAGE(next_in_chinese(NextResults{.exhausted = true, .wait = {}}, numbers));
  EXPECT_MESSAGE(finishing_text(Duration::seconds(3'600), chinese));
}

TEST(StoredSentence, IsKnownWithWhatItHolds) {
  const auto stored = [](std::string_view text) { return stored_in(chinese, text); };
  EXPECT_MESSAGE(stored("canceled by a user"));
  EXPECT_MESSAGE(
      stored("every trial failed; the last: exit status 1: no data; it failed twice in the same way "
             "before its first report"));
  EXPECT_MESSAGE(
      stored("the space is exhausted: all its configurations were tried, in 3 trials (1 of them "
             "invalid); 5 were asked for; no trial was trained to the full length of 9 epochs, the "
             "longest to 1 epoch"));
  EXPECT_MESSAGE(
      stored("its program ended well at 3 epochs, and it was to train up to 9 epochs: what it "
             "reported there counts at every length. If your program trains 3 epochs, set "
             "searcher.max_length: {epochs: 3}"));
  EXPECT_MESSAGE(stored("trial 4 reached budget.target with val acc 0.9"));
}

TEST(StoredSentence, DatabaseThatIsAwayIsNamed) {
  EXPECT_EQ(
      stored_in(chinese,
                "the database postgresql://db/x is away; the daemon resumes automatically when it answers"),
      "数据库 postgresql://db/x 无法访问；恢复响应后守护进程会自动恢复");
}

TEST(StoredSentence, LinesOfALogStay) {
  EXPECT_EQ(stored_in(chinese, "exit status 1\nTraceback\nexit status 1"),
            "退出码 1\nTraceback\nexit status 1");
}

TEST(StoredSentence, OtherTextsStay) {
  for (const char* text : {"", "out of luck", "exit status ", "canceled by a user of mine", "3 epochs"}) {
    EXPECT_EQ(stored_in(chinese, text), text);
  }
  EXPECT_EQ(stored_in(Language::english, "canceled by a user"), "canceled by a user");
}

TEST(StoredSentence, EventsHaveTheirChangedMembersWhole) {
  const Value::Map event{
      {"type", "trial_ended"},
      {"hparams", Value::Map{{"why", "canceled by a user"}}},
      {"why", "out of luck"},
      {"reason", Value::Map{{"why", "early_exit"}, {"detail", "exit status 1"}, {"rank", 3}}},
      {"report", Value::Map{{"type", "exit"}, {"message", "ended by signal 11"}, {"code", 11}}}};
  EXPECT_EQ(compact_json(Value(sentences_in(chinese, event))),
            R"({"reason":{"detail":"退出码 1","rank":3,"why":"early_exit"},)"
            R"("report":{"code":11,"message":"被信号 11 结束","type":"exit"}})");
  EXPECT_TRUE(sentences_in(Language::english, event).empty());
}

}  // namespace
}  // namespace hpsearch::sentences
