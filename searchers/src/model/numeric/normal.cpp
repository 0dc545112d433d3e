#include "model/numeric/normal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hpsearch::searchers::model {

namespace {

constexpr double half_log_two_pi = 0.91893853320467274178;

// Acklam's rational approximation of the quantile, for p up to one half; relative error 1.2e-9.
double lower_quantile(double p) noexcept {
  constexpr double middle = 0.02425;
  if (p < middle) {
    const double q = std::sqrt(-2 * std::log(p));
    return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) * q -
              2.549732539343734e+00) *
                 q +
             4.374664141464968e+00) *
                q +
            2.938163982698783e+00) /
           ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q +
             3.754408661907416e+00) *
                q +
            1);
  }
  const double q = p - 0.5;
  const double r = q * q;
  return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
            1.383577518672690e+02) *
               r -
           3.066479806614716e+01) *
              r +
          2.506628277459239e+00) *
         q /
         (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
            6.680131188771972e+01) *
               r -
           1.328068155288572e+01) *
              r +
          1);
}

}  // namespace

double normal_below(double z) noexcept {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double normal_quantile(double p) noexcept {
  constexpr double smallest = 0x1p-54;
  if (p > 0.5) {
    return -normal_quantile(1 - p);
  }
  p = std::max(p, smallest);
  const double z = lower_quantile(p);
  // One step of Halley's method takes the error to that of rounding.
  const double error = normal_below(z) - p;
  const double step = error * std::exp(half_log_two_pi + z * z / 2);
  return z - step / (1 + z * step / 2);
}

double log_mean_improvement(double z) noexcept {
  if (z > -1) {
    return std::log(std::exp(-z * z / 2 - half_log_two_pi) + z * normal_below(z));
  }
  const double log_density = -z * z / 2 - half_log_two_pi;
  // A switch at -6 instead would cost an error of 1.4e-4.
  if (z > -25) {
    const double x = -z;
    const double mills = normal_below(-x) * std::exp(half_log_two_pi + x * x / 2);
    return log_density + std::log1p(-x * mills);
  }
  const double q = 1 / (z * z);
  return log_density + std::log(q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q)))));
}

}  // namespace hpsearch::searchers::model
