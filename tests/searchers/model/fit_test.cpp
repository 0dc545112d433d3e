#include "model/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "vectors.hpp"

namespace hpsearch::searchers::model {
namespace {

TEST(Fit, ObjectiveAndGradientAreThoseOfAnotherImplementation) {
  const Points points = test::points();
  const std::vector<double> targets = test::targets();
  const Prior prior = prior_of(2, 1e-3);
  FitObjective objective;
  objective.explain(points, targets, prior);
  EXPECT_NEAR(objective.value(test::theta()), 4.79077737122, 1e-9);
  std::vector<double> gradient(8);
  objective.gradient(gradient);
  const std::vector<double> expected{2.43431235423,  7.52539209325,   -2.49656903634, -0.0509499473893,
                                     -1.21809535113, -0.741548467291, 0.214684125359, 0.255759788527};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(gradient[i] / expected[i], 1, 1e-7) << i;
  }
}

TEST(Fit, GradientIsThatOfDifferences) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    engine::Draw draw(seed, engine::TrialNumber(0), "points");
    Points points;
    points.features = 1 + draw.below(6);
    std::vector<double> targets;
    const std::size_t count = 5 + draw.below(60);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<double> x;
      for (std::size_t j = 0; j < points.features; ++j) {
        x.push_back(draw.unit());
      }
      points.add(x, static_cast<double>(draw.below(4)) / 3);
      targets.push_back(std::sin(4 * x[0]) +
                        0.1 * draw.unit());  // Or differences of huge values are all rounding.
    }
    const Prior prior = prior_of(points.features, 1e-2);
    std::vector<double> theta;
    for (std::size_t i = 0; i < prior.mean.size(); ++i) {
      theta.push_back(prior.mean[i] + prior.deviation[i] * (2 * draw.unit() - 1));
    }
    FitObjective objective;
    objective.explain(points, targets, prior);
    static_cast<void>(objective.value(theta));
    std::vector<double> gradient(theta.size());
    objective.gradient(gradient);
    for (std::size_t i = 0; i < theta.size(); ++i) {
      std::vector<double> moved = theta;
      moved[i] = theta[i] + 1e-5;
      const double above = objective.value(moved);
      moved[i] = theta[i] - 1e-5;
      const double below = objective.value(moved);
      const double expected = (above - below) / 2e-5;
      EXPECT_NEAR(gradient[i], expected, 1e-5 * std::max(1.0, std::abs(expected))) << i;
    }
  }
}

TEST(Fit, FindsAMinimumAsLowAsThatOfAnotherImplementation) {
  const Points points = test::points();
  const std::vector<double> targets = test::targets();
  const Prior prior = prior_of(2, 1e-3);
  FitObjective objective;
  objective.explain(points, targets, prior);
  const Minimum minimum = minimise(objective, prior.start, prior.lower, prior.upper);
  EXPECT_LE(minimum.value, -0.27233 + 1e-3);
  EXPECT_GE(minimum.value, -0.27233 - 1e-3);
  EXPECT_NEAR(objective.value(test::theta_hat()), -0.2723294357, 1e-9);
}

TEST(Fit, StaysWithinItsBounds) {
  // Two targets for one point: the noise would leave its range.
  Points points;
  points.features = 1;
  std::vector<double> targets;
  for (int i = 0; i < 20; ++i) {
    points.add(std::vector{0.3}, 1);
    targets.push_back(i % 2 == 0 ? 30 : -30);
  }
  const Prior prior = prior_of(1, 1e-3);
  FitObjective objective;
  objective.explain(points, targets, prior);
  const Minimum minimum = minimise(objective, prior.start, prior.lower, prior.upper);
  EXPECT_LT(minimum.value, objective.value(prior.start));
  for (std::size_t i = 0; i < minimum.at.size(); ++i) {
    EXPECT_GE(minimum.at[i], prior.lower[i]);
    EXPECT_LE(minimum.at[i], prior.upper[i]);
  }
}

}  // namespace
}  // namespace hpsearch::searchers::model
