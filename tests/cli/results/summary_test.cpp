#include "cli/results/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cli/render/text.hpp"
#include "messages.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using testing::HasSubstr;

SummaryInput finished_search() {
  SummaryInput input;
  input.detail = Value::Map{
      {"id", 3},
      {"name", "digits"},
      {"state", "COMPLETED"},
      {"reason", ""},
      {"metric", "val_acc"},
      {"unit", "epochs"},
      {"trials", Value::Map{{"COMPLETED", 2}, {"STOPPED", 6}}},
      {"trials_total", 8},
      {"best", Value::Map{{"trial", 5}, {"metric", 0.975}, {"step", 14}}},
      {"final_counts", Value::Map{{"1", 4}, {"16", 2}, {"4", 2}}},
      {"max_length", 16},
      {"length_trained", 44},
      {"length_full", 128},
      {"slot_seconds", 36.0},
      {"first_lease_at", 1000.0},
      {"last_release_at", 1030.0},
  };
  const int reached[] = {1, 1, 1, 1, 4, 16, 4, 16};
  for (int number = 0; number < 8; ++number) {
    input.trials.push_back(Value::Map{{"trial", number},
                                      {"state", reached[number] == 16 ? "COMPLETED" : "STOPPED"},
                                      {"reached", reached[number]},
                                      {"trained", reached[number]}});
  }
  input.trials[5] = Value(Value::Map{{"trial", 5},
                                     {"state", "COMPLETED"},
                                     {"reached", 16},
                                     {"trained", 16},
                                     {"hparams", Value::Map{{"lr", 0.01}}},
                                     {"best_checkpoint", "/ck/5"},
                                     {"best_checkpoint_step", 16},
                                     {"best_checkpoint_metric", 0.97},
                                     {"checkpoint", "/ck/last"}});
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

TEST(Summary, TellsPeopleTheSame) {
  const std::string text = to_text(summarize(finished_search()), Output(Output::Format::json));
  for (const char* part :
       {"val_acc 0.975, trial 5 at 14 epochs", "1: 4, 4: 2, 16: 2", "early stopping saved 65.6 %",
        "busy 90.0 %", "engine 0.5 %", "/ck/5", "  lr: 0.01"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Summary, ListsFinalistsByTheirMeans) {
  SummaryInput input = finished_search();
  const auto training = [](int trial, Value metric) {
    return Value::Map{{"trial", trial}, {"metric", std::move(metric)}};
  };
  (*input.detail.as_map())["finalists"] =
      Value::List{Value::Map{{"mean", 0.95},
                             {"deviation", 0.0125},
                             {"trainings", Value::List{training(5, 0.9625), training(8, 0.9375)}}},
                  Value::Map{{"mean", 0.9},
                             {"deviation", Value()},
                             {"trainings", Value::List{training(7, 0.9), training(9, Value())}}}};
  const Summary summary = summarize(input);
  const std::string text = to_text(summary, Output(Output::Format::json));
  EXPECT_MESSAGE(text);
  EXPECT_EQ(*to_value(summary).at_path("finalists"), *input.detail.at_path("finalists"));
}

TEST(Summary, LeavesOutSharesOfNothing) {
  SummaryInput input;
  input.detail = Value::Map{{"id", 1}, {"state", "CANCELED"}, {"metric", "loss"}};
  const Summary summary = summarize(input);
  EXPECT_FALSE(summary.busy_share);
  EXPECT_FALSE(summary.engine_share);
  EXPECT_FALSE(summary.saved_share);
  EXPECT_FALSE(summary.best);
  EXPECT_MESSAGE(to_text(summary, Output(Output::Format::json)));
}

TEST(Summary, NeverClaimsMoreThanAll) {
  SummaryInput input = finished_search();
  input.idle_seconds = 29;  // The pause ended while a trial was still counted.
  EXPECT_DOUBLE_EQ(summarize(input).busy_share.value(), 1);
}

TEST(Summary, CountsWhatWasTrainedAgainAndSaysWhatIsNotKnown) {
  SummaryInput input = finished_search();
  (*input.trials[4].as_map())["trained"] = 5;  // Promoted from 1 to 4, and from the beginning again.
  (*input.detail.as_map())["length_trained"] = 45;
  (*input.detail.as_map())["length_unreported"] = 3;
  const Summary summary = summarize(input);
  EXPECT_EQ(summary.length_again, 1U);
  EXPECT_DOUBLE_EQ(summary.saved_share.value(), 1 - 45.0 / 128);
  EXPECT_MESSAGE(to_text(summary, Output(Output::Format::json)));
}

TEST(Summary, OfARestoredSearchIsALowerBound) {
  SummaryInput input = finished_search();
  (*input.detail.as_map())["ran_unlogged"] = true;
  const Summary summary = summarize(input);
  const std::string text = to_text(summary, Output(Output::Format::json));
  EXPECT_MESSAGE(text);
}

TEST(Summary, CountsNothingAsSavedThatRanOn) {
  SummaryInput input = finished_search();
  for (Value& trial : input.trials) {
    (*trial.as_map())["trained"] = 400;  // Past its length.
  }
  const Summary summary = summarize(input);
  EXPECT_LT(summary.saved_share.value(), 0);
  EXPECT_MESSAGE(to_text(summary, Output(Output::Format::json)));
}

TEST(Summary, ClaimsNoSavingsWhereTheSearcherStoppedNothing) {
  SummaryInput input = finished_search();
  for (Value& trial : input.trials) {
    if (text_at(trial, "state") == "STOPPED") {  // By a user.
      (*trial.as_map())["reason"] = Value::Map{{"why", "early_exit"}};
    }
  }
  EXPECT_FALSE(summarize(input).saved_share);
  for (Value& trial : input.trials) {  // Programs that print their score once.
    (*trial.as_map())["state"] = "COMPLETED";
    (*trial.as_map())["reached"] = (*trial.as_map())["trained"] = 1;
    (*trial.as_map())["trains_no_further"] = true;
  }
  EXPECT_FALSE(summarize(input).saved_share);
}

TEST(Summary, SavesOfWhatProgramsTrainAndNotOfMaxLength) {
  SummaryInput input = finished_search();
  for (Value& trial : input.trials) {  // Programs that train 10 of 16.
    if (text_at(trial, "state") == "COMPLETED") {
      (*trial.as_map())["reached"] = (*trial.as_map())["trained"] = 10;
      (*trial.as_map())["trains_no_further"] = true;
    }
  }
  EXPECT_DOUBLE_EQ(summarize(input).saved_share.value(), 1 - 32.0 / 80);
}

TEST(Summary, RepeatsNotesAndMarksABestValueOfTheWrongDirection) {
  SummaryInput input = finished_search();
  (*input.detail.as_map())["smaller_is_better"] = true;
  (*input.detail.as_map())["doubts"] = Value::List{"searcher.smaller_is_better: is true"};
  (*input.detail.as_map())["notes"] =
      Value::List{Value::Map{{"trial", 3}, {"about", "ended"}, {"text", "it was ended"}}};
  const std::string text = to_text(summarize(input), Output(Output::Format::json));
  EXPECT_MESSAGE(text);
}

SummaryInput failed_search(const std::string& detail, const std::string& last_failure) {
  SummaryInput input;
  input.detail =
      Value::Map{{"id", 1}, {"state", "FAILED"}, {"metric", "loss"}, {"context_directory", "/ctx"}};
  input.trials = {Value::Map{{"trial", 0}, {"state", "FAILED"}},
                  Value::Map{{"trial", 1},
                             {"state", "FAILED"},
                             {"reason", Value::Map{{"why", "early_exit"}, {"detail", detail}}},
                             {"last_failure", last_failure}}};
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

TEST(Summary, TellsHowToReportAMetricThatNeverCame) {
  const Summary summary = summarize(failed_search(
      "the program exited with code 0, but it reported no metric; the search's metric is \"loss\"", ""));
  ASSERT_TRUE(summary.trouble);
  EXPECT_THAT(summary.trouble->remedy, HasSubstr("HPSEARCH {\"step\": 1, \"loss\": 0.5}"));
}

TEST(Summary, TellsWhyASearchPausedItselfAndBothWaysToGoOn) {
  SummaryInput input;
  input.detail =
      Value::Map{{"id", 1}, {"state", "PAUSED"}, {"metric", "loss"}, {"reason", "all failed: no data"}};
  input.trials = {Value::Map{{"trial", 0}, {"state", "PAUSED"}, {"last_failure", "exit status 1\nno data"}}};
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
  (*input.detail.as_map())["state"] = "PAUSED";
  input.trials.push_back(Value::Map{{"trial", 2}, {"state", "PAUSED"}});
  EXPECT_FALSE(summarize(input).trouble);
}

TEST(Summary, IsSilentAboutFailuresWhenSomeTrialWorked) {
  SummaryInput input = failed_search("errored", "exit status 3");
  input.trials.push_back(Value::Map{{"trial", 2}, {"state", "STOPPED"}});
  EXPECT_FALSE(summarize(input).trouble);
}

}  // namespace
}  // namespace hpsearch::cli
