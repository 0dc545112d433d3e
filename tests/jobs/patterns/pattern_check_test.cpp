#include "hpsearch/jobs/patterns/pattern_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hpsearch::patterns {
namespace {

using engine::Value;
using jobs::PatternPurpose;
using jobs::PatternUse;

std::string problems(const std::vector<PatternUse>& uses) {
  std::string all;
  for (const engine::Problem& problem : problems_of(uses)) {
    all += describe(problem) + "\n";
  }
  return all;
}

TEST(PatternCheck, ReportsTheProblemOfEachMetric) {
  EXPECT_EQ(
      problems({{.path = "metrics.acc", .pattern = "(unclosed"},
                {.path = "metrics.f1", .pattern = "f1=(.*)"},
                {.path = "metrics.loss", .pattern = "loss"}}),
      "metrics.acc: is \"(unclosed\", which cannot be used: missing ): (unclosed (a regular expression (RE2) "
      "with {number} where the number stands)\n"
      "metrics.loss: is \"loss\", which does not say where the number stands; write {number} there (a "
      "regular "
      "expression (RE2) with {number} where the number stands)\n");
}

TEST(PatternCheck, SearchOfLongTextsIsLimited) {
  const std::string all = problems({{.path = "parameters.tag.pattern",
                                     .pattern = "(a|b)+c",
                                     .purpose = PatternPurpose::value,
                                     .texts = {{"parameters.tag.default", std::string(20'000'000, 'a')}}}});
  EXPECT_EQ(all,
            "parameters.tag.default: takes too long to be looked at with the pattern \"(a|b)+c\" (a simpler "
            "pattern, or a "
            "shorter text)\n");
}

TEST(PatternCheck, TextsMustMatchTheirParametersPattern) {
  EXPECT_EQ(problems({{.path = "parameters.tag.pattern",
                       .pattern = "^v[0-9]+$",
                       .purpose = PatternPurpose::value,
                       .texts = {{"hyperparameters.tag", "v12"}, {"parameters.tag.default", "12"}}}}),
            "parameters.tag.default: is \"12\" (a text in which the pattern \"^v[0-9]+$\" is found)\n");
  EXPECT_EQ(
      problems({{.path = "parameters.tag.pattern", .pattern = "[", .purpose = PatternPurpose::value}}),
      "parameters.tag.pattern: is \"[\", which cannot be used: missing ]: [ (a regular expression (RE2))\n");
}

TEST(PatternCheck, PatternsAfterTooManyOthersAreNotRead) {
  const PatternUse large{.path = "metrics.large", .pattern = "(a{900})"};
  EXPECT_EQ(problems({large}), "");
  EXPECT_EQ(problems(std::vector(112, large)),
            "metrics.large: stands after patterns that take too long to read together (simpler patterns)\n");
  const std::string refused =
      problems(std::vector(20, PatternUse{.path = "metrics.x", .pattern = R"((\pL{1000}))"}));
  EXPECT_LT(std::count(refused.begin(), refused.end(), '\n'), 10)
      << "those that RE2 gives up on cost time too";
  EXPECT_EQ(problems(std::vector(1000, PatternUse{.path = "metrics.loss", .pattern = "loss=([0-9.]+)"})), "");
}

TEST(PatternCheck, LongOrLargePatternIsRefused) {
  const auto of_bytes = [](std::size_t bytes) { return "(" + std::string(bytes - 2, 'a') + ")"; };
  EXPECT_EQ(problems({{.path = "metrics.m", .pattern = of_bytes(1024)}}), "");
  EXPECT_EQ(problems({{.path = "metrics.m", .pattern = of_bytes(1025)}}),
            "metrics.m: has 1025 bytes (a pattern of at most 1024 bytes)\n");
  std::string repeated = "(";
  for (int i = 0; i < 100; ++i) {
    repeated += "a{0,100}";
  }
  EXPECT_NE(problems({{.path = "metrics.m", .pattern = repeated + ")"}}), "") << "10,000 optional letters";
}

/// The engine lists the patterns to check.
TEST(PatternCheck, ChecksAllPatternsOfAnExperiment) {
  const Value component =
      Value::Map{{"name", "trainer"},
                 {"parameters",
                  Value::Map{{"tag", Value::Map{{"type", "String"}, {"pattern", "^v"}, {"default", "v1"}}}}},
                 {"metrics", Value::Map{{"acc", "acc"}}}};
  const auto experiment = [&](Value tag) {
    return Value(Value::Map{{"component", component},
                            {"hyperparameters", Value::Map{{"tag", std::move(tag)}}},
                            {"metrics", Value::Map{{"loss", "("}}}});
  };
  const auto paths = [&](Value tag) {
    std::string all;
    for (const engine::Problem& problem : problems_of(jobs::patterns_of(experiment(std::move(tag))))) {
      all += problem.path + " ";
    }
    return all;
  };
  EXPECT_EQ(paths("v2"), "component.metrics.acc metrics.loss ");
  EXPECT_EQ(paths("w2"), "hyperparameters.tag component.metrics.acc metrics.loss ");
  EXPECT_EQ(paths(Value::Map{{"type", "const"}, {"val", "w"}}),
            "hyperparameters.tag.val component.metrics.acc metrics.loss ");
  EXPECT_EQ(paths(Value::Map{{"type", "categorical"}, {"vals", Value::List{"v1", "w"}}}),
            "hyperparameters.tag.vals[1] component.metrics.acc metrics.loss ");
  EXPECT_TRUE(jobs::patterns_of(Value("no experiment")).empty());
}

}  // namespace
}  // namespace hpsearch::patterns
