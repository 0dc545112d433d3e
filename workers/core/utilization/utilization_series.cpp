#include "hpsearch/workers/core/utilization/utilization_series.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace hpsearch::workers {

using proto::DeviceUtilization;
using proto::Utilization;

namespace {

using Amount = std::optional<std::uint64_t>;

/// A sum is unknown if a part of it is.
Amount sum(const Amount& a, const Amount& b) {
  return a && b ? Amount(*a + *b) : Amount();
}

Amount larger(const Amount& a, const Amount& b) {
  return a && b ? std::max(a, b) : a ? a : b;
}

/// Both are by index. Instances of one GPU have the same index and stay in their order.
std::vector<DeviceUtilization> merged(const std::vector<DeviceUtilization>& a,
                                      const std::vector<DeviceUtilization>& b) {
  std::vector<DeviceUtilization> all;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (left != a.end() && right != b.end() && left->index == right->index) {
      all.push_back(
          {left->index, sum(left->busy_ms, right->busy_ms), larger(left->memory_bytes, right->memory_bytes)});
      ++left;
      ++right;
      continue;
    }
    const bool from_left = right == b.end() || (left != a.end() && left->index < right->index);
    const DeviceUtilization& alone = from_left ? *left++ : *right++;
    all.push_back({alone.index, std::nullopt, alone.memory_bytes});
  }
  return all;
}

Utilization merged(const Utilization& earlier, const Utilization& later) {
  return {.at_ms = later.at_ms,
          .ms = earlier.ms + later.ms,
          .cpu_ms = sum(earlier.cpu_ms, later.cpu_ms),
          .memory_bytes = larger(earlier.memory_bytes, later.memory_bytes),
          .devices = merged(earlier.devices, later.devices)};
}

}  // namespace

UtilizationSeries::UtilizationSeries(std::vector<Utilization> before) : stretches_(std::move(before)) {
  while (stretches_.size() > most) {
    halve();
  }
  take_usual_length();
}

void UtilizationSeries::add(const Utilization& sample) {
  // A shorter series was never halved, so each of its stretches is a sample. In a longer one a sample joins
  // if the stretch is then closer to the usual length than without it.
  if (stretches_.size() >= most / 2 && stretches_.back().ms + sample.ms / 2 < usual_ms_) {
    stretches_.back() = merged(stretches_.back(), sample);
    return;
  }
  stretches_.push_back(sample);
  if (stretches_.size() > most) {
    halve();
    take_usual_length();
  }
}

/// The median: a machine that slept makes one very long stretch.
void UtilizationSeries::take_usual_length() {
  std::vector<std::uint64_t> lengths;
  for (const Utilization& stretch : stretches_) {
    lengths.push_back(stretch.ms);
  }
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  usual_ms_ = lengths.empty() ? 0 : *middle;
}

void UtilizationSeries::halve() {
  std::vector<Utilization> half;
  for (std::size_t i = 0; i < stretches_.size(); i += 2) {
    half.push_back(i + 1 < stretches_.size() ? merged(stretches_[i], stretches_[i + 1]) : stretches_[i]);
  }
  stretches_ = std::move(half);
}

}  // namespace hpsearch::workers
