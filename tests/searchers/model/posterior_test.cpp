#include "model/posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "model/acquisition.hpp"
#include "vectors.hpp"

namespace hpsearch::searchers::model {
namespace {

struct Expected {
  double a;
  double b;
  double s;
  double mean;
  double variance;
  double log_improvement;
};

void expect(const Posterior& posterior, const std::vector<Expected>& all) {
  for (const Expected& expected : all) {
    const auto predicted = posterior.predict(std::vector{expected.a, expected.b}, expected.s);
    EXPECT_NEAR(predicted.mean, expected.mean, 1e-8);
    EXPECT_NEAR(predicted.variance, expected.variance, 1e-8);
    EXPECT_NEAR(log_improvement(predicted, 1.9) / expected.log_improvement, 1, 1e-5);
  }
}

TEST(Posterior, IsThatOfAnotherImplementation) {
  Posterior posterior;
  ASSERT_TRUE(posterior.reset(Kernel(test::theta()), test::points()));
  ASSERT_TRUE(posterior.set_targets(test::targets()));
  expect(posterior, {{0.5, 0.5, 1, 1.89442539912, 0.0413524786312, -2.54632268492},
                     {0.4, 0.6, 1, 1.89096385331, 0.00968432092016, -3.35507346374},
                     {0.4, 0.6, 0, 0.78774773158, 0.0073040635468, -93.2141452664},
                     {0, 0, 1, -0.277407311034, 0.543458509737, -8.0117475077},
                     {1, 1, 0.5, 0.70975240473, 0.11807101101, -10.6720406934}});
  posterior.believe(std::vector{0.5, 0.55}, 0);
  const std::vector<Expected> with_believer{{0.5, 0.5, 1, 1.89442539912, 0.040862595168, -2.55248923327},
                                            {0.4, 0.6, 1, 1.89096385331, 0.00968424319001, -3.35507795815},
                                            {0.4, 0.6, 0, 0.78774773158, 0.00651183540674, -103.687395957},
                                            {0, 0, 1, -0.277407311034, 0.54345764439, -8.01175651438},
                                            {1, 1, 0.5, 0.70975240473, 0.117941491184, -10.6800930435}};
  expect(posterior, with_believer);
  posterior.forget_believers();
  EXPECT_NEAR(posterior.predict(std::vector{0.5, 0.5}, 1).variance, 0.0413524786312, 1e-8);
}

TEST(Posterior, EqualsAnotherImplementationAtTheFittedTheta) {
  Posterior posterior;
  ASSERT_TRUE(posterior.reset(Kernel(test::theta_hat()), test::points()));
  ASSERT_TRUE(posterior.set_targets(test::targets()));
  expect(posterior, {{0.5, 0.5, 1, 1.82152720912, 0.0112616255428, -4.25630055763},
                     {0.4, 0.6, 1, 1.89853207802, 0.000799612689752, -4.55046464067},
                     {0.4, 0.6, 0, 0.89641067473, 0.000779700221976, -657.547153671},
                     {0, 0, 1, -0.656312704845, 0.31510090475, -15.023366446},
                     {1, 1, 0.5, 0.474569561056, 0.206099894574, -9.16196426162}});
}

TEST(Posterior, GrownByRowsIsThatOfAllRowsAtOnce) {
  const Points all = test::points();
  Points few;
  few.features = 2;
  for (std::size_t i = 0; i < 3; ++i) {
    few.add(all.at(i), all.fidelity[i]);
  }
  Posterior grown;
  ASSERT_TRUE(grown.reset(Kernel(test::theta()), few));
  for (std::size_t i = 3; i < all.size(); ++i) {
    grown.append(all.at(i), all.fidelity[i]);
  }
  Posterior whole;
  ASSERT_TRUE(whole.reset(Kernel(test::theta()), all));
  ASSERT_TRUE(grown.set_targets(test::targets()));
  ASSERT_TRUE(whole.set_targets(test::targets()));
  for (double a = 0; a <= 1; a += 0.25) {
    const std::vector x{a, 1 - a / 2};
    EXPECT_NEAR(grown.predict(x, 1).mean, whole.predict(x, 1).mean, 1e-12);
    EXPECT_NEAR(grown.predict(x, 1).variance, whole.predict(x, 1).variance, 1e-12);
  }
}

TEST(Posterior, ManyEqualRowsStillGiveNumbers) {
  std::vector<double> theta = test::theta();
  theta[2 + Kernel::noise] = std::log(1e-6);
  Points points;
  points.features = 2;
  std::vector<double> targets;
  for (int i = 0; i < 200; ++i) {
    points.add(std::vector{0.5, 0.5}, 1);
    targets.push_back(i % 3);
  }
  Posterior posterior;
  ASSERT_TRUE(posterior.reset(Kernel(theta), points));
  for (int i = 0; i < 20; ++i) {
    posterior.append(std::vector{0.5, 0.5}, 1);
    targets.push_back(1);
  }
  ASSERT_TRUE(posterior.set_targets(targets));
  const auto predicted = posterior.predict(std::vector{0.5, 0.5}, 1);
  EXPECT_NEAR(predicted.mean, 1, 0.1);
  EXPECT_GE(predicted.variance, 1e-10);
}

TEST(Posterior, TheVarianceGivenOneRowIsNeverBelowTheExactOne) {
  Posterior posterior;
  ASSERT_TRUE(posterior.reset(Kernel(test::theta()), test::points()));
  ASSERT_TRUE(posterior.set_targets(test::targets()));
  posterior.believe(std::vector{0.2, 0.9}, 0.5);
  engine::Draw draw(1, engine::TrialNumber(0), "candidates");
  Points candidates;
  candidates.features = 2;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < 100; ++i) {
    candidates.add(std::vector{draw.unit(), draw.unit()}, 1);
    which.push_back(i);
  }
  std::vector<double> means;
  std::vector<double> bounds;
  posterior.consider(candidates, means, bounds);
  std::vector<double> exact(100);
  posterior.variances(which, exact);
  for (std::size_t i = 0; i < 100; ++i) {
    const auto predicted = posterior.predict(candidates.at(i), 1);
    EXPECT_NEAR(means[i], predicted.mean, 1e-12);
    EXPECT_NEAR(exact[i], predicted.variance, 1e-12);
    EXPECT_GE(bounds[i], exact[i]);
  }
}

}  // namespace
}  // namespace hpsearch::searchers::model
