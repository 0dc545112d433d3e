#include "model/numeric/kernel.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "vectors.hpp"

namespace hpsearch::searchers::model {
namespace {

TEST(Kernel, IsThatOfAnotherImplementation) {
  const Kernel kernel(test::theta());
  const auto k = [&](double a, double b, double s, double c, double d, double t) {
    return kernel(std::vector{a, b}, s, std::vector{c, d}, t);
  };
  EXPECT_NEAR(k(0, 0, 0, 0, 0, 0), 1.76342399999999, 1e-12);
  EXPECT_NEAR(k(0.5, 0.5, 1, 0.5, 0.5, 1), 1.34999999999999, 1e-12);
  EXPECT_NEAR(k(0.1, 0.9, 0.25, 0.1, 0.9, 0.25), 1.41343703039999, 1e-12);
  EXPECT_NEAR(k(0.1, 0.9, 0.25, 0.4, 0.3, 1), 0.575847205309302, 1e-12);
  EXPECT_NEAR(k(0, 1, 0, 1, 0, 1), -0.0306989032614132, 1e-12);
  EXPECT_NEAR(k(0.2, 0.3, 0.5, 0.25, 0.35, 0.5), 1.20898208359401, 1e-12);
}

TEST(Kernel, SaysHowFarAShortTrainingAgreesWithALongOne) {
  const Kernel kernel(test::theta());
  EXPECT_NEAR(kernel.correlation(0), 0.7886938601, 1e-10);
  EXPECT_NEAR(kernel.correlation(0.25), 0.8339244262, 1e-10);
  EXPECT_NEAR(kernel.correlation(0.5), 0.8974026764, 1e-10);
  EXPECT_NEAR(kernel.correlation(0.75), 0.9658649562, 1e-10);
  EXPECT_EQ(kernel.correlation(1), 1);
}

TEST(Kernel, HasThePriorOfAnotherImplementation) {
  const Prior prior = prior_of(2, 1e-3);
  const auto expect = [](const std::vector<double>& these, const std::vector<double>& those) {
    ASSERT_EQ(these.size(), those.size());
    for (std::size_t i = 0; i < these.size(); ++i) {
      EXPECT_NEAR(these[i], those[i], 1e-10) << i;
    }
  };
  expect(prior.mean,
         {0.405465108108, 0.405465108108, 0, -1, -0.69314718056, -1, -6.90775527898, -2.30258509299});
  expect(prior.deviation, {1, 1, 1, 1, 0.7, 1, 1.5, 1.5});
  expect(prior.lower,
         {-3.50655789732, -3.50655789732, -5, -7, -2.30258509299, -7, -13.815510558, -9.21034037198});
  expect(prior.upper, {3.40119738166, 3.40119738166, 3, 3, 1.60943791243, 3, 0.69314718056, 2.30258509299});
  expect(prior.start,
         {-0.356674943939, -0.356674943939, 0, -1, -0.69314718056, -1, -6.90775527898, -2.30258509299});
}

}  // namespace
}  // namespace hpsearch::searchers::model
