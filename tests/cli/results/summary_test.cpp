#include "cli/results/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "cli/render/text.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "messages.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using testing::HasSubstr;

api::Trial trial(std::uint64_t number, engine::TrialState state, std::uint64_t reached = 0) {
  api::Trial trial;
  trial.trial = engine::TrialNumber(number);
  trial.state = state;
  trial.reached = trial.trained = engine::Units{reached};
  return trial;
}

SummaryInput finished_search() {
  SummaryInput input;
  api::Experiment& detail = input.detail;
  detail.id = engine::ExperimentId(3);
  detail.name = "digits";
  detail.state = engine::ExperimentState::completed;
  detail.metric = "val_acc";
  detail.unit = "epochs";
  detail.trials = {{"COMPLETED", 2}, {"STOPPED", 6}};
  detail.trials_total = 8;
  detail.best = api::BestResult{.trial = engine::TrialNumber(5), .metric = 0.975, .step = engine::Units{14}};
  detail.final_counts = {{"1", 4}, {"16", 2}, {"4", 2}};
  detail.max_length = engine::Units{16};
  detail.length_trained = 44;
  detail.length_full = 128;
  detail.slot_seconds = 36;
  detail.first_lease_at = 1000;
  detail.last_release_at = 1030;
  const std::uint64_t reached[] = {1, 1, 1, 1, 4, 16, 4, 16};
  for (std::uint64_t number = 0; number < 8; ++number) {
    input.trials.push_back(
        trial(number, reached[number] == 16 ? engine::TrialState::completed : engine::TrialState::stopped,
              reached[number]));
  }
  input.trials[5].hparams = {{"lr", 0.01}};
  input.trials[5].best_checkpoint = "/ck/5";
  input.trials[5].best_checkpoint_step = engine::Units{16};
  input.trials[5].best_checkpoint_metric = 0.97;
  input.trials[5].checkpoint = "/ck/last";
  input.slots = 2;
  input.idle_seconds = 10;
  input.wall_seconds = 50;
  input.engine_seconds = 0.25;
  return input;
}

TEST(Summary, CountsSlotsPausesAndSavings) {
  const Summary summary = summarize(finished_search());
  EXPECT_DOUBLE_EQ(summary.busy_share.value(), 36.0 / (2 * 20));
  EXPECT_DOUBLE_EQ(summary.engine_share.value(), 0.005);
  EXPECT_DOUBLE_EQ(summary.saved_share.value(), 1 - 44.0 / 128);
  ASSERT_TRUE(summary.best);
  EXPECT_EQ(summary.best->checkpoint.path, "/ck/5");
  EXPECT_EQ(summary.best->checkpoint.measured, "0.97 at 16");
  EXPECT_EQ(summary.best->hparams, Value(Value::Map{{"lr", 0.01}}));
  EXPECT_FALSE(summary.trouble);
}

