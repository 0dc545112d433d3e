#include "model/importance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "spaces.hpp"

namespace hpsearch::searchers::model {
namespace {

/// θ with these length scales.
Kernel kernel_of(const std::vector<double>& scales) {
  std::vector<double> theta;
  for (const double scale : scales) {
    theta.push_back(std::log(scale));
  }
  theta.resize(scales.size() + Kernel::others, 0.0);
  return Kernel(theta);
}

TEST(Importance, IsTheShareOfTheDistance) {
  const Axes axes(test::cube(2));
  const auto out = importance_of(axes, kernel_of({2, 1}));
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].name, "x1");
  EXPECT_NEAR(out[0].share, 0.8, 1e-12);
  EXPECT_NEAR(out[0].length_scale, 1, 1e-12);
  EXPECT_EQ(out[1].name, "x0");
  EXPECT_NEAR(out[1].share, 0.2, 1e-12);
  EXPECT_NEAR(out[1].length_scale, 2, 1e-12);
}

// Half the mean squared distance of two random values: of a range 1/12, of two categories at 1/4 and 3/4
// 1/16, of four that are 1 apart 3/8.
TEST(Importance, WeighsCategoriesByHowFarApartTheyAre) {
  const Axes axes(test::parsed({{"kind", test::categorical({"a", "b", "c", "d"})},
                                {"lr", test::real(0, 1)},
                                {"nesterov", test::categorical({false, true})}}));
  const auto out = importance_of(axes, kernel_of({1, 1, 1, 1, 1, 1}));
  ASSERT_EQ(out.size(), 3U);
  const double sum = 3.0 / 8 + 1.0 / 12 + 1.0 / 16;
  EXPECT_EQ(out[0].name, "kind");
  EXPECT_NEAR(out[0].share, 3.0 / 8 / sum, 1e-12);
  EXPECT_EQ(out[1].name, "lr");
  EXPECT_NEAR(out[1].share, 1.0 / 12 / sum, 1e-12);
  EXPECT_EQ(out[2].name, "nesterov");
  EXPECT_NEAR(out[2].share, 1.0 / 16 / sum, 1e-12);
}

TEST(Importance, IsTheMeanSquaredScaleForCategories) {
  const Axes axes(test::parsed({{"kind", test::categorical({"a", "b", "c"})}, {"lr", test::real(0, 1)}}));
  const auto out = importance_of(axes, kernel_of({1, 0.5, 0.5, 1}));
  EXPECT_EQ(out[0].name, "kind");
  EXPECT_NEAR(out[0].length_scale, 1 / std::sqrt(3), 1e-12);
  EXPECT_NEAR(out[0].share, 1 / (1 + 1.0 / 12), 1e-12);
}

TEST(Importance, AnAxisOfOneLevelHasNone) {
  const Axes axes(test::parsed({{"optimizer", test::categorical({"adam"})}}));
  const auto out = importance_of(axes, kernel_of({1}));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].share, 0);
}

}  // namespace
}  // namespace hpsearch::searchers::model
