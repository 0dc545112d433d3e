#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/numeric/numbers.hpp"

namespace hpsearch::searchers::model {

/// Configurations, as features, each at a fidelity s: 1 at full length, less below.
struct Points {
  std::size_t features = 0;
  Numbers x;  ///< `features` numbers per point, one point after the other.
  std::vector<double> fidelity;

  [[nodiscard]] std::size_t size() const noexcept { return fidelity.size(); }
  [[nodiscard]] std::span<const double> at(std::size_t point) const {
    return std::span(x).subspan(point * features, features);
  }
  void add(std::span<const double> features_of_point, double s);
  void clear() noexcept {
    x.clear();
    fidelity.clear();
  }
};

/// The covariance of metrics of two configurations at two lengths:
///
///     k = (M(r) + P) F + T
///
/// M: Matérn 5/2 of the scaled distance r. P: a linear and quadratic trend, which lets the model extrapolate
/// to the corners of the space after a dozen results. F: a part shared by all lengths and one that forgets
/// over them; their ratio is how far short trainings agree with long ones. T: the average learning curve. K
/// of several points has noise on its diagonal.
///
/// θ are the logarithms: of a length scale per feature, then σ1², σ2², ℓs, σ3², σn², σ4².
class Kernel {
 public:
  static constexpr std::size_t others = 6;  ///< Numbers in θ beside the length scales.
  enum Other : std::size_t { shared, specific, fidelity_scale, curve, noise, trend };

  explicit Kernel(std::span<const double> theta);

  [[nodiscard]] std::size_t features() const noexcept { return inverse_scale_.size(); }
  [[nodiscard]] double operator()(std::span<const double> x, double s, std::span<const double> y,
                                  double t) const;
  /// k of a point with itself, without noise.
  [[nodiscard]] double variance(std::span<const double> x, double s) const;
  /// The same, of a point whose scaled features, centred, have this squared norm.
  [[nodiscard]] double variance_at(double squared_norm, double s) const noexcept;
  [[nodiscard]] double noise_variance() const noexcept { return noise_ + 1e-6; }

  [[nodiscard]] double length_factor(double s, double t) const noexcept;  ///< F
  [[nodiscard]] double curve_part(double s, double t) const noexcept;     ///< T
  /// The correlation of metrics at fidelity s with full length, the average curve apart; in [0, 1].
  [[nodiscard]] double correlation(double s) const noexcept;

  [[nodiscard]] const std::vector<double>& inverse_scales() const noexcept { return inverse_scale_; }
  [[nodiscard]] double trend_variance() const noexcept { return trend_; }

 private:
  std::vector<double> inverse_scale_;
  double shared_;
  double specific_;
  double fidelity_scale_;
  double curve_;
  double noise_;
  double trend_;
};

[[nodiscard]] double matern(double r) noexcept;  ///< (1 + √5 r + 5r²/3) e^{−√5 r}

/// What is believed of θ before there are results, where it may lie, and where every fit begins.
struct Prior {
  std::vector<double> mean;
  std::vector<double> deviation;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> start;
};

/// `noise`: the expected variance of noise, of targets whose variance is 1.
[[nodiscard]] Prior prior_of(std::size_t features, double noise);

}  // namespace hpsearch::searchers::model
