#include "hpsearch/engine/space/hparam_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {
namespace {

Space space_of(const Value& tree) {
  Problems problems;
  Problems notes;
  Space space = Space::parse(tree, "hyperparameters", problems, notes);
  EXPECT_TRUE(problems.empty());
  return space;
}

Space mixed_space() {
  return space_of(Value::Map{
      {"batch",
       Value::Map{{"type", "categorical"}, {"vals", Value::List{32, 64.0, "big", Value::Map{{"a", 1}}}}}},
      {"fixed", Value::List{1, 2.5}},
      {"optimizer",
       Value::Map{
           {"lr", Value::Map{{"type", "log"}, {"base", 10}, {"minval", -4}, {"maxval", -1}}},
           {"layers", Value::Map{{"type", "int"}, {"minval", -3}, {"maxval", std::int64_t{1} << 60}}}}},
      {"p", Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}},
  });
}

TEST(HparamTable, GivesBackWhatWasDrawnBitForBit) {
  const Space space = mixed_space();
  HparamTable table(space);
  for (std::uint64_t trial = 0; trial < 3000; ++trial) {
    table.push_back(space.sample(5, TrialNumber(trial)));
  }
  ASSERT_EQ(table.size(), 3000U);
  for (std::uint64_t trial = 0; trial < 3000; ++trial) {
    ASSERT_TRUE(table[trial] == space.sample(5, TrialNumber(trial))) << "trial " << trial;
  }
}

TEST(HparamTable, KeepsWhatIsOfAnotherShapeAsItCame) {
  const Space space = mixed_space();
  const Value drawn = space.sample(5, TrialNumber(0));
  const auto with = [&drawn](std::string_view key, Value value) {
    Value changed = drawn;
    (*changed.as_map())[key] = std::move(value);
    return changed;
  };
  const std::vector<Value> odd = {
      with("p", 1),                 // An integer where the leaf is real.
      with("fixed", "other"),       // Another constant.
      with("batch", 16),            // No such category.
      with("extra", Value::Map()),  // One key more, and an empty one.
      with("extra", nullptr),
      with("optimizer", 3),
      Value(),
      Value(7),
      Value::Map(),
  };
  HparamTable table(space);
  for (const Value& value : odd) {
    table.push_back(value);
    table.push_back(drawn);
  }
  for (std::size_t i = 0; i < odd.size(); ++i) {
    EXPECT_TRUE(table[2 * i] == odd[i]) << compact_json(odd[i]) << " became " << compact_json(table[2 * i]);
    EXPECT_TRUE(table[2 * i + 1] == drawn);
  }
}

TEST(HparamTable, AnEmptySpaceHasEmptyConfigurations) {
  HparamTable table(space_of(Value::Map()));
  table.push_back(Value::Map());
  EXPECT_TRUE(table[0] == Value(Value::Map()));
}

}  // namespace
}  // namespace hpsearch::engine
