// rapidcheck prints the seed of every run; RC_PARAMS="seed=…" repeats it.
#include "property.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <set>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {
namespace {

Value::Map int_range(std::int64_t minval, std::int64_t maxval, std::int64_t count) {
  return {{"type", "int"}, {"minval", minval}, {"maxval", maxval}, {"count", count}};
}

Value any_range() {
  const auto count = *rc::gen::inRange<std::int64_t>(1, 9);
  switch (*rc::gen::inRange(0, 9)) {
    case 0: {
      const auto minval = *rc::gen::inRange<std::int64_t>(-1000, 1000);
      return int_range(minval, minval + *rc::gen::inRange<std::int64_t>(1, 5000), count);
    }
    case 1: {
      const double minval = *rc::gen::inRange(-1000, 1000) / 8.0;
      const double width = *rc::gen::inRange(1, 1000) / 16.0;
      return Value::Map{{"type", "double"}, {"minval", minval}, {"maxval", minval + width}, {"count", count}};
    }
    case 2: {
      const double minval = *rc::gen::inRange(-20, 20) / 2.0;
      const double width = *rc::gen::inRange(1, 20) / 2.0;
      return Value::Map{{"type", "log"},
                        {"base", *rc::gen::element(0.5, 2.0, 2.718281828459045, 10.0)},
                        {"minval", minval},
                        {"maxval", minval + width},
                        {"count", count}};
    }
    case 3: {
      Value::List vals;
      for (int i = *rc::gen::inRange(1, 6); i > 0; --i) {
        vals.push_back(*rc::gen::element<Value>(Value(i), Value(i * 0.5), Value("v" + std::to_string(i))));
      }
      return Value::Map{{"type", "categorical"}, {"vals", vals}};
    }
    case 4: {
      const auto minval = *rc::gen::inRange<std::int64_t>(1, 100);
      Value::Map range = int_range(minval, minval + *rc::gen::inRange<std::int64_t>(10, 5000), count);
      range["scale"] = "log";
      return range;
    }
    case 5: {
      const auto minval = *rc::gen::inRange<std::int64_t>(1, 100);
      Value::Map range = int_range(minval, minval + *rc::gen::inRange<std::int64_t>(50, 5000), count);
      range["scale"] = *rc::gen::element("linear", "log");
      range["step"] = *rc::gen::inRange<std::int64_t>(1, 50);
      return range;
    }
    case 6:
      return Value::Map{{"type", "double"},
                        {"scale", "log"},
                        {"minval", *rc::gen::element(1e-9, 0.3, 7.0)},
                        {"maxval", 1e3},
                        {"count", count}};
    case 7:
      return Value::Map{{"type", "double"},
                        {"scale", *rc::gen::element("linear", "log")},
                        {"minval", *rc::gen::inRange(1, 500) / 100.0},
                        {"maxval", 10.0},
                        {"step", *rc::gen::inRange(1, 500) / 100.0},
                        {"count", count}};
    default:
      return *rc::gen::element<Value>(Value(3), Value("x"), Value(), Value(true));
  }
}

Value any_hyperparameters() {
  Value::Map map;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    map["p" + std::to_string(i)] = any_range();
  }
  Value::Map group;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    group["q" + std::to_string(i)] = any_range();
  }
  if (!group.empty()) {
    map["group"] = group;
  }
  return map;
}

Space space_of(const Value& hyperparameters) {
  Problems problems;
  Problems notes;
  Space space = Space::parse(hyperparameters, "", problems, notes);
  RC_ASSERT(problems.empty());
  return space;
}

std::size_t problems_of(const Space& space, const Value& configuration) {
  Problems problems;
  space.check(configuration, "", problems);
  return problems.size();
}

