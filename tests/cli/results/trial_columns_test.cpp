#include "cli/results/trial_columns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/render/csv.hpp"
#include "cli/render/curve_plot.hpp"
#include "hpsearch/proto/views/csv_line.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using testing::ElementsAre;
using testing::HasSubstr;

Value trial(int number, Value hparams) {
  return Value::Map{{"trial", number},
                    {"state", "COMPLETED"},
                    {"best_metric", 0.5},
                    {"best_step", 9},
                    {"metric", Value::Map{{"class", "nan"}}},
                    {"last_failure", "exit code 1\nTraceback"},
                    {"hparams", std::move(hparams)}};
}

TEST(TrialColumns, AreOfTheTrialAndOfItsHyperparameters) {
  const Value one = trial(4, Value::Map{{"opt", Value::Map{{"lr", 0.1}}}, {"size", 32}});
  EXPECT_EQ(column_value(one, "trial"), Value(4));
  EXPECT_EQ(column_value(one, "metric"), Value(0.5));
  EXPECT_EQ(column_value(one, "at"), Value(9));
  const Value last = column_value(one, "last");
  ASSERT_NE(last.as_real(), nullptr);
  EXPECT_TRUE(std::isnan(*last.as_real()));
  EXPECT_EQ(column_value(one, "failure"), Value("exit code 1"));
  EXPECT_EQ(column_value(one, "opt.lr"), Value(0.1));
  EXPECT_EQ(column_value(one, "lr"), Value(0.1));
  EXPECT_TRUE(column_value(one, "r").is_null());
}

TEST(TrialColumns, LeaveConstantsOut) {
  const Value::List trials{
      trial(0, Value::Map{{"lr", 0.1}, {"size", 32}, {"opt", Value::Map{{"name", "sgd"}}}}),
      trial(1, Value::Map{{"lr", 0.2}, {"size", 32}, {"opt", Value::Map{{"name", "adam"}}}}),
      trial(2, Value::Map{{"lr", 0.2}, {"size", 32}, {"opt", Value::Map{{"name", "adam"}}}, {"deep", true}})};
  EXPECT_THAT(searched_names(trials), ElementsAre("deep", "lr", "opt.name"));
  EXPECT_THAT(searched_names({trials.front()}), ElementsAre("lr", "opt.name", "size"))
      << "one trial does not show what is constant";
}

TEST(TrialColumns, CellsDistinguishKinds) {
  EXPECT_EQ(cell_text(1), "1");
  EXPECT_EQ(cell_text(1.0), "1.0");
  EXPECT_EQ(cell_text("1"), "\"1\"");
  EXPECT_EQ(cell_text(true), "True");
  EXPECT_EQ(cell_text("True"), "\"True\"");
  EXPECT_EQ(cell_text(-0.0), "-0.0");
  EXPECT_EQ(cell_text("sgd"), "sgd");
  EXPECT_EQ(cell_text(0.00012345678), "0.000123457");
  EXPECT_EQ(cell_text(Value()), "-");
}

TEST(Csv, QuotesWhatNeedsIt) {
  EXPECT_EQ(views::csv_line({1, 0.25, Value(), "a,b", "say \"x\"", "two\nlines", true}),
            "1,0.25,,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",True\n");
}

TEST(CurvePlot, ShowsRangesAndShape) {
  const std::string plot = plot_text({{'*', {{1, 4}, {2, 2}, {3, 1}}}, {'o', {{1, 4}, {3, 3}}}}, 30, 4);
  EXPECT_THAT(plot, HasSubstr("4 |*"));
  EXPECT_THAT(plot, HasSubstr("1 |                          *\n"));
  EXPECT_THAT(plot, HasSubstr("o\n"));
  for (std::size_t begin = 0; begin < plot.size(); begin = plot.find('\n', begin) + 1) {
    EXPECT_LE(plot.find('\n', begin) - begin, 30U) << plot;
  }
}

TEST(CurvePlot, HandlesOneValueAndNone) {
  EXPECT_EQ(plot_text({}, 40, 4), "");
  EXPECT_EQ(plot_text({{'*', {}}}, 40, 4), "");
  EXPECT_THAT(plot_text({{'*', {{1, 0.5}}}}, 40, 4), HasSubstr("*"));
}

}  // namespace
}  // namespace hpsearch::cli
