#include "hpsearch/searchers/finite_space.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "settings.hpp"

namespace hpsearch::searchers {
namespace {

using engine::Cardinality;
using test::categorical;
using test::double_range;
using test::int_range;
using test::space_of;
using test::Value;

TEST(FiniteSpace, NumbersEveryConfigurationOnce) {
  const auto space = FiniteSpace::of(space_of({{"act", categorical({"relu", 64, 64.0, "relu", Value()})},
                                               {"fixed", 7},
                                               {"net", Value::Map{{"layers", int_range(-2, 3)}}}}));
  ASSERT_TRUE(space.has_value());
  ASSERT_EQ(space->size(), 4U * 6U);
  std::set<std::string> seen;
  for (Cardinality index = 0; index < space->size(); ++index) {
    const Value configuration = space->at(index);
    EXPECT_TRUE(seen.insert(engine::compact_json(configuration)).second);
    EXPECT_EQ(space->index_of(configuration), index);
  }
}

/// 1 + 2 · 3 configurations of model and depth, and 2 + 1 of act and slope.
engine::Space conditional() {
  Value::Map depth = int_range(1, 3);
  depth["when"] = Value::Map{{"model", Value::List{"tree", "forest"}}};
  Value::Map slope = categorical({0.1, 0.2});
  slope["when"] = Value::Map{{"act", "leaky"}};
  return space_of({{"act", categorical({"leaky", "relu", "leaky"})},
                   {"depth", depth},
                   {"model", categorical({"line", "tree", "forest"})},
                   {"slope", slope}});
}

TEST(FiniteSpace, CountsWhatDiffersInInactiveParametersOnce) {
  const auto space = FiniteSpace::of(conditional());
  ASSERT_TRUE(space.has_value());
  ASSERT_EQ(space->size(), 7U * 3U);
  std::set<std::string> seen;
  for (Cardinality index = 0; index < space->size(); ++index) {
    const Value configuration = space->at(index);
    EXPECT_TRUE(seen.insert(engine::compact_json(configuration)).second);
    EXPECT_EQ(space->index_of(configuration), index);
  }
  const Value too_much = Value::Map{{"act", "relu"}, {"depth", 1}, {"model", "line"}};
  const Value too_little = Value::Map{{"act", "relu"}, {"model", "tree"}};
  EXPECT_EQ(space->index_of(too_much), std::nullopt);
  EXPECT_EQ(space->index_of(too_little), std::nullopt);
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    EXPECT_TRUE(seen.contains(engine::compact_json(conditional().sample(1, engine::TrialNumber(trial)))));
  }
}

TEST(FiniteSpace, HasThoseConfigurationsThatAreDrawn) {
  const engine::Space space =
      space_of({{"act", categorical({"relu", "gelu"})}, {"net", Value::Map{{"layers", int_range(1, 5)}}}});
  const auto finite = FiniteSpace::of(space);
  ASSERT_TRUE(finite.has_value());
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const Value drawn = space.sample(1, engine::TrialNumber(trial));
    const auto index = finite->index_of(drawn);
    ASSERT_TRUE(index.has_value());
    EXPECT_EQ(finite->at(*index), drawn);
  }
}

TEST(FiniteSpace, StepsOfRealsAreFinite) {
  Value::Map shares = double_range(0, 1);
  shares["step"] = 0.1;
  Value::Map widths = int_range(16, 64);
  widths["step"] = 16;
  widths["scale"] = "log";
  const engine::Space space = space_of({{"share", shares}, {"width", widths}});
  const auto finite = FiniteSpace::of(space);
  ASSERT_TRUE(finite.has_value());
  EXPECT_EQ(finite->size(), 11U * 4U);
  std::set<std::string> seen;
  for (Cardinality index = 0; index < finite->size(); ++index) {
    const Value configuration = finite->at(index);
    EXPECT_TRUE(seen.insert(engine::compact_json(configuration)).second);
    EXPECT_EQ(finite->index_of(configuration), index);
  }
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const Value drawn = space.sample(1, engine::TrialNumber(trial));
    EXPECT_TRUE(seen.contains(engine::compact_json(drawn))) << engine::compact_json(drawn);
  }
  EXPECT_EQ(finite->index_of(Value::Map{{"share", 0.15}, {"width", 16}}), std::nullopt);
}

TEST(FiniteSpace, ARealValuedParameterMakesItInfinite) {
  EXPECT_FALSE(FiniteSpace::of(space_of({{"lr", double_range(0, 1)}, {"n", int_range(1, 2)}})).has_value());
}

TEST(FiniteSpace, TakesEveryInteger) {
  const auto space = FiniteSpace::of(space_of({{"n", int_range(INT64_MIN, INT64_MAX)}}));
  ASSERT_TRUE(space.has_value());
  EXPECT_EQ(engine::to_text(space->size()), "18446744073709551616");
  EXPECT_EQ(space->at(0), Value(Value::Map{{"n", std::numeric_limits<std::int64_t>::min()}}));
  EXPECT_EQ(space->at(space->size() - 1), Value(Value::Map{{"n", std::numeric_limits<std::int64_t>::max()}}));
}

TEST(FiniteSpace, APointOutsideHasNoNumber) {
  const auto space = FiniteSpace::of(space_of({{"act", categorical({"relu"})}, {"n", int_range(1, 2)}}));
  ASSERT_TRUE(space.has_value());
  EXPECT_EQ(space->index_of(Value::Map{{"act", "relu"}, {"n", 3}}), std::nullopt);
  EXPECT_EQ(space->index_of(Value::Map{{"act", "relu"}, {"n", 0}}), std::nullopt);
  EXPECT_EQ(space->index_of(Value::Map{{"act", "tanh"}, {"n", 1}}), std::nullopt);
  EXPECT_EQ(space->index_of(Value::Map{{"act", "relu"}}), std::nullopt);
}

TEST(Shuffle, IsAPermutationOfEverySize) {
  for (const std::uint64_t size : {1U, 2U, 3U, 4U, 5U, 16U, 17U, 100U, 1025U}) {
    const Shuffle shuffle(7, size);
    std::vector<bool> seen(size, false);
    for (std::uint64_t place = 0; place < size; ++place) {
      const Cardinality at = shuffle.at(place);
      ASSERT_LT(at, size);
      ASSERT_FALSE(seen[static_cast<std::size_t>(at)]) << "size " << size;
      seen[static_cast<std::size_t>(at)] = true;
    }
  }
}

TEST(Shuffle, DependsOnTheSeed) {
  std::uint64_t same = 0;
  for (std::uint64_t place = 0; place < 1000; ++place) {
    same += Shuffle(1, 1000).at(place) == Shuffle(2, 1000).at(place) ? 1U : 0U;
  }
  EXPECT_LT(same, 20U);  // One is expected; twenty or more happen once in 10^18 seeds.
}

TEST(Shuffle, StaysInRangeBeyond64Bits) {
  const Cardinality size = (Cardinality{1} << 126U) - 3;
  const Shuffle shuffle(1, size);
  EXPECT_LT(shuffle.at(size - 1), size);
  EXPECT_NE(shuffle.at(0), shuffle.at(1));
}

}  // namespace
}  // namespace hpsearch::searchers