HPSEARCH_PROPERTY(SpaceProperty, DrawsLieInTheSpace) {
  const Space space = space_of(any_hyperparameters());
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const Value drawn = space.sample(seed, TrialNumber{trial});
    RC_ASSERT(problems_of(space, drawn) == 0U);
    RC_ASSERT(space.sample(seed, TrialNumber{trial}) == drawn);
    RC_ASSERT(space.complete(drawn) == drawn);
  }
}

HPSEARCH_PROPERTY(SpaceProperty, DoubleDrawsStayBelowTheUpperEnd) {
  const double minval = *rc::gen::element(0.0, 1.0, -1e300, 1e15, -0.1);
  // A range of a few representable numbers: rounding wants to reach the upper end here.
  double maxval = minval;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    maxval = std::nextafter(maxval, std::numeric_limits<double>::infinity());
  }
  const Space space =
      space_of(Value::Map{{"a", Value::Map{{"type", "double"}, {"minval", minval}, {"maxval", maxval}}}});
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const double drawn = *space.sample(1, TrialNumber{trial}).at_path("a")->as_real();
    RC_ASSERT(drawn >= minval);
    RC_ASSERT(drawn < maxval);
  }
}

HPSEARCH_PROPERTY(SpaceProperty, OneLeafsDrawsDoNotDependOnTheOthers) {
  const Value range = any_range();
  Value hyperparameters = any_hyperparameters();
  (*hyperparameters.as_map())["mine"] = range;
  const Space alone = space_of(Value::Map{{"mine", range}});
  const Space together = space_of(hyperparameters);
  const TrialNumber trial{*rc::gen::inRange<std::uint64_t>(0, 100)};
  RC_ASSERT(*alone.sample(5, trial).at_path("mine") == *together.sample(5, trial).at_path("mine"));
}

// The number of a grid point, found again by comparing each leaf with its axis.
Cardinality index_of(const Space& space, const Value& hyperparameters, const Value& point) {
  Cardinality index = 0;
  for (const Space::Leaf& leaf : space.leaves()) {
    const Space axis = space_of(Value::Map{{"x", *hyperparameters.at_path(leaf.path)}});
    const Cardinality size = axis.grid_size().value();
    Cardinality place = 0;
    while (place < size && !(*axis.grid_point(place).at_path("x") == *point.at_path(leaf.path))) {
      ++place;
    }
    RC_ASSERT(place < size);
    index = index * size + place;
  }
  return index;
}

HPSEARCH_PROPERTY(SpaceProperty, GridPointsAreFoundAgainByTheirIndex) {
  Value hyperparameters = any_hyperparameters();
  const Space space = space_of(hyperparameters);
  const Cardinality size = space.grid_size().value();
  const Cardinality index = *rc::gen::arbitrary<std::uint64_t>() % size;
  const Value point = space.grid_point(index);
  RC_ASSERT(problems_of(space, point) == 0U);
  // Equal categories make equal points: the first of them has the lowest index.
  RC_ASSERT(space.grid_point(index_of(space, hyperparameters, point)) == point);
  RC_ASSERT(index_of(space, hyperparameters, point) <= index);
}

HPSEARCH_PROPERTY(SpaceProperty, IntAxesRiseFromEndToEnd) {
  const auto minval = *rc::gen::arbitrary<std::int64_t>();
  const auto maxval =
      *rc::gen::suchThat(rc::gen::arbitrary<std::int64_t>(), [=](std::int64_t n) { return n > minval; });
  const auto count = *rc::gen::inRange<std::int64_t>(2, 50);
  const Space space = space_of(Value::Map{{"a", int_range(minval, maxval, count)}});
  const Cardinality size = space.grid_size().value();
  std::int64_t last = 0;
  for (Cardinality i = 0; i < size; ++i) {
    const std::int64_t here = *space.grid_point(i).at_path("a")->as_integer();
    const bool rises = i == 0 ? here == minval : here > last;
    RC_ASSERT(rises);
    last = here;
  }
  RC_ASSERT(last == maxval);
}

