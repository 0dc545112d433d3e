#include "hpsearch/engine/base/value.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hpsearch::engine {
namespace {

TEST(Members, AreSortedByByteWhateverTheOrderOfWriting) {
  Value::Map map;
  map["b"] = 1;
  map["é"] = 2;
  map["B"] = 3;
  map["a"] = 4;
  std::string keys;
  for (const auto& [key, value] : map) {
    keys += key + " ";
  }
  EXPECT_EQ(keys, "B a b é ");
}

TEST(Members, KeepTheLastValueOfADoubledKey) {
  const Value::Map map{{"a", 1}, {"b", 2}, {"a", 3}};
  ASSERT_EQ(map.size(), 2U);
  EXPECT_EQ(*map.find("a"), Value(3));
}

TEST(Members, FindNothingUnderAbsentKeys) {
  const Value::Map map{{"a", 1}, {"c", 2}};
  EXPECT_EQ(map.find("b"), nullptr);
  EXPECT_EQ(map.find(""), nullptr);
  EXPECT_EQ(map.find("d"), nullptr);
  EXPECT_TRUE(map.contains("c"));
}

TEST(Members, EraseOnlyWhatIsNamed) {
  Value::Map map{{"a", 1}, {"b", 2}};
  map.erase("c");
  map.erase("a");
  EXPECT_EQ(map, (Value::Map{{"b", 2}}));
}

TEST(Value, KeepsIntegersAndRealsApart) {
  EXPECT_NE(Value(64), Value(64.0));
  EXPECT_EQ(Value(64).as_real(), nullptr);
  EXPECT_EQ(Value(64.0).as_integer(), nullptr);
  EXPECT_EQ(Value(64).number_or(0), 64.0);
  EXPECT_EQ(Value("64").number_or(-1), -1.0);
}

TEST(Value, NanEqualsNothing) {
  const Value nan = std::nan("");
  EXPECT_FALSE(nan == nan);
  EXPECT_FALSE(Value(Value::List{nan}) == Value(Value::List{nan}));
}

TEST(Value, EqualTreesAreEqual) {
  const Value one = Value::Map{{"a", Value::List{1, "x", Value()}}, {"b", Value::Map{{"c", true}}}};
  const Value two = Value::Map{{"b", Value::Map{{"c", true}}}, {"a", Value::List{1, "x", nullptr}}};
  EXPECT_EQ(one, two);
}

TEST(Value, NamesItsKind) {
  EXPECT_EQ(Value().kind_name(), "null");
  EXPECT_EQ(Value(false).kind_name(), "boolean");
  EXPECT_EQ(Value(1).kind_name(), "integer");
  EXPECT_EQ(Value(1.0).kind_name(), "number");
  EXPECT_EQ(Value("").kind_name(), "string");
  EXPECT_EQ(Value(Value::List{}).kind_name(), "list");
  EXPECT_EQ(Value(Value::Map{}).kind_name(), "map");
}

TEST(Value, FollowsDottedPaths) {
  const Value tree = Value::Map{{"optimizer", Value::Map{{"lr", 0.1}}}, {"flat", 1}};
  ASSERT_NE(tree.at_path("optimizer.lr"), nullptr);
  EXPECT_EQ(*tree.at_path("optimizer.lr"), Value(0.1));
  EXPECT_EQ(*tree.at_path("flat"), Value(1));
  EXPECT_EQ(tree.at_path("optimizer.momentum"), nullptr);
  EXPECT_EQ(tree.at_path("flat.deeper"), nullptr);
  EXPECT_EQ(tree.at_path(""), nullptr);
  EXPECT_EQ(Value(1).at_path("a"), nullptr);
}

}  // namespace
}  // namespace hpsearch::engine
