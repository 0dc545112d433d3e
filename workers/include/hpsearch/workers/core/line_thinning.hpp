#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "hpsearch/workers/core/program_message.hpp"

namespace hpsearch::workers {

/// Which of a program's lines may be left out where not all of them can be written down: the search does not
/// need them, whatever its metric is called.
///
/// Threads: none of its own; callers take turns.
/// Cost:    O(log names) per metric; at most 1,024 names are remembered, and beyond them a metric is taken
/// for a
///          known one.
class LineThinning {
 public:
  /// From this step on something is decided; 0 = that is not known.
  void decides_from(engine::Units step);

  /// Whether this line can be dropped. The first line with each metric at or beyond the step that decides is
  /// needed: it asks. Asked once per line, in order.
  [[nodiscard]] bool spares(const ProgramMessage& message);

 private:
  [[nodiscard]] bool spares_metrics(const MetricsMessage& said);

  engine::Units from_{};
  std::set<std::string, std::less<>> asked_;  ///< Metrics that came at or beyond it.
};

}  // namespace hpsearch::workers
