#include "cli/experiment/changed_limits.hpp"

#include <gtest/gtest.h>

namespace hpsearch::cli {
namespace {

using engine::Value;

Value tree(Value searcher, Value budget = Value()) {
  Value::Map map{{"name", "digits"}, {"searcher", std::move(searcher)}};
  if (!budget.is_null()) {
    map["budget"] = std::move(budget);
  }
  return map;
}

TEST(ChangedLimits, AreARequestWithTheDifferences) {
  const Value before = tree(Value::Map{{"name", "random"}, {"max_trials", 8}}, Value::Map{{"target", 0.5}});
  const Value after = tree(Value::Map{{"name", "random"}, {"max_trials", 16}, {"max_concurrent_trials", 2}},
                           Value::Map{{"target", 0.5}});
  const auto changes = changed_limits(before, after);
  ASSERT_TRUE(changes);
  EXPECT_EQ(*changes,
            Value(Value::Map{{"searcher", Value::Map{{"max_trials", 16}, {"max_concurrent_trials", 2}}}}));
}

TEST(ChangedLimits, IncludeAddedAndRemovedSections) {
  const Value with = tree(Value::Map{{"name", "random"}}, Value::Map{{"target", 0.5}});
  const Value without = tree(Value::Map{{"name", "random"}});
  EXPECT_EQ(*changed_limits(without, with), Value(Value::Map{{"budget", Value::Map{{"target", 0.5}}}}));
  EXPECT_EQ(*changed_limits(with, without), Value(Value::Map{{"budget", Value::Map{{"target", Value()}}}}));
}

TEST(ChangedLimits, AreNullIfOtherFieldsDiffer) {
  const Value before = tree(Value::Map{{"name", "random"}, {"max_trials", 8}, {"max_length", 9}});
  EXPECT_FALSE(
      changed_limits(before, tree(Value::Map{{"name", "random"}, {"max_trials", 9}, {"max_length", 8}})));
  EXPECT_FALSE(changed_limits(before, Value()));
}

}  // namespace
}  // namespace hpsearch::cli
