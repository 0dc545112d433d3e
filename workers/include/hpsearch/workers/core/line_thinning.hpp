#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "hpsearch/workers/core/program_message.hpp"

namespace hpsearch::workers {

/// The lines of a program that may be left out if not all can be written: the search doesn't need them,
/// for any metric.
///
/// Threads: none of its own; callers take turns.
/// Cost:    O(log names) per metric; at most 1,024 names are kept, and beyond them a metric counts as
/// a
///         known one.
class LineThinning {
 public:
  /// From this step on a report leads to a decision; 0 = unknown.
  void decides_from(engine::Units step);

  /// Whether this line can be dropped. The first line with each metric at or beyond the deciding step is
  /// needed, because it is a question. Call it once per line, in order.
  [[nodiscard]] bool spares(const ProgramMessage& message);

 private:
  [[nodiscard]] bool spares_metrics(const MetricsMessage& said);

  engine::Units from_{};
  std::set<std::string, std::less<>> asked_;  ///< Metrics with a line at or beyond that step.
};

}  // namespace hpsearch::workers
