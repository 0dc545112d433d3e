#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::views {

/// The metrics that the programs of each experiment report. It must see every event, in order.
///
/// Cost: O(metrics) per report; memory for each name and a bit for each trial that reports it.
class MetricNames {
 public:
  void note(const engine::Event& event);

  /// metrics [{name, group, count, trials, first_step, last_step}] by name. The group is the part before
  /// the last dot of the name; "" if there is none. O(names).
  [[nodiscard]] std::string json(engine::ExperimentId experiment) const;

 private:
  struct Name {
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t trials = 0;
    std::uint64_t first_step = 0;
    std::uint64_t last_step = 0;
    std::vector<bool> reported_by;
  };

  std::map<engine::ExperimentId, std::vector<Name>> names_;  // Sorted by name, like reports.
};

/// The part before the last dot: "validation" of "validation.loss"; "" if there is no dot.
[[nodiscard]] std::string metric_group(const std::string& name);

}  // namespace hpsearch::views
