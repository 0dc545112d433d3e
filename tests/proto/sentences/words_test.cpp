#include "hpsearch/proto/sentences/words.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::sentences {
namespace {

using engine::Duration;
using engine::Value;

TEST(Words, CountsHaveTheNounInSingularOrPlural) {
  EXPECT_EQ(counted(0, "slot"), "0 slots");
  EXPECT_EQ(counted(1, "slot"), "1 slot");
  EXPECT_EQ(counted(2, "slot"), "2 slots");
}

TEST(Words, SecondsAreRoundedUp) {
  EXPECT_EQ(seconds_text(Duration::micros(0)), "0 s");
  EXPECT_EQ(seconds_text(Duration::micros(1)), "1 s");
  EXPECT_EQ(seconds_text(Duration::seconds(8)), "8 s");
}

TEST(Words, MetricsHaveSixDigits) {
  EXPECT_EQ(metric_text(0.9722222), "0.972222");
  EXPECT_EQ(metric_text(1e-5), "1e-05");
  EXPECT_EQ(metric_text(-0.0), "0");
  EXPECT_EQ(metric_text(std::nan("")), "nan");
}

TEST(Words, HyperparametersAreOneLineOfLeaves) {
  const Value hparams = Value::Map{{"lr", 1e-3},
                                   {"n", 64},
                                   {"opt", Value::Map{{"name", "sgd"}, {"nesterov", true}}},
                                   {"text", "two words"},
                                   {"none", ""}};
  EXPECT_EQ(flat_text(hparams), "lr=0.001 n=64 none=\"\" opt.name=sgd opt.nesterov=True text=\"two words\"");
  EXPECT_EQ(flat_text(Value::Map{}), "");
}

TEST(Words, DifferentHyperparametersLookDifferent) {
  std::set<std::string> texts;
  const std::vector<Value> values{1,      1.0,    "1",   "1.0", true, "True", "true",
                                  0,      0.0,    -0.0,  "0",   "-0", false,  Value{},
                                  "None", "null", "nan", "1e5", 1e5,  100000, "sgd"};
  for (const Value& value : values) {
    EXPECT_TRUE(texts.insert(flat_text(Value::Map{{"x", value}})).second) << engine::compact_json(value);
  }
  EXPECT_EQ(flat_text(Value::Map{{"x", 1.0}}), "x=1.0");
  EXPECT_EQ(flat_text(Value::Map{{"x", "1"}}), "x=\"1\"");
  EXPECT_EQ(flat_text(Value::Map{{"x", -0.0}}), "x=-0.0");
  EXPECT_EQ(flat_text(Value::Map{{"x", "sgd"}}), "x=sgd");
}

}  // namespace
}  // namespace hpsearch::sentences
