#pragma once

namespace hpsearch::searchers::model {

/// The standard normal quantile of p in (0, 1); the ends give the quantile of the nearest number inside.
[[nodiscard]] double normal_quantile(double p) noexcept;
/// The standard normal distribution function.
[[nodiscard]] double normal_below(double z) noexcept;

/// ln of the improvement that a standard normal has over -z on average: h(z) = φ(z) + zΦ(z).
[[nodiscard]] double log_mean_improvement(double z) noexcept;

}  // namespace hpsearch::searchers::model
