#include "cli/artifacts/tree_difference.hpp"

#include <gtest/gtest.h>

namespace hpsearch::cli {
namespace {

using engine::Value;

TEST(Differences, NamePathAndBothValues) {
  const Value before = Value::Map{{"a", Value::Map{{"n", 64}, {"same", 1}}}, {"gone", 1}};
  const Value after = Value::Map{{"a", Value::Map{{"n", 128}, {"same", 1}}}, {"new", "x"}};
  const std::vector<std::string> expected = {"a.n: 64 -> 128", "gone: removed", "new: new, \"x\""};
  EXPECT_EQ(differences(before, after), expected);
  EXPECT_TRUE(differences(before, before).empty());
}

TEST(Differences, StopAtTheMost) {
  Value::Map before;
  Value::Map after;
  for (int i = 0; i < 50; ++i) {
    before[std::to_string(i)] = i;
    after[std::to_string(i)] = i + 1;
  }
  EXPECT_EQ(differences(before, after, 5).size(), 5U);
}

}  // namespace
}  // namespace hpsearch::cli