TEST(Summary, TextHasTheSameFigures) {
  const std::string text = to_text(summarize(finished_search()), Output(Output::Format::json));
  for (const char* part :
       {"val_acc 0.975, trial 5 at 14 epochs", "1: 4, 4: 2, 16: 2", "early stopping saved 65.6 %",
        "busy 90.0 %", "engine 0.5 %", "/ck/5", "  lr: 0.01"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Summary, ListsFinalistsByTheirMeans) {
  SummaryInput input = finished_search();
  const auto training = [](std::uint64_t trial, std::optional<double> metric) {
    return api::Training{engine::TrialNumber(trial), metric};
  };
  input.detail.finalists = {
      {.mean = 0.95, .deviation = 0.0125, .trainings = {training(5, 0.9625), training(8, 0.9375)}},
      {.mean = 0.9, .trainings = {training(7, 0.9), training(9, std::nullopt)}}};
  const Summary summary = summarize(input);
  const std::string text = to_text(summary, Output(Output::Format::json));
  EXPECT_MESSAGE(text);
  EXPECT_EQ(*to_value(summary).at_path("finalists"), proto::encode_value(input.detail.finalists));
}

TEST(Summary, LeavesOutSharesWithoutData) {
  SummaryInput input;
  input.detail.id = engine::ExperimentId(1);
  input.detail.state = engine::ExperimentState::canceled;
  input.detail.metric = "loss";
  const Summary summary = summarize(input);
  EXPECT_FALSE(summary.busy_share);
  EXPECT_FALSE(summary.engine_share);
  EXPECT_FALSE(summary.saved_share);
  EXPECT_FALSE(summary.best);
  EXPECT_MESSAGE(to_text(summary, Output(Output::Format::json)));
}

TEST(Summary, SharesAreAtMostOne) {
  SummaryInput input = finished_search();
  input.idle_seconds = 29;  // The pause ended while a trial was still counted.
  EXPECT_DOUBLE_EQ(summarize(input).busy_share.value(), 1);
}

TEST(Summary, CountsRepeatedAndUnknownTraining) {
  SummaryInput input = finished_search();
  input.trials[4].trained = engine::Units{5};  // Promoted from 1 to 4, and restarted from the beginning.
  input.detail.length_trained = 45;
  input.detail.length_unreported = 3;
  const Summary summary = summarize(input);
  EXPECT_EQ(summary.length_again, 1U);
  EXPECT_DOUBLE_EQ(summary.saved_share.value(), 1 - 45.0 / 128);
  EXPECT_MESSAGE(to_text(summary, Output(Output::Format::json)));
}

TEST(Summary, IsALowerBoundForARestoredSearch) {
  SummaryInput input = finished_search();
  input.detail.ran_unlogged = true;
  const Summary summary = summarize(input);
  const std::string text = to_text(summary, Output(Output::Format::json));
  EXPECT_MESSAGE(text);
}

TEST(Summary, CountsNoSavingsForTrialsThatKeptRunning) {
  SummaryInput input = finished_search();
  for (api::Trial& trial : input.trials) {
    trial.trained = engine::Units{400};  // Past its length.
  }
  const Summary summary = summarize(input);
  EXPECT_LT(summary.saved_share.value(), 0);
  EXPECT_MESSAGE(to_text(summary, Output(Output::Format::json)));
}

TEST(Summary, HasNoSavingsIfTheSearcherStoppedNothing) {
  SummaryInput input = finished_search();
  for (api::Trial& trial : input.trials) {
    if (trial.state == engine::TrialState::stopped) {  // Stopped by a user.
      trial.reason.reason.why = engine::Reason::Why::early_exit;
    }
  }
  EXPECT_FALSE(summarize(input).saved_share);
  for (api::Trial& trial : input.trials) {  // Programs that print their score once.
    trial.state = engine::TrialState::completed;
    trial.reached = trial.trained = engine::Units{1};
    trial.trains_no_further = true;
  }
  EXPECT_FALSE(summarize(input).saved_share);
}

TEST(Summary, SavingsAreSharesOfTheTrainedLength) {
  SummaryInput input = finished_search();
  for (api::Trial& trial : input.trials) {  // Programs that train 10 of 16.
    if (trial.state == engine::TrialState::completed) {
      trial.reached = trial.trained = engine::Units{10};
      trial.trains_no_further = true;
    }
  }
  EXPECT_DOUBLE_EQ(summarize(input).saved_share.value(), 1 - 32.0 / 80);
}

TEST(Summary, RepeatsNotesAndMarksABestValueOfTheWrongDirection) {
  SummaryInput input = finished_search();
  input.detail.smaller_is_better = true;
  input.detail.doubts = {"searcher.smaller_is_better: is true"};
  input.detail.notes = {{.trial = engine::TrialNumber(3), .about = "ended", .text = "it was ended"}};
  const std::string text = to_text(summarize(input), Output(Output::Format::json));
  EXPECT_MESSAGE(text);
}

SummaryInput failed_search(const std::string& detail, const std::string& last_failure) {
  SummaryInput input;
  input.detail.state = engine::ExperimentState::failed;
  input.detail.metric = "loss";
  input.detail.context_directory = "/ctx";
  input.trials = {trial(0, engine::TrialState::failed), trial(1, engine::TrialState::failed)};
  engine::Reason reason;
  reason.why = engine::Reason::Why::early_exit;
  reason.detail = detail;
  input.trials[1].reason = api::reason_with_text(reason);
  input.trials[1].last_failure = last_failure;
  input.go_on = "hpsearch run f.yaml";
  return input;
}

TEST(Summary, ShowsCauseLogAndRemedyWhenEveryTrialFailed) {
  const Summary summary = summarize(failed_search("errored", "exit status 3\nTraceback\nValueError: lr"));
  ASSERT_TRUE(summary.trouble);
  EXPECT_EQ(summary.trouble->trial, 1U);
  EXPECT_MESSAGE(summary.trouble->cause);
  EXPECT_EQ(summary.trouble->log_tail, "Traceback\nValueError: lr");
  EXPECT_MESSAGE(summary.trouble->remedy);
}

TEST(Summary, ExplainsHowToReportAMissingMetric) {
  const Summary summary = summarize(failed_search(
      "the program exited with code 0, but it reported no metric; the search's metric is \"loss\"", ""));
  ASSERT_TRUE(summary.trouble);
  EXPECT_THAT(summary.trouble->remedy, HasSubstr("HPSEARCH {\"step\": 1, \"loss\": 0.5}"));
}

TEST(Summary, ExplainsASearchThatPausedItself) {
  SummaryInput input;
  input.detail.state = engine::ExperimentState::paused;
  input.detail.metric = "loss";
  input.detail.reason = "all failed: no data";
  input.trials = {trial(0, engine::TrialState::paused)};
  input.trials[0].last_failure = "exit status 1\nno data";
  input.go_on = "hpsearch run f.yaml";
  input.logs = "hpsearch logs --state-dir d";
  const Summary summary = summarize(input);
  ASSERT_TRUE(summary.trouble);
  EXPECT_MESSAGE(summary.trouble->cause);
  EXPECT_EQ(summary.trouble->log_tail, "no data");
  EXPECT_EQ(summary.trouble->logs, "hpsearch logs --state-dir d 0");
  EXPECT_MESSAGE(summary.trouble->remedy);
}

TEST(Summary, IsSilentAboutASearchThatAUserPaused) {
  SummaryInput input = failed_search("errored", "exit status 3");
  input.detail.state = engine::ExperimentState::paused;
  input.trials.push_back(trial(2, engine::TrialState::paused));
  EXPECT_FALSE(summarize(input).trouble);
}

TEST(Summary, IsSilentAboutFailuresWhenSomeTrialWorked) {
  SummaryInput input = failed_search("errored", "exit status 3");
  input.trials.push_back(trial(2, engine::TrialState::stopped));
  EXPECT_FALSE(summarize(input).trouble);
}

}  // namespace
}  // namespace hpsearch::cli