HPSEARCH_PROPERTY(SpaceProperty, RealAxesRiseFromEndToEnd) {
  // Decimal fractions, which binary ones only come near to.
  const double minval = *rc::gen::inRange(-1000, 1000) / 1000.0;
  const double maxval = minval + *rc::gen::inRange(1, 1000) / 100.0;
  const auto count = *rc::gen::inRange<std::int64_t>(2, 50);
  const Space space = space_of(Value::Map{
      {"a", Value::Map{{"type", "double"}, {"minval", minval}, {"maxval", maxval}, {"count", count}}}});
  double last = minval;
  for (Cardinality i = 0; i < space.grid_size().value(); ++i) {
    const double here = *space.grid_point(i).at_path("a")->as_real();
    const bool rises = i == 0 ? here == minval : here > last;
    RC_ASSERT(rises);
    last = here;
  }
  RC_ASSERT(last == maxval);
}

bool near(const Value& a, const Value& b) {
  if (a.as_real() != nullptr && b.as_real() != nullptr) {
    return std::abs(*a.as_real() - *b.as_real()) <= 1e-9 * (1 + std::abs(*b.as_real()));
  }
  return a == b;
}

HPSEARCH_PROPERTY(SpaceProperty, UnitCubeAndBack) {
  const Space space = space_of(any_hyperparameters());
  const Value configuration = space.sample(*rc::gen::arbitrary<std::uint64_t>(), TrialNumber{0});
  const std::vector<double> unit = space.to_unit(configuration);
  for (const double coordinate : unit) {
    RC_ASSERT(coordinate >= 0.0);
    RC_ASSERT(coordinate <= 1.0);
  }
  const Value back = space.from_unit(unit);
  RC_ASSERT(problems_of(space, back) == 0U);
  for (const Space::Leaf& leaf : space.leaves()) {
    RC_ASSERT(near(*back.at_path(leaf.path), *configuration.at_path(leaf.path)));
  }
}

HPSEARCH_PROPERTY(SpaceProperty, WideIntsComeBackFromTheUnitCube) {
  const auto minval = *rc::gen::inRange<std::int64_t>(-(std::int64_t{1} << 50), std::int64_t{1} << 50);
  const auto width = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 51);
  const Space space = space_of(Value::Map{{"a", int_range(minval, minval + width, 1)}});
  const Value configuration = space.sample(*rc::gen::arbitrary<std::uint64_t>(), TrialNumber{0});
  RC_ASSERT(space.from_unit(space.to_unit(configuration)) == configuration);
}

HPSEARCH_PROPERTY(SpaceProperty, WhateverAModelProposesIsAConfiguration) {
  const Space space = space_of(any_hyperparameters());
  std::vector<double> unit = space.to_unit(space.sample(1, TrialNumber{0}));
  for (double& coordinate : unit) {
    coordinate = *rc::gen::element(0.0, 1.0, 0.5, -3.0, 7.0, std::nan(""),
                                   std::numeric_limits<double>::infinity(), 0.9999999999999999);
  }
  RC_ASSERT(problems_of(space, space.from_unit(unit)) == 0U);
}

// Not 0.30000000000000004.
HPSEARCH_PROPERTY(SpaceProperty, StepsOfDecimalsAreDecimals) {
  const int decimals = *rc::gen::inRange(0, 9);
  const double power = std::pow(10, decimals);
  const auto first = *rc::gen::inRange<std::int64_t>(-100'000, 100'000);
  const auto step = *rc::gen::inRange<std::int64_t>(1, 1000);
  const auto steps = *rc::gen::inRange<std::int64_t>(1, 300);
  const auto decimal = [=](std::int64_t units) { return static_cast<double>(units) / power; };
  const Space space = space_of(Value::Map{{"a", Value::Map{{"type", "double"},
                                                           {"minval", decimal(first)},
                                                           {"maxval", decimal(first + steps * step)},
                                                           {"step", decimal(step)}}}});
  RC_ASSERT(space.cardinality() == Cardinality(static_cast<std::uint64_t>(steps) + 1));
  const auto level = *rc::gen::inRange<std::int64_t>(0, steps + 1);
  const Value point = space.grid_point(static_cast<std::uint64_t>(level));
  RC_ASSERT(*point.at_path("a") == Value(decimal(first + level * step)));
  // What a program computed on its way there is the same value.
  double summed = decimal(first);
  for (std::int64_t i = 0; i < level; ++i) {
    summed += decimal(step);
  }
  const Value given = Value::Map{{"a", summed}};
  RC_ASSERT(problems_of(space, given) == 0U);
  RC_ASSERT(space.complete(given) == point);
  RC_ASSERT(problems_of(space, Value::Map{{"a", decimal(first) + 0.4 * decimal(step)}}) == 1U);
}

