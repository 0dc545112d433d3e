#include "model/axes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "spaces.hpp"

namespace hpsearch::searchers::model {
namespace {

using engine::Draw;
using engine::TrialNumber;
using engine::Value;

engine::Space mixed() {
  return test::parsed({{"a_constant", 3},
                       {"b_choice", test::categorical({"x", "y", "z"})},
                       {"c_switch", test::categorical({true, false})},
                       {"d_sizes", test::categorical({16, 64, 256, 1024})},
                       {"e_layers", test::integer(1, 5)},
                       {"f_rate", test::logarithmic(-4, 0)},
                       {"g_share", test::real(-1, 3)}});
}

TEST(Axes, SeeEveryParameterOnItsOwnScale) {
  const Axes axes(mixed());
  ASSERT_EQ(axes.size(), 6U);
  ASSERT_EQ(axes.features(), 8U);
  std::vector<double> place(6);
  axes.place_of(Value::Map{{"a_constant", 3},
                           {"b_choice", "y"},
                           {"c_switch", false},
                           {"d_sizes", 256},
                           {"e_layers", 2},
                           {"f_rate", 0.1},
                           {"g_share", 0.0}},
                place);
  std::vector<double> features(8);
  axes.features_of(place, features);
  const std::vector<double> expected{0, std::sqrt(0.5), 0, 0.75, 2.5 / 4, 1.5 / 5, 0.75, 0.25};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(features[i], expected[i], 1e-12) << i;
  }
}

engine::Space scaled() {
  return test::parsed(
      {{"a_rate", Value::Map{{"type", "double"}, {"minval", 1e-4}, {"maxval", 1}, {"scale", "log"}}},
       {"b_width", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 512}, {"scale", "log"}}},
       {"c_units",
        Value::Map{{"type", "int"}, {"minval", 16}, {"maxval", 512}, {"scale", "log"}, {"step", 16}}},
       {"d_share", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}, {"step", 0.25}}},
       {"e_size",
        Value::Map{{"type", "categorical"}, {"vals", Value::List{"s", "m", "l"}}, {"ordered", true}}},
       {"f_batch",
        Value::Map{{"type", "categorical"}, {"vals", Value::List{16, 32, 64}}, {"ordered", false}}}});
}

TEST(Axes, SeeScalesStepsAndOrders) {
  const Axes axes(scaled());
  ASSERT_EQ(axes.size(), 6U);
  ASSERT_EQ(axes.features(), 8U);
  std::vector<double> place(6);
  axes.place_of(Value::Map{{"a_rate", 0.01},
                           {"b_width", 16},
                           {"c_units", 64},
                           {"d_share", 0.25},
                           {"e_size", "m"},
                           {"f_batch", 64}},
                place);
  EXPECT_NEAR(place[0], 0.5, 1e-12);
  EXPECT_NEAR(place[1], std::log(16 / 0.5) / std::log(512.5 / 0.5), 1e-12);
  EXPECT_NEAR(place[2], std::log(64.0 / 8) / std::log(520.0 / 8), 1e-12);
  EXPECT_NEAR(place[3], 1.5 / 5, 1e-12);
  EXPECT_NEAR(place[4], 0.5, 1e-12);
  std::vector<double> features(8);
  axes.features_of(place, features);
  EXPECT_EQ(features[5], 0);
  EXPECT_EQ(features[6], 0);
  EXPECT_NEAR(features[7], std::sqrt(0.5), 1e-12);
}

TEST(Axes, CellsFillTheAxis) {
  const Axes axes(scaled());
  for (std::size_t axis = 1; axis < axes.size(); ++axis) {
    double end = 0;
    for (double level = 0; level < axes.levels(axis); ++level) {
      const double place = axes.snapped(axis, end + 1e-9);
      const auto cell = axes.cell(axis, place);
      EXPECT_NEAR(cell.begin, end, 1e-12) << "axis " << axis;
      EXPECT_GT(place, cell.begin);
      EXPECT_LT(place, cell.end);
      end = cell.end;
    }
    EXPECT_NEAR(end, 1, 1e-12) << "axis " << axis;
  }
}

TEST(Axes, NearMovesByALevelOfALogScaleWhereThoseAreWide) {
  const Axes axes(test::parsed(
      {{"width", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 512}, {"scale", "log"}}}}));
  std::vector<double> place(1);
  axes.place_of(Value::Map{{"width", 2}}, place);
  Draw draw(1, TrialNumber(0), "near");
  std::vector<int> widths(513);
  for (int i = 0; i < 100; ++i) {
    const std::vector<double> moved{axes.near(0, place[0], 0.05, draw)};
    ++widths[static_cast<std::size_t>(*axes.configuration_at(moved).at_path("width")->as_integer())];
  }
  EXPECT_EQ(widths[1] + widths[3], 100);
  EXPECT_GT(widths[1], 20);
  EXPECT_GT(widths[3], 20);
}

class SnappedPlaces : public testing::TestWithParam<engine::Space (*)()> {};
INSTANTIATE_TEST_SUITE_P(Axes, SnappedPlaces, testing::Values(mixed, scaled));

