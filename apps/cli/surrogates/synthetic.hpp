#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/sim/curves.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::surrogates {

/// Learning curves from formulas, over any space: no data is needed, and the best value is known.
///
/// A configuration is a point x of the unit cube (Space::to_unit); the seed places the optimum o in it. How
/// far a configuration is from the best one is
///
///     q = sum (x_i - o_i)^2 / sum max(o_i, 1 - o_i)^2,    in [0, 1]; 0 without coordinates.
///
/// With a = 0.05 + 0.6 q, l the length and L the maximum length, the loss is
///
///     power      a + (1 - a) l^(-1/2) + noise
///     crossing   a + (1 - a) l^(-c) + noise,  c = 0.25 + 0.75 sqrt(q): what ends well begins slowly
///     diverging  as power, but the first coordinate is a step size s, and above s = 0.7 training diverges:
///     NaN from
///                length max(1, floor(L (1 - s) / 0.3)) on. The optimum lies at s = 0.65, near the cliff.
///
/// noise = 0.01 g l^(-1/4), g nearly normal (twelve uniforms less six): a function of seed, trial and length.
/// Where larger is better the metric is 1 - loss. A unit of length takes 0.5 + u seconds, u uniform for each
/// trial.
class SyntheticCurves final : public engine::sim::Curves {
 public:
  enum class Kind : std::uint8_t { power, crossing, diverging };

  SyntheticCurves(Kind kind, engine::Space space, engine::Units max_length, engine::Goal goal,
                  std::uint64_t seed);

  [[nodiscard]] double metric(const engine::sim::Training& training, engine::Units length) override;
  [[nodiscard]] bool has_times() const noexcept override { return true; }
  [[nodiscard]] double seconds(const engine::sim::Training& training, engine::Units from,
                               engine::Units to) override;
  /// At the optimum and full length, without noise.
  [[nodiscard]] std::optional<double> best() const override;

  /// The loss without noise of a configuration at distance `q` from the optimum; that of `power` for
  /// `diverging`.
  [[nodiscard]] double loss(double q, double length) const noexcept;

 private:
  [[nodiscard]] double distance(const std::vector<double>& x) const noexcept;
  [[nodiscard]] double noise(engine::TrialNumber trial, std::uint64_t length) const noexcept;
  [[nodiscard]] double metric_of(double loss) const noexcept;

  Kind kind_;
  engine::Space space_;
  std::uint64_t max_length_;
  engine::Goal goal_;
  std::uint64_t seed_;
  std::vector<double> optimum_;
};

[[nodiscard]] std::optional<SyntheticCurves::Kind> synthetic_named(std::string_view name) noexcept;
[[nodiscard]] std::string_view name_of(SyntheticCurves::Kind kind) noexcept;

}  // namespace hpsearch::surrogates
