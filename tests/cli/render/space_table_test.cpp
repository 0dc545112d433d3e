#include "cli/render/space_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hpsearch::cli {
namespace {

using engine::Value;

std::string table_of(const Value::Map& hyperparameters) {
  engine::Problems problems;
  engine::Problems notes;
  const auto space = engine::Space::parse(hyperparameters, "hyperparameters", problems, notes);
  EXPECT_TRUE(problems.empty());
  return space_table(space);
}

TEST(SpaceTable, ShowsRangesAsValues) {
  EXPECT_EQ(
      table_of(
          {{"act", Value::Map{{"type", "categorical"}, {"vals", Value::List{"relu", 1, 1.0, true, Value()}}}},
           {"batch", 32},
           {"drop", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 0.3}}},
           {"layers", Value::Map{{"type", "int"}, {"minval", 2}, {"maxval", 6}, {"count", 3}}},
           {"opt", Value::Map{{"lr", Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", -1}}}}}}),
      "HYPERPARAMETER  SEARCHED\n"
      "act             \"relu\", 1, 1.0, true, null\n"
      "drop            0 to 0.3\n"
      "layers          2 to 6, whole numbers, 3 points in a grid\n"
      "opt.lr          0.0001 to 0.1, logarithmic\n"
      "and 1 constant\n");
}

TEST(SpaceTable, ShowsScalesStepsAndOrders) {
  EXPECT_EQ(
      table_of(
          {{"batch", Value::Map{{"type", "categorical"}, {"vals", Value::List{32, 64, 128}}}},
           {"drop", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 0.5}, {"step", 0.1}}},
           {"lr", Value::Map{{"type", "double"}, {"minval", 1e-4}, {"maxval", 0.1}, {"scale", "log"}}},
           {"units", Value::Map{{"type", "int"}, {"minval", 16}, {"maxval", 512}, {"scale", "log"}}},
           {"width", Value::Map{{"type", "int"}, {"minval", 8}, {"maxval", 64}, {"step", 8}, {"count", 3}}}}),
      "HYPERPARAMETER  SEARCHED\n"
      "batch           32, 64, 128, ordered\n"
      "drop            0 to 0.5 in steps of 0.1, 6 values\n"
      "lr              0.0001 to 0.1, logarithmic\n"
      "units           16 to 512, whole numbers, logarithmic\n"
      "width           8 to 64 in steps of 8, 3 points in a grid\n");
}

TEST(SpaceTable, ShowsTheShareThatSatisfiesTheConditions) {
  engine::Problems problems;
  engine::Problems notes;
  const Value::Map range{{"type", "double"}, {"minval", 0}, {"maxval", 1}};
  auto space = engine::Space::parse(Value::Map{{"a", range}, {"b", range}}, "", problems, notes);
  space.constrain(std::vector<std::string>{"a < b"}, "where", problems);
  ASSERT_TRUE(problems.empty());
  const auto share = space.allowed_share();
  EXPECT_NEAR(static_cast<double>(share.allowed), 1000, 112) << "five deviations";
  EXPECT_EQ(share.drawn, 2000U);
  EXPECT_NE(space_table(space).find("b               0 to 1\nwhere is satisfied by "), std::string::npos)
      << space_table(space);
  EXPECT_NE(space_table(space).find(" % of the space (" + std::to_string(share.allowed) + " of 2000 random"),
            std::string::npos)
      << space_table(space);
}

TEST(SpaceTable, ShowsConditions) {
  EXPECT_EQ(
      table_of(
          {{"momentum", Value::Map{{"type", "double"},
                                   {"minval", 0},
                                   {"maxval", 1},
                                   {"when", Value::Map{{"optimizer", Value::List{"sgd", "nesterov"}}}}}},
           {"optimizer",
            Value::Map{{"type", "categorical"}, {"vals", Value::List{"sgd", "nesterov", "adam"}}}},
           {"warm", Value::Map{{"type", "const"}, {"val", 5}, {"when", Value::Map{{"optimizer", "adam"}}}}}}),
      "HYPERPARAMETER  SEARCHED\n"
      "momentum        0 to 1; only when optimizer is sgd or nesterov\n"
      "optimizer       \"sgd\", \"nesterov\", \"adam\"\n"
      "warm            5; only when optimizer is adam\n");
}

TEST(SpaceTable, CountsConstantsOnly) {
  EXPECT_EQ(table_of({{"a", 1}, {"b", "x"}}), "and 2 constants\n");
  EXPECT_EQ(table_of({}), "");
}

}  // namespace
}  // namespace hpsearch::cli
