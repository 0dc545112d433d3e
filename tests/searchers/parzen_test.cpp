#include "tpe/parzen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "settings.hpp"

namespace hpsearch::searchers::tpe {
namespace {

using engine::Draw;
using engine::TrialNumber;
using test::categorical;
using test::double_range;
using test::int_range;
using test::space_of;
using test::Value;

/// A real number, one of six levels, one of three categories.
model::Axes mixed_axes() {
  return model::Axes(space_of({{"a_real", double_range(0, 1)},
                               {"b_level", int_range(1, 6)},
                               {"c_choice", categorical({"relu", "gelu", "tanh"})}}));
}

double level(int cell) {
  return (cell + 0.5) / 6;
}
double choice(int cell) {
  return (cell + 0.5) / 3;
}

/// The density summed over the whole space.
double total(const Parzen& parzen) {
  constexpr int steps = 400;
  double sum = 0;
  for (int step = 0; step < steps; ++step) {
    for (int b = 0; b < 6; ++b) {
      for (int c = 0; c < 3; ++c) {
        const std::vector<double> place{(step + 0.5) / steps, level(b), choice(c)};
        sum += std::exp(parzen.log_density(place)) / steps;
      }
    }
  }
  return sum;
}

TEST(Parzen, IsADensity) {
  const model::Axes axes = mixed_axes();
  EXPECT_NEAR(total(Parzen(axes, {})), 1, 1e-9) << "uniform";
  EXPECT_NEAR(total(Parzen(axes, {0.02, level(0), choice(1)})), 1, 1e-3) << "at the end of ranges";
  EXPECT_NEAR(total(Parzen(axes, {0.5, level(2), choice(0), 0.9, level(5), choice(2)})), 1, 1e-3);
}

TEST(Parzen, IsGreatestAtItsCentresAndNowhereZero) {
  const model::Axes axes = mixed_axes();
  const Parzen parzen(axes, {0.3, level(1), choice(2)});
  const double there = parzen.log_density(std::vector<double>{0.3, level(1), choice(2)});
  const double real_off = parzen.log_density(std::vector<double>{0.6, level(1), choice(2)});
  const double level_off = parzen.log_density(std::vector<double>{0.3, level(5), choice(2)});
  const double choice_off = parzen.log_density(std::vector<double>{0.3, level(1), choice(0)});
  EXPECT_GT(there, real_off);
  EXPECT_GT(there, level_off);
  EXPECT_GT(there, choice_off);
  // The uniform density, one of two components, has 1/18 everywhere.
  EXPECT_GE(parzen.log_density(std::vector<double>{1, level(5), choice(0)}), std::log(1.0 / 36) - 1e-12);
}

TEST(Parzen, DrawsWhatItsDensitySays) {
  const model::Axes axes = mixed_axes();
  const Parzen parzen(axes, {0.05, level(1), choice(2), 0.6, level(4), choice(2)});
  constexpr int draws = 20'000;
  std::vector<int> in_tenth(10);
  std::vector<int> at_level(6);
  std::vector<int> at_choice(3);
  Draw draw(11, TrialNumber(0), "test");
  for (int i = 0; i < draws; ++i) {
    const std::vector<double> place = parzen.draw(draw).place;
    ASSERT_EQ(place.size(), 3U);
    ++in_tenth.at(static_cast<std::size_t>(std::min(place[0] * 10, 9.0)));
    ++at_level.at(static_cast<std::size_t>(place[1] * 6));
    ++at_choice.at(static_cast<std::size_t>(place[2] * 3));
  }
  const auto expected = [&](auto&& inside) {
    constexpr int steps = 200;
    double sum = 0;
    for (int step = 0; step < steps; ++step) {
      for (int b = 0; b < 6; ++b) {
        for (int c = 0; c < 3; ++c) {
          const double a = (step + 0.5) / steps;
          if (inside(a, b, c)) {
            sum += std::exp(parzen.log_density(std::vector<double>{a, level(b), choice(c)})) / steps;
          }
        }
      }
    }
    return sum * draws;
  };
  constexpr double five_sigma = 5 * 71;  // For a binomial count of 20,000 at its widest.
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(in_tenth[static_cast<std::size_t>(i)],
                expected([i](double a, int, int) { return a >= i / 10.0 && a < (i + 1) / 10.0; }), five_sigma)
        << "tenth " << i;
  }
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(at_level[static_cast<std::size_t>(i)], expected([i](double, int b, int) { return b == i; }),
                five_sigma)
        << "level " << i;
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(at_choice[static_cast<std::size_t>(i)], expected([i](double, int, int c) { return c == i; }),
                five_sigma)
        << "choice " << i;
  }
}

// Its levels are not equally wide.
TEST(Parzen, ALogScaleHasTheDensityThatItDrawsBy) {
  Value::Map widths = int_range(1, 8);
  widths["scale"] = "log";
  const model::Axes axes(space_of({{"width", widths}}));
  const auto place_of = [&](std::int64_t width) {
    std::vector<double> place(1);
    axes.place_of(Value::Map{{"width", width}}, place);
    return place;
  };
  const Parzen parzen(axes, place_of(2));
  constexpr int draws = 20'000;
  std::vector<int> drawn(9);
  Draw draw(11, TrialNumber(0), "test");
  for (int i = 0; i < draws; ++i) {
    const Value hparams = axes.configuration_at(parzen.draw(draw).place);
    ++drawn.at(static_cast<std::size_t>(*hparams.at_path("width")->as_integer()));
  }
  double sum = 0;
  for (std::int64_t width = 1; width <= 8; ++width) {
    const double density = std::exp(parzen.log_density(place_of(width)));
    sum += density;
    EXPECT_NEAR(drawn[static_cast<std::size_t>(width)], density * draws, 5 * 71) << width;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Parzen, SaysWhoseKernelADrawCameFrom) {
  const model::Axes axes = mixed_axes();
  const Parzen parzen(axes, {0.05, level(1), choice(2), 0.6, level(4), choice(1)});
  std::vector<int> from(3);
  Draw draw(12, TrialNumber(0), "test");
  for (int i = 0; i < 3000; ++i) {
    const Parzen::Drawn drawn = parzen.draw(draw);
    ++from.at(drawn.centre.value_or(2));
  }
  for (const int count : from) {
    EXPECT_NEAR(count, 1000, 130);
  }
}

}  // namespace
}  // namespace hpsearch::searchers::tpe
