#include "hpsearch/jobs/patterns/metric_pattern.hpp"

#include <gtest/gtest.h>

namespace hpsearch::patterns {
namespace {

std::string refusal(const std::string& text) {
  const auto pattern = MetricPattern::compile(text);
  return pattern ? "" : pattern.error().message;
}

TEST(MetricPattern, FindsTheNumberInItsFirstGroup) {
  const auto pattern = MetricPattern::compile("acc=([0-9.]+) of ([0-9]+)");
  ASSERT_TRUE(pattern);
  const auto found = pattern->find("epoch 3 acc=0.5 of 9");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, "0.5");
  EXPECT_FALSE(found->step);
  EXPECT_FALSE(pattern->find("acc=no"));
}

TEST(MetricPattern, FirstGroupThatIsNoStepHoldsTheNumber) {
  const auto pattern = MetricPattern::compile(R"(epoch (?P<step>\d+) acc (\S+))");
  ASSERT_TRUE(pattern);
  const auto found = pattern->find("epoch 3 acc 0.5");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, "0.5");
  EXPECT_EQ(found->step, "3");
}

TEST(MetricPattern, GroupNamedValueHoldsTheNumberAtAnyPlace) {
  const auto pattern = MetricPattern::compile(R"((\w+) (?P<step>\d+) (?P<value>\S+))");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->find("acc 3 0.5")->value, "0.5");
}

TEST(MetricPattern, PlaceholdersMatchNumbersAsProgramsPrintThem) {
  const auto pattern = MetricPattern::compile("epoch {step}/9 acc={number}");
  ASSERT_TRUE(pattern);
  for (const char* number :
       {"0.91", "-1e-4", "+.5", "nan", "-inf", "Infinity", "92.5%", "1,234,567", "1.5k", "3"}) {
    const std::string line = "epoch 3/9 acc=" + std::string(number) + " loss 7";
    const auto found = pattern->find(line);
    ASSERT_TRUE(found) << number;
    EXPECT_EQ(found->value, number);
    EXPECT_EQ(found->step, "3");
  }
  EXPECT_FALSE(pattern->find("epoch 3/9 acc=unknown"));
}

TEST(MetricPattern, PlaceholderAfterABackslashIsText) {
  const auto pattern = MetricPattern::compile(R"(\{number} \{step} {number})");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->find("{number} {step} 4")->value, "4");
}

TEST(MetricPattern, ReturnsTheTextAfterANumberThatEndsTheMatch) {
  const auto open = MetricPattern::compile("acc ([0-9]+)");
  EXPECT_EQ(open->find("acc 1,234 and more")->behind_value, ",234 and more");
  const auto closed = MetricPattern::compile("acc ([0-9]+)k");
  EXPECT_EQ(closed->find("acc 1k and more")->behind_value, "");
}

TEST(MetricPattern, RefusesPatternsWithoutANumber) {
  EXPECT_EQ(refusal("(unclosed"), "cannot be used: missing ): (unclosed");
  const std::string no_group = "does not say where the number stands; write {number} there";
  EXPECT_EQ(refusal("acc"), no_group);
  EXPECT_EQ(refusal(""), no_group);
  EXPECT_EQ(refusal(R"(step (?P<step>\d+))"), no_group);
  EXPECT_NE(refusal(R"((a)\1)"), "") << "RE2 has no back references";
}

}  // namespace
}  // namespace hpsearch::patterns
