#pragma once

#include <cstdint>
#include <vector>

namespace hpsearch::quality {

struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

/// Mean with its 95 % percentile bootstrap interval (Efron 1979): 10,000 resamples, drawn from `seed`.
[[nodiscard]] Interval bootstrap_mean(const std::vector<double>& values, std::uint64_t seed);

}  // namespace hpsearch::quality
