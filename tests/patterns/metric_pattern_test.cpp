#include "hpsearch/patterns/metric_pattern.hpp"

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

TEST(MetricPattern, TheFirstGroupThatIsNoStepHoldsTheNumber) {
  const auto pattern = MetricPattern::compile(R"(epoch (?P<step>\d+) acc (\S+))");
  ASSERT_TRUE(pattern);
  const auto found = pattern->find("epoch 3 acc 0.5");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, "0.5");
  EXPECT_EQ(found->step, "3");
}

TEST(MetricPattern, AGroupOfThatNameHoldsTheNumberWhereverItStands) {
  const auto pattern = MetricPattern::compile(R"((\w+) (?P<step>\d+) (?P<value>\S+))");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->find("acc 3 0.5")->value, "0.5");
}

TEST(MetricPattern, RefusesWhatCannotFindANumber) {
  EXPECT_EQ(refusal("(unclosed"), "cannot be used: missing ): (unclosed");
  const std::string no_group = "has no group around the number; write for example (?P<value>[-+0-9.eE]+)";
  EXPECT_EQ(refusal("acc"), no_group);
  EXPECT_EQ(refusal(""), no_group);
  EXPECT_EQ(refusal(R"(step (?P<step>\d+))"), no_group);
  EXPECT_NE(refusal(R"((a)\1)"), "") << "RE2 has no back references";
}

}  // namespace
}  // namespace hpsearch::patterns
