#include "model/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spaces.hpp"

namespace hpsearch::searchers::model {
namespace {

using engine::Draw;
using engine::TrialNumber;
using engine::Units;

TEST(KroneckerPoint, StepsByPowersOfItsRoot) {
  EXPECT_NEAR(kronecker_root(2), 1.32471795724, 1e-11);
  EXPECT_NEAR(kronecker_root(7), 1.0969815578, 1e-10);
  std::vector<double> here(7);
  std::vector<double> next(7);
  kronecker_point(4, 10, here);
  kronecker_point(4, 11, next);
  const auto step = [&](std::size_t j) { return std::fmod(next[j] - here[j] + 1, 1); };
  EXPECT_NEAR(step(0), 0.911592353482, 1e-12);
  EXPECT_NEAR(step(6), 0.523124084577, 1e-12);
}

TEST(FirstPoint, IsFarFromTheOneBeforeOnEveryAxis) {
  for (const std::size_t axes : {2U, 8U, 9U, 20U, 40U}) {
    std::vector<double> here(axes);
    std::vector<double> next(axes);
    std::vector<double> moved(axes);
    for (std::uint64_t number = 0; number < 50; ++number) {
      first_point(4, number, here);
      first_point(4, number + 1, next);
      for (std::size_t j = 0; j < axes; ++j) {
        const double apart = std::abs(next[j] - here[j]);
        moved[j] += std::min(apart, 1 - apart) / 50;  // The ends of an axis count as neighbours.
      }
    }
    EXPECT_GT(*std::min_element(moved.begin(), moved.end()), 0.05) << axes;
  }
}

TEST(Candidates, LeaveOutWhatWasStarted) {
  const Axes axes(test::parsed({{"layers", test::integer(1, 4)}}));
  History history(1);
  Candidates candidates(axes, history);
  Draw draw(2, TrialNumber(0), "candidates");
  for (const double started : {0.125, 0.375, 0.875}) {
    history.created(std::vector{started}, axes.fingerprint(std::vector{started}), Units{1});
  }
  candidates.add_uniform(100, draw);
  candidates.add_near(std::vector{0.375}, 100, 0.5, 0.05, draw);
  ASSERT_GT(candidates.size(), 0U);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    EXPECT_EQ(candidates.place(i)[0], 0.625);
  }
}

TEST(Candidates, NearOnesDifferFromTheirOrigin) {
  const Axes axes(test::cube(6));
  const History history(6);
  Candidates candidates(axes, history);
  const std::vector<double> origin(6, 0.5);
  Draw draw(2, TrialNumber(0), "candidates");
  candidates.add_near(origin, 200, 0.1, 0.1, draw);
  ASSERT_EQ(candidates.size(), 200U);
  for (std::size_t i = 0; i < 200; ++i) {
    const auto place = candidates.place(i);
    EXPECT_NE(std::vector<double>(place.begin(), place.end()), origin);
    EXPECT_EQ(candidates.points().fidelity[i], 1);
  }
}

}  // namespace
}  // namespace hpsearch::searchers::model
