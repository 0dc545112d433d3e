#include "cli/surrogates/synthetic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hpsearch/engine/sim/simulation.hpp"
#include "hpsearch/engine/sim/yardstick.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::surrogates {
namespace {

using engine::Goal;
using engine::TrialNumber;
using engine::Units;
using engine::Value;
using engine::sim::Training;
using Kind = SyntheticCurves::Kind;

engine::Space square() {
  engine::Problems problems;
  engine::Problems notes;
  const Value::Map range{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}};
  return engine::Space::parse(Value::Map{{"a", range}, {"b", range}}, "hyperparameters", problems, notes);
}

Value at(double a, double b) {
  return Value::Map{{"a", a}, {"b", b}};
}

TEST(SyntheticCurves, OnlyNoiseIsBetterThanTheBest) {
  for (const Kind kind : {Kind::power, Kind::crossing, Kind::diverging}) {
    SyntheticCurves curves(kind, square(), Units{81}, Goal::minimize, 4);
    double lowest = 1;
    for (std::uint64_t trial = 0; trial < 3000; ++trial) {
      const Value hparams = square().sample(1, TrialNumber(trial));
      const double metric = curves.metric(Training{TrialNumber(trial), hparams, 0}, Units{81});
      if (!std::isnan(metric)) {
        lowest = std::min(lowest, metric);
      }
    }
    EXPECT_GT(lowest, *curves.best() - 0.02) << name_of(kind);
    EXPECT_LT(lowest, *curves.best() + 0.02) << name_of(kind);
  }
}

TEST(SyntheticCurves, PowerCurvesFallToTheirAsymptote) {
  const SyntheticCurves curves(Kind::power, square(), Units{81}, Goal::minimize, 4);
  EXPECT_DOUBLE_EQ(curves.loss(0, 1), 1);
  EXPECT_DOUBLE_EQ(curves.loss(0, 4), 0.05 + 0.95 / 2);
  EXPECT_DOUBLE_EQ(curves.loss(0.5, 4), 0.35 + 0.65 / 2);
}

TEST(SyntheticCurves, CrossingCurvesCross) {
  const SyntheticCurves curves(Kind::crossing, square(), Units{81}, Goal::minimize, 4);
  EXPECT_GT(curves.loss(0.05, 4), curves.loss(0.4, 4)) << "what ends well begins slowly";
  EXPECT_LT(curves.loss(0.05, 1000), curves.loss(0.4, 1000));
}

TEST(SyntheticCurves, LargerStepSizesDivergeEarlier) {
  SyntheticCurves curves(Kind::diverging, square(), Units{100}, Goal::minimize, 4);
  const auto lasts = [&](double step_size) {
    const Value hparams = at(step_size, 0.5);
    std::uint64_t length = 1;
    while (length <= 100 && !std::isnan(curves.metric(Training{TrialNumber(0), hparams, 0}, Units{length}))) {
      ++length;
    }
    return length - 1;
  };
  EXPECT_EQ(lasts(0.7), 100U);
  EXPECT_EQ(lasts(0.85), 49U);
  EXPECT_EQ(lasts(1.0), 0U);
}

TEST(SyntheticCurves, LargerIsBetterInvertsTheMetric) {
  SyntheticCurves down(Kind::power, square(), Units{81}, Goal::minimize, 4);
  SyntheticCurves up(Kind::power, square(), Units{81}, Goal::maximize, 4);
  const Value hparams = at(0.2, 0.7);
  const Training training{TrialNumber(3), hparams, 0};
  EXPECT_DOUBLE_EQ(up.metric(training, Units{9}), 1 - down.metric(training, Units{9}));
  EXPECT_DOUBLE_EQ(*up.best(), 1 - *down.best());
}

TEST(SyntheticCurves, AreReproducible) {
  SyntheticCurves curves(Kind::crossing, square(), Units{81}, Goal::minimize, 4);
  SyntheticCurves twin(Kind::crossing, square(), Units{81}, Goal::minimize, 4);
  SyntheticCurves other(Kind::crossing, square(), Units{81}, Goal::minimize, 5);
  const Value hparams = at(0.2, 0.7);
  const Training training{TrialNumber(3), hparams, 0};
  const double first = curves.metric(training, Units{9});
  EXPECT_DOUBLE_EQ(curves.metric(training, Units{9}), first);
  EXPECT_DOUBLE_EQ(twin.metric(training, Units{9}), first);
  EXPECT_NE(other.metric(training, Units{9}), first);
}

TEST(SyntheticCurves, EarlyStoppingFindsMoreInTheSameTimeThanFullTrainings) {
  const auto regret_of = [](Value::Map searcher) {
    double sum = 0;
    for (int seed = 1; seed <= 20; ++seed) {
      searcher["metric"] = "loss";
      searcher["max_length"] = Value::Map{{"epochs", 81}};
      searcher["max_trials"] = 10'000;
      const Value::Map range{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}};
      const Value config =
          Value::Map{{"entrypoint", "true"},
                     {"hyperparameters", Value::Map{{"a", range}, {"b", range}, {"c", range}}},
                     {"searcher", searcher},
                     {"reproducibility", Value::Map{{"experiment_seed", seed}}}};
      engine::Problems problems;
      engine::Problems notes;
      SyntheticCurves curves(Kind::power,
                             engine::Space::parse(*config.at_path("hyperparameters"), "", problems, notes),
                             Units{81}, Goal::minimize, static_cast<std::uint64_t>(seed));
      engine::sim::Options options;
      options.workers = 4;
      options.duration = engine::sim::DurationModel::curve;
      options.report_every = Units{1};
      options.until = engine::Duration::seconds(10 * 81 / 4);
      const auto simulated = engine::sim::simulate(config, searchers::registry(), curves, options);
      EXPECT_TRUE(simulated.has_value());
      sum += engine::sim::regret(simulated->improvements.back().metric, *curves.best(), Goal::minimize);
    }
    return sum / 20;
  };
  // Seeds are fixed: this is one comparison, not a sample.
  EXPECT_LT(regret_of(Value::Map{{"name", "adaptive_asha"}}),
            0.8 * regret_of(Value::Map{{"name", "random"}}));
}

}  // namespace
}  // namespace hpsearch::surrogates
