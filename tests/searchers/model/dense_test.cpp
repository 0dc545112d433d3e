#include "model/numeric/dense.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "model/fit.hpp"
#include "model/room.hpp"

namespace hpsearch::searchers::model {
namespace {

/// A matrix that has a factor: distances of points on a line, and a little more on the diagonal.
Room covariance_of(std::size_t count, engine::Draw& draw) {
  std::vector<double> x;
  for (std::size_t i = 0; i < count; ++i) {
    x.push_back(draw.unit());
  }
  Room room;
  room.make(count, count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      room.column(j)[i] = std::exp(-std::abs(x[i] - x[j])) + (i == j ? 0.01 : 0);
    }
  }
  return room;
}

std::vector<const Dense*> here() {
  std::vector<const Dense*> all{&dense_everywhere};
  if (&dense() != &dense_everywhere) {
    all.push_back(&dense());
  }
  return all;
}

TEST(Dense, FactorTimesItsTransposeIsTheMatrixOnEveryKindOfProcessor) {
  for (const std::size_t count : {1U, 7U, 24U, 100U, 131U}) {
    engine::Draw draw(count, engine::TrialNumber(0), "dense");
    const Room whole = covariance_of(count, draw);
    for (const Dense* dense : here()) {
      SCOPED_TRACE(dense->name + std::to_string(count));
      Room factor = whole;
      ASSERT_TRUE(dense->factorise(factor.all(), count));
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k <= j; ++k) {
            sum += factor.column(k)[i] * factor.column(k)[j];
          }
          ASSERT_NEAR(sum, whole.column(j)[i], 1e-12) << i << ", " << j;
        }
      }
      // L(Lᵀx) = whole · x
      Numbers x(factor.all().stride);
      for (std::size_t i = 0; i < count; ++i) {
        x[i] = draw.unit();
      }
      Numbers b(x.size());
      for (std::size_t i = 0; i < count; ++i) {
        b[i] = dense->dot(whole.column(i), x.data(), count);
      }
      const ConstMatrix lower{factor.all().data, factor.all().stride};
      dense->solve(lower, count, {b.data(), b.size()}, 1);
      dense->solve_transposed(lower, count, b.data());
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_NEAR(b[i], x[i], 1e-9) << i;
      }
    }
  }
}

TEST(Dense, HasNoFactorOfWhatIsNotPositive) {
  for (const Dense* dense : here()) {
    Room room;
    room.make(2, 2);
    room.column(0)[0] = 1;
    room.column(0)[1] = 2;
    room.column(1)[1] = 1;
    EXPECT_FALSE(dense->factorise(room.all(), 2)) << dense->name;
  }
}

TEST(Dense, ProcessorsDifferInLastBitsOnly) {
  if (here().size() == 1) {
    GTEST_SKIP() << "this processor has no wide vectors";
  }
  constexpr std::size_t count = 90;
  constexpr std::size_t features = 5;
  engine::Draw draw(3, engine::TrialNumber(0), "dense");
  Room points;
  points.make(features, count);
  Numbers norms(count);
  Numbers factors(count);
  Numbers curves(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < features; ++j) {
      points.column(i)[j] = draw.unit() - 0.5;
    }
    norms[i] = dense().squared(points.column(i), features);
    factors[i] = draw.unit();
    curves[i] = draw.unit();
  }
  const ConstMatrix scaled{points.all().data, points.all().stride};
  const DenseRows rows{features, count, scaled, norms.data(), factors.data(), curves.data(), 0.3};
  Room wide;
  Room narrow;
  wide.make(count, count);
  narrow.make(count, count);
  dense().covariances(rows, scaled, norms.data(), wide.all(), count);
  dense_everywhere.covariances(rows, scaled, norms.data(), narrow.all(), count);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_NEAR(wide.column(j)[i], narrow.column(j)[i], 1e-12) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace hpsearch::searchers::model
