#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hpsearch/proto/wire/utilization.hpp"

namespace hpsearch::workers {

/// The utilization of an attempt from its beginning on, in at most `most` stretches of its time: when there
/// are more, neighbours are merged, and each following stretch becomes twice as long.
///
/// Threads: none of its own; callers take turns.
/// Cost:    O(1) per sample on average.
class UtilizationSeries {
 public:
  static constexpr std::size_t most = proto::most_stretches;

  /// Continues with the stretches of an earlier series.
  explicit UtilizationSeries(std::vector<proto::Utilization> before = {});

  /// Adds what was measured since the last call. `at_ms` grows.
  void add(const proto::Utilization& sample);

  [[nodiscard]] const std::vector<proto::Utilization>& stretches() const noexcept { return stretches_; }

 private:
  void take_usual_length();
  void halve();

  std::vector<proto::Utilization> stretches_;
  std::uint64_t usual_ms_ = 0;  ///< Samples join the last stretch until it is about so long.
};

}  // namespace hpsearch::workers
