#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace hpsearch::proto {

/// Counts values by range: bucket i counts values above bound i - 1 and at most bound i; the
/// last bucket counts values above all bounds.
template <std::size_t N>
struct Histogram {
  std::array<double, N> bounds;  ///< Ascending.
  std::array<std::uint64_t, N + 1> counts{};
  double sum = 0;

  [[nodiscard]] std::size_t bucket_of(double value) const noexcept {
    return static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin());
  }
  void add(double value) noexcept {
    ++counts[bucket_of(value)];
    sum += value;
  }
};

}  // namespace hpsearch::proto
