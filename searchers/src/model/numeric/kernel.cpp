#include "model/numeric/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers::model {

void Points::add(std::span<const double> features_of_point, double s) {
  HPSEARCH_CHECK(features_of_point.size() == features, "points of one space");
  x.insert(x.end(), features_of_point.begin(), features_of_point.end());
  fidelity.push_back(s);
}

double matern(double r) noexcept {
  const double scaled = std::sqrt(5.0) * r;
  return (1 + scaled + scaled * scaled / 3) * std::exp(-scaled);
}

Kernel::Kernel(std::span<const double> theta) {
  HPSEARCH_CHECK(theta.size() > others, "there is a feature");
  const std::size_t features = theta.size() - others;
  for (std::size_t i = 0; i < features; ++i) {
    inverse_scale_.push_back(std::exp(-theta[i]));
  }
  const auto other = [&](Other which) { return std::exp(theta[features + which]); };
  shared_ = other(shared);
  specific_ = other(specific);
  fidelity_scale_ = other(fidelity_scale);
  curve_ = other(curve);
  noise_ = other(noise);
  trend_ = other(trend);
}

double Kernel::length_factor(double s, double t) const noexcept {
  return shared_ + specific_ * matern(std::abs(s - t) / fidelity_scale_);
}

double Kernel::curve_part(double s, double t) const noexcept {
  return curve_ * (0.25 + 4 * (s - 0.5) * (t - 0.5));
}

double Kernel::correlation(double s) const noexcept {
  return length_factor(s, 1) / (shared_ + specific_);
}

double Kernel::operator()(std::span<const double> x, double s, std::span<const double> y, double t) const {
  double squared = 0;
  double q = 0;
  for (std::size_t i = 0; i < inverse_scale_.size(); ++i) {
    const double difference = (x[i] - y[i]) * inverse_scale_[i];
    squared += difference * difference;
    q += (x[i] - 0.5) * inverse_scale_[i] * ((y[i] - 0.5) * inverse_scale_[i]);
  }
  const double r = std::max(std::sqrt(squared), 1e-7);
  return (matern(r) + trend_ * (q + q * q)) * length_factor(s, t) + curve_part(s, t);
}

double Kernel::variance(std::span<const double> x, double s) const {
  return (*this)(x, s, x, s);
}

double Kernel::variance_at(double squared_norm, double s) const noexcept {
  return (matern(1e-7) + trend_ * (squared_norm + squared_norm * squared_norm)) * length_factor(s, s) +
         curve_part(s, s);
}

Prior prior_of(std::size_t features, double noise) {
  Prior prior;
  const auto add = [&prior](double mean, double deviation, double lower, double upper, double start) {
    prior.mean.push_back(mean);
    prior.deviation.push_back(deviation);
    prior.lower.push_back(lower);
    prior.upper.push_back(upper);
    prior.start.push_back(start);
  };
  for (std::size_t i = 0; i < features; ++i) {
    add(std::log(1.5), 1, std::log(0.03), std::log(30.0), std::log(0.7));
  }
  add(0, 1, -5, 3, 0);
  add(-1, 1, -7, 3, -1);
  add(std::log(0.5), 0.7, std::log(0.1), std::log(5.0), std::log(0.5));
  add(-1, 1, -7, 3, -1);
  add(std::log(noise), 1.5, std::log(1e-6), std::log(2.0), std::log(noise));
  add(std::log(0.1), 1.5, std::log(1e-4), std::log(10.0), std::log(0.1));
  return prior;
}

}  // namespace hpsearch::searchers::model
