#include "model/numeric/normal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace hpsearch::searchers::model {
namespace {

TEST(LogMeanImprovement, IsThatOfAnotherImplementation) {
  for (const auto& [z, expected] : {std::pair{8.0, 2.07944154167984},
                                    {3.0, 1.09873966532771},
                                    {1.0, 0.080026218849307},
                                    {0.0, -0.918938533204673},
                                    {-0.5, -1.62051626438732},
                                    {-1.0, -2.48512102571264},
                                    {-2.0, -4.76878352391711},
                                    {-5.0, -16.7443011626609},
                                    {-6.0, -22.5788793921697},
                                    {-10.0, -55.5531220361221},
                                    {-25.0, -319.861463581389},
                                    {-100.0, -5010.12957880025},
                                    {-10000.0, -50000019.3396193},
                                    {-1e8, -5.00000000000004e15}}) {
    EXPECT_NEAR(log_mean_improvement(z) / expected, 1, z > -25 ? 1e-10 : 1e-9) << z;
  }
}

TEST(LogMeanImprovement, RisesAcrossItsCases) {
  double before = log_mean_improvement(-40);
  for (double z = -40 + 1e-3; z < 8; z += 1e-3) {
    const double here = log_mean_improvement(z);
    ASSERT_GT(here, before) << z;
    before = here;
  }
}

TEST(NormalQuantile, IsTheInverseOfTheDistribution) {
  for (double z = -7; z <= 7; z += 0.01) {
    const double p = normal_below(z);
    // Near 1 a double says p no better than this.
    EXPECT_NEAR(normal_quantile(p), z, 1e-13 + 3e-16 / std::exp(-z * z / 2)) << z;
  }
  EXPECT_DOUBLE_EQ(normal_quantile(0.975), 1.959963984540054);
  EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(NormalQuantile, IsFiniteAtTheEnds) {
  EXPECT_LT(normal_quantile(0), -8);
  EXPECT_GT(normal_quantile(1), 8);
  EXPECT_TRUE(std::isfinite(normal_quantile(0)));
  EXPECT_TRUE(std::isfinite(normal_quantile(1)));
}

}  // namespace
}  // namespace hpsearch::searchers::model
