#include "halving/expected_promotions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hpsearch::searchers {

namespace {

/// 1 + 1/2 + … + 1/n.
double harmonic(double n) noexcept {
  double sum = 0;
  if (n < 32) {
    for (double m = 1; m <= n; ++m) {
      sum += 1 / m;
    }
    return sum;
  }
  return std::log(n) + std::numbers::egamma + 1 / (2 * n) - 1 / (12 * n * n);  // The next term is below 1e-8.
}

/// How many of the first m to report may go on.
double keep(double m, double divisor) noexcept {
  return std::max(std::floor(m / divisor), 1.0);
}

/// For a whole number of trials. Those with the same k = floor(m / d) are summed at once, k by k, until what
/// flooring takes away has come down to its mean.
double expected_promotions(double trials, double divisor, double mean_lost) noexcept {
  constexpr double blocks = 256;
  const auto last_of = [&](double k) { return std::min(trials, std::ceil((k + 1) * divisor) - 1); };
  double last = last_of(1);
  double before = harmonic(last);
  double sum = before;
  for (double k = 2; last < trials && k < blocks; ++k) {
    last = last_of(k);
    const double here = harmonic(last);
    sum += k * (here - before);
    before = here;
  }
  return last < trials ? sum + (trials - last) / divisor - mean_lost * std::log((trials + 0.5) / (last + 0.5))
                       : sum;
}

}  // namespace

double expected_to_pass(double trials, const Divisor& divisor) noexcept {
  // m mod d takes the values 0 to d - 1 when d is whole, and any below d otherwise.
  const double d = divisor.value();
  const double mean_lost = divisor.whole() != 0 ? (d - 1) / (2 * d) : 0.5;
  const double whole = std::floor(trials);
  return expected_promotions(whole, d, mean_lost) + (trials - whole) * keep(whole + 1, d) / (whole + 1);
}

}  // namespace hpsearch::searchers