HPSEARCH_PROPERTY(SpaceProperty, LogAxesRiseFromEndToEnd) {
  const auto minval = *rc::gen::inRange<std::int64_t>(1, 50);
  const auto step = *rc::gen::inRange<std::int64_t>(1, 9);
  const auto steps = *rc::gen::inRange<std::int64_t>(1, 400);
  Value::Map range = int_range(minval, minval + step * steps, *rc::gen::inRange<std::int64_t>(2, 50));
  range["scale"] = "log";
  range["step"] = step;
  const Space space = space_of(Value::Map{{"a", range}});
  const Cardinality size = space.grid_size().value();
  RC_ASSERT(size == std::min<Cardinality>(static_cast<std::uint64_t>(*range["count"].as_integer()),
                                          static_cast<std::uint64_t>(steps) + 1));
  std::int64_t last = 0;
  for (Cardinality i = 0; i < size; ++i) {
    const std::int64_t here = *space.grid_point(i).at_path("a")->as_integer();
    const bool rises = i == 0 ? here == minval : here > last;
    RC_ASSERT(rises);
    last = here;
  }
  RC_ASSERT(last == minval + step * steps);
}

// Every value of a log scale has a cell as wide as its logarithms and is drawn as often as that.
TEST(SpaceSample, DrawsIntegersOfALogScaleAsOftenAsTheirCellsAreWide) {
  Problems problems;
  Problems notes;
  Value::Map range = int_range(1, 8, 1);
  range["scale"] = "log";
  const Space space = Space::parse(Value::Map{{"a", range}}, "", problems, notes);
  ASSERT_TRUE(problems.empty());
  constexpr std::uint64_t trials = 20'000;
  std::vector<int> seen(9);
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    ++seen[static_cast<std::size_t>(*space.sample(3, TrialNumber{trial}).at_path("a")->as_integer())];
  }
  for (std::size_t number = 1; number <= 8; ++number) {
    const double share = std::log((static_cast<double>(number) + 0.5) / (static_cast<double>(number) - 0.5)) /
                         std::log(8.5 / 0.5);
    const double expected = share * trials;
    EXPECT_NEAR(seen[number], expected, 5 * std::sqrt(expected)) << number;
  }
}

TEST(SpaceUnit, TheCoordinateOnALogScaleIsALogarithm) {
  Problems problems;
  Problems notes;
  const Value::Map rate{{"type", "double"}, {"minval", 0.0001}, {"maxval", 1}, {"scale", "log"}};
  Value::Map width = int_range(16, 256, 1);
  width["scale"] = "log";
  const Value::Map share{{"type", "double"}, {"minval", 0}, {"maxval", 1}, {"step", 0.25}};
  const Space space = Space::parse(Value::Map{{"a", rate}, {"b", width}, {"c", share}}, "", problems, notes);
  const std::vector<double> unit = space.to_unit(Value::Map{{"a", 0.01}, {"b", 64}, {"c", 0.75}});
  ASSERT_EQ(unit.size(), 3U);
  EXPECT_NEAR(unit[0], 0.5, 1e-12);
  EXPECT_NEAR(unit[1], 0.5, 1e-12);
  EXPECT_EQ(unit[2], 0.75);
  EXPECT_EQ(compact_json(space.from_unit(std::vector<double>{0.25, 0.26, 0.4})),
            R"({"a":0.001,"b":33,"c":0.5})");
}

