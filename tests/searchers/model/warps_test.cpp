#include "model/warps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::searchers::model {
namespace {

// Two tie far below; of the others the expected targets of `win` are themselves an affine image.
std::vector<double> raw() {
  return {-5,           -5,           -0.5350724929, -0.2556612695, 0.1634555657,
          0.2565926402, 0.3031611775, 1.118110579,   1.141394848,   1.150708555};
}

std::vector<double> targets(WarpKind kind, const std::vector<double>& scores) {
  std::vector<double> ascending = scores;
  std::sort(ascending.begin(), ascending.end());
  const Warp warp(kind, ascending);
  std::vector<double> targets;
  for (const double score : scores) {
    targets.push_back(warp.target(score));
  }
  return targets;
}

void expect_near(const std::vector<double>& these, const std::vector<double>& those, double error) {
  ASSERT_EQ(these.size(), those.size());
  for (std::size_t i = 0; i < these.size(); ++i) {
    EXPECT_NEAR(these[i], those[i], error) << i;
  }
}

TEST(Warp, WinIsThatOfAnotherImplementation) {
  expect_near(targets(WarpKind::win, raw()),
              {-1.671344802, -1.671344802, -0.5350724929, -0.2556612695, 0.1634555657, 0.2565926402,
               0.3031611775, 1.118110579, 1.141394848, 1.150708555},
              1e-9);
}

TEST(Warp, CopulaIsThatOfAnotherImplementation) {
  expect_near(targets(WarpKind::copula, raw()),
              {-1.419530735, -1.419530735, -0.7532535399, -0.43587746, -0.1508900908, 0.1249476824,
               0.4099350517, 0.7273111315, 1.124560286, 1.792328409},
              1e-9);
}

TEST(Warp, AffineChangesOfTheMetricChangeNoTarget) {
  for (const WarpKind kind : {WarpKind::win, WarpKind::copula}) {
    for (const auto& [factor, offset] : {std::pair{1e-6, 3.0}, {250.0, -7e4}, {1e300, 0.0}}) {
      std::vector<double> changed = raw();
      for (double& score : changed) {
        score = factor * score + offset;
      }
      expect_near(targets(kind, changed), targets(kind, raw()), 1e-7);
    }
  }
}

TEST(Warp, CopulaSeesRanksAlone) {
  std::vector<double> changed = raw();
  for (double& score : changed) {
    score = std::exp(3 * score);
  }
  EXPECT_EQ(targets(WarpKind::copula, changed), targets(WarpKind::copula, raw()));
}

TEST(Warp, EqualScoresHaveTargetZero) {
  for (const WarpKind kind : {WarpKind::win, WarpKind::copula}) {
    expect_near(targets(kind, {0.25, 0.25, 0.25}), {0, 0, 0}, 1e-12);
    expect_near(targets(kind, {1e300}), {0}, 1e-12);
  }
}

TEST(Warp, AFailureIsAtTheBottomButNotFarBelow) {
  const std::vector<double> close{0.1, 0.2, 0.3, 0.4};
  const Warp low(WarpKind::copula, close);
  EXPECT_EQ(low.failed(), low.target(0.1));
  std::vector<double> far(200, 1.0);
  std::iota(far.begin() + 1, far.end(), 1.0);
  far[0] = -1e6;
  const Warp high(WarpKind::win, far);
  EXPECT_GE(high.failed(), -3);
  EXPECT_EQ(Warp(WarpKind::win, {}).failed(), -3);
}

TEST(Warp, AScoreComesBackFromItsTarget) {
  std::vector<double> ascending = raw();
  std::sort(ascending.begin(), ascending.end());
  const Warp warp(WarpKind::win, ascending);
  for (std::size_t i = 2; i < ascending.size(); ++i) {
    EXPECT_NEAR(warp.score_of(warp.target(ascending[i])), ascending[i], 1e-12);
  }
  EXPECT_NEAR(warp.score_width_of(warp.target(1.0) - warp.target(0.5)), 0.5, 1e-12);
}

TEST(Warp, AThousandOfManyScoresStandForAll) {
  std::vector<double> ascending;
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    engine::Draw draw(5, engine::TrialNumber(i), "score");
    ascending.push_back(std::floor(1000 * draw.unit() * draw.unit()));  // With ties.
  }
  std::sort(ascending.begin(), ascending.end());
  for (const WarpKind kind : {WarpKind::win, WarpKind::copula}) {
    const Warp warp(kind, ascending);
    double sum = 0;
    double squares = 0;
    for (const double score : ascending) {
      sum += warp.target(score);
      squares += warp.target(score) * warp.target(score);
    }
    EXPECT_NEAR(sum / 30'000, 0, 0.01);
    EXPECT_NEAR(squares / 30'000, 1, 0.02);
  }
}

}  // namespace
}  // namespace hpsearch::searchers::model