TEST_P(SnappedPlaces, AreThoseOfTheirConfigurations) {
  const engine::Space space = GetParam()();
  const Axes axes(space);
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Draw draw(seed, TrialNumber(0), "place");
    std::vector<double> place;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const double coordinate = axes.snapped(axis, draw.unit());
      place.push_back(draw.unit() < 0.5 ? coordinate : axes.near(axis, coordinate, 0.15, draw));
    }
    const Value configuration = axes.configuration_at(place);
    engine::Problems problems;
    space.check(configuration, "configuration", problems);
    ASSERT_TRUE(problems.empty()) << "seed " << seed;
    std::vector<double> again(place.size());
    axes.place_of(configuration, again);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      ASSERT_NEAR(again[axis], place[axis], 1e-13) << "seed " << seed << " axis " << axis;
    }
    EXPECT_EQ(axes.fingerprint(again), axes.fingerprint(place)) << "seed " << seed;
  }
}

engine::Space conditional() {
  const auto when = [](Value parameter, Value::Map condition) {
    (*parameter.as_map())["when"] = std::move(condition);
    return parameter;
  };
  return test::parsed({{"decay", when(test::real(0, 1), {{"kind", "x"}})},
                       {"kind", test::categorical({"x", "y", "z"})},
                       {"layers", when(test::integer(1, 4), {{"kind", Value::List{"y", "z"}}})},
                       {"width", when(test::categorical({"a", "b", "c"}), {{"layers", Value::List{2, 3}}})}});
}

TEST(Axes, InactiveParametersAreInTheMiddleAndHaveNoCategory) {
  const Axes axes(conditional());
  std::vector<double> place(4);
  std::vector<double> features(8);
  axes.place_of(Value::Map{{"kind", "x"}, {"decay", 0.25}}, place);
  axes.features_of(place, features);
  EXPECT_EQ(features, (std::vector{0.25, std::sqrt(0.5), 0.0, 0.0, 0.5, 0.0, 0.0, 0.0}));
  axes.place_of(Value::Map{{"kind", "z"}, {"layers", 2}, {"width", "b"}}, place);
  axes.features_of(place, features);
  EXPECT_EQ(features, (std::vector{0.5, 0.0, 0.0, std::sqrt(0.5), 1.5 / 4, 0.0, std::sqrt(0.5), 0.0}));
}

TEST(Axes, ASettledPlaceIsThatOfItsConfiguration) {
  const engine::Space space = conditional();
  const Axes axes(space);
  std::vector<int> active(4, 0);
  std::vector<double> place(4, Axes::inactive);
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Draw draw(seed, TrialNumber(0), "place");
    const std::size_t changed = draw.below(4);  // From the place of before, as candidates come about.
    place[changed] = axes.near(changed, place[changed], 0.15, draw);
    axes.settle(place, draw);
    const Value configuration = axes.configuration_at(place);
    engine::Problems problems;
    space.check(configuration, "configuration", problems);
    ASSERT_TRUE(problems.empty()) << "seed " << seed;
    std::vector<double> again(place.size());
    axes.place_of(configuration, again);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      ASSERT_NEAR(again[axis], place[axis], 1e-13) << "seed " << seed << " axis " << axis;
      active[axis] += place[axis] != Axes::inactive ? 1 : 0;
    }
    EXPECT_EQ(axes.fingerprint(again), axes.fingerprint(place)) << "seed " << seed;
  }
  EXPECT_EQ(active[1], 500);
  for (const std::size_t axis : {0U, 2U, 3U}) {
    EXPECT_GT(active[axis], 20);
    EXPECT_LT(active[axis], 480);
  }
}

TEST(Axes, NearMovesByALevelWhereThoseAreWide) {
  const Axes axes(test::parsed({{"layers", test::integer(1, 5)}}));
  Draw draw(1, TrialNumber(0), "near");
  for (int i = 0; i < 100; ++i) {
    const double moved = axes.near(0, 0.5, 0.1, draw);
    EXPECT_TRUE(std::abs(moved - 0.3) < 1e-12 || std::abs(moved - 0.7) < 1e-12) << moved;
  }
}

TEST(Axes, NearGoesToTheBoundsNowAndThen) {
  const Axes axes(test::cube(1));
  Draw draw(1, TrialNumber(0), "near");
  int low = 0;
  int high = 0;
  for (int i = 0; i < 4000; ++i) {
    const double moved = axes.near(0, 0.5, 0.01, draw);
    low += moved == 0 ? 1 : 0;
    high += moved == 1 ? 1 : 0;
  }
  // 200 each, give or take 14; a false alarm in one of a million seeds.
  EXPECT_NEAR(low, 200, 70);
  EXPECT_NEAR(high, 200, 70);
}

TEST(Axes, OtherConfigurationsHaveOtherFingerprints) {
  const Axes axes(test::cube(2));
  EXPECT_NE(axes.fingerprint(std::vector{0.0, 1.0}), axes.fingerprint(std::vector{1.0, 0.0}));
  EXPECT_NE(axes.fingerprint(std::vector{0.25, 0.5}), axes.fingerprint(std::vector{0.25, 0.5 + 1e-9}));
}

}  // namespace
}  // namespace hpsearch::searchers::model
