#include "cli/experiment/prior_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cli/render/csv.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/views/csv_line.hpp"
#include "messages.hpp"

namespace hpsearch::cli {
namespace {

using engine::Result;
using engine::Space;
using engine::Value;
using views::csv_line;

Space space() {
  engine::Problems problems;
  engine::Problems notes;
  const Value hyperparameters = Value::Map{
      {"net", Value::Map{{"layers", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 9}}}}},
      {"lr", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}}},
      {"opt",
       Value::Map{{"type", "categorical"}, {"vals", Value::List{"sgd", "7", true, Value::List{1, 2}}}}},
      {"seed", 5}};
  Space read = Space::parse(hyperparameters, "hyperparameters", problems, notes);
  EXPECT_TRUE(problems.empty());
  return read;
}

/// As compact JSON, or the error.
std::string read(const Result<Value::List>& results) {
  return results ? engine::compact_json(Value(*results)) : results.error().message;
}

TEST(PriorTable, ReadsTheOutputOfExport) {
  const std::string text = csv_line({"trial", "length", "reached", "best_metric", "metric", "hparams.lr",
                                     "hparams.net.layers", "hparams.opt", "hparams.seed", "hparams.old"}) +
                           csv_line({0, 9, 3, 0.1, 0.25, 0.5, 2, "7", 5, "a,\"b\"\nc"}) +
                           csv_line({1, 9, 9, 0.1, Value(), 1.0, 3, true, Value(), Value()}) +
                           csv_line({2, 9, 0, Value(), Value(), 1e-5, 4, Value::List{1, 2}, 5, 1});
  EXPECT_EQ(
      read(prior_of_csv(text, space())),
      R"([{"hparams":{"lr":0.5,"net":{"layers":2},"old":"a,\"b\"\nc","opt":"7","seed":5},"length":3,"metric":0.25},)"
      R"({"hparams":{"lr":1.0,"net":{"layers":3},"opt":true},"length":9,"metric":null},)"
      R"({"hparams":{"lr":1e-05,"net":{"layers":4},"old":"1","opt":[1,2],"seed":5},"length":1,"metric":null}])");
}

TEST(PriorTable, ReadsLengthsAndMetricsOfCurves) {
  EXPECT_EQ(
      read(
          prior_of_csv("\xef\xbb\xbflength, metric ,hparams.lr\r\n1,nan,0.1\r\n\r\n3, 2 ,0.10\r\n", space())),
      R"([{"hparams":{"lr":0.1},"length":1,"metric":{"class":"nan"}},{"hparams":{"lr":0.1},"length":3,"metric":2}])");
}

TEST(PriorTable, NamesTheWrongLine) {
  const std::string header = "length,metric,hparams.lr\n";
  EXPECT_MESSAGE(read(prior_of_csv("", space())));
  EXPECT_MESSAGE(read(prior_of_csv("trial,length,metric\n", space())));
  EXPECT_MESSAGE(read(prior_of_csv("length,hparams.lr\n", space())));
  EXPECT_MESSAGE(read(prior_of_csv("metric,hparams.lr\n", space())));
  EXPECT_EQ(read(prior_of_csv(header + "1,2\n", space())), "line 2: has 2 cells, and the header has 3");
  EXPECT_EQ(read(prior_of_csv(header + "1,x,0.1\n", space())),
            "line 2: the metric is \"x\", which is no number");
  EXPECT_EQ(read(prior_of_csv(header + "1.5,2,0.1\n", space())),
            "line 2: the length is \"1.5\", which is no whole number");
  EXPECT_EQ(read(prior_of_csv(header + ",2,0.1\n", space())),
            "line 2: has a metric but no length of at least 1");
  EXPECT_EQ(read(prior_of_csv(header + "\"1\n", space())), "line 2: a quote does not end");
}

TEST(PriorTable, ReadsJsonLines) {
  EXPECT_EQ(
      read(prior_of_json_lines(
          "{\"hparams\": {\"lr\": 0.5}, \"length\": 9, \"reached\": 3, \"metric\": 0.25}\n\n"
          "{\"hparams\": {\"lr\": 1}, \"length\": 9, \"metric\": {\"class\": \"nan\"}}")),
      R"([{"hparams":{"lr":0.5},"length":3,"metric":0.25},{"hparams":{"lr":1},"length":9,"metric":{"class":"nan"}}])");
  EXPECT_MESSAGE(read(prior_of_json_lines("\n{\"a\"")));
  EXPECT_MESSAGE(read(prior_of_json_lines("{\"trial\": 0, \"step\": 3}")));
  EXPECT_EQ(read(prior_of_json_lines("{\"hparams\": {}, \"length\": 1, \"metric\": \"x\"}")),
            "line 1: the metric is \"x\", which is no number");
}

}  // namespace
}  // namespace hpsearch::cli