TEST(SpaceUnit, OrdersCoordinatesByLeafAndListsCategories) {
  Problems problems;
  Problems notes;
  const Space space = Space::parse(
      Value::Map{{"c", Value::Map{{"type", "categorical"}, {"vals", Value::List{"x", "y", "z"}}}},
                 {"a", int_range(0, 10, 1)},
                 {"b", 5},
                 {"d", Value::Map{{"type", "log"}, {"base", 10}, {"minval", -4}, {"maxval", 0}}}},
      "", problems, notes);
  const std::vector<double> unit = space.to_unit(Value::Map{{"a", 5}, {"b", 5}, {"c", "y"}, {"d", 0.01}});
  ASSERT_EQ(unit.size(), 5U);
  EXPECT_EQ(unit[0], 0.5);
  EXPECT_EQ(unit[1], 0.0);
  EXPECT_EQ(unit[2], 1.0);
  EXPECT_EQ(unit[3], 0.0);
  EXPECT_NEAR(unit[4], 0.5, 1e-12);
  const Value first_of_equals = space.from_unit(std::vector<double>{0, 0.7, 0.7, 0.1, 0});
  EXPECT_EQ(*first_of_equals.at_path("c"), Value("x"));
}

TEST(SpaceSample, ReachesBothEndsOfInts) {
  Problems problems;
  Problems notes;
  const Space space = Space::parse(Value::Map{{"a", int_range(-1, 1, 1)}}, "", problems, notes);
  std::set<std::int64_t> seen;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {  // Missing one of three: once in 10^35.
    seen.insert(*space.sample(3, TrialNumber{trial}).at_path("a")->as_integer());
  }
  EXPECT_EQ(seen, (std::set<std::int64_t>{-1, 0, 1}));
}

TEST(SpaceSample, DrawsFromAllSixtyFourBits) {
  Problems problems;
  Problems notes;
  const Space space = Space::parse(Value::Map{{"a", int_range(std::numeric_limits<std::int64_t>::min(),
                                                              std::numeric_limits<std::int64_t>::max(), 1)}},
                                   "", problems, notes);
  bool negative = false;
  bool positive = false;
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    const std::int64_t drawn = *space.sample(3, TrialNumber{trial}).at_path("a")->as_integer();
    negative = negative || drawn < 0;
    positive = positive || drawn > 0;
  }
  EXPECT_TRUE(negative && positive);
}

// These numbers are what experiments were run with: changing them changes everybody's trials.
TEST(SpaceSample, StaysTheSameForever) {
  Problems problems;
  Problems notes;
  const Space space = Space::parse(
      Value::Map{{"layers", int_range(1, 100, 1)},
                 {"net", Value::Map{{"dropout", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}}},
                                    {"name", Value::Map{{"type", "categorical"},
                                                        {"vals", Value::List{"a", "b", "c"}}}}}}},
      "", problems, notes);
  EXPECT_EQ(compact_json(space.sample(1, TrialNumber{0})),
            R"({"layers":59,"net":{"dropout":0.6391659828920709,"name":"c"}})");
  EXPECT_EQ(compact_json(space.sample(1, TrialNumber{1})),
            R"({"layers":49,"net":{"dropout":0.4999514033156127,"name":"a"}})");
}

TEST(Cardinality, IsWrittenInFull) {
  EXPECT_EQ(to_text(0), "0");
  EXPECT_EQ(to_text(18446744073709551615U), "18446744073709551615");
  EXPECT_EQ(to_text((Cardinality{1} << 127U) - 1), "170141183460469231731687303715884105727");
}

}  // namespace
}  // namespace hpsearch::engine
