#pragma once

#include <cstddef>
#include <vector>

namespace hpsearch::engine {

/// The last values that were measured of something, at most 64.
class RecentValues {
 public:
  void add(double value);
  [[nodiscard]] std::size_t count() const noexcept { return values_.size(); }
  /// What few exceed: the 90th percentile, or half as much again as the median while there are fewer than 5;
  /// 0 without any. O(values).
  [[nodiscard]] double high() const;
  [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }

 private:
  std::vector<double> values_;
  std::size_t oldest_ = 0;  ///< Once there are 64.
};

/// How long the trials of an experiment take, by its last attempts.
struct Pace {
  RecentValues starts;   ///< Seconds from the lease to the beginning of the training.
  RecentValues units;    ///< Seconds of one unit of training.
  RecentValues strides;  ///< Units from one checkpoint to the next.
};

}  // namespace hpsearch::engine
