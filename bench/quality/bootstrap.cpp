#include "bootstrap.hpp"

#include <algorithm>
#include <numeric>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::quality {

Interval bootstrap_mean(const std::vector<double>& values, std::uint64_t seed) {
  constexpr std::size_t resamples = 10'000;
  const double count = static_cast<double>(values.size());
  engine::Draw draw(seed, engine::TrialNumber(0), "bootstrap");
  std::vector<double> means;
  means.reserve(resamples);
  for (std::size_t i = 0; i < resamples; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      sum += values[draw.below(values.size())];
    }
    means.push_back(sum / count);
  }
  std::sort(means.begin(), means.end());
  return {std::accumulate(values.begin(), values.end(), 0.0) / count, means[resamples / 40],
          means[resamples - 1 - resamples / 40]};
}

}  // namespace hpsearch::quality
