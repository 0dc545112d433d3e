#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::views {

/// The metrics that the programs of each experiment report, and their values where a trial was best. It must
/// see every event, in order.
///
/// Cost: O(names) per report; memory for each name, and a bit and a number for each trial that reports it.
class MetricNames {
 public:
  /// `record` is the experiment after the event; nullptr if the event belongs to none, or the experiment is
  /// deleted.
  void note(const engine::Event& event, const engine::ExperimentRecord* record);

  /// metrics [{name, group, count, trials, first_step, last_step}] by name. The group is the part before
  /// the last dot of the name; "" if there is none. O(names).
  [[nodiscard]] std::string json(engine::ExperimentId experiment) const;

  /// All names, in order. O(names).
  [[nodiscard]] std::vector<std::string> names(engine::ExperimentId experiment) const;
  /// Whether a trial of the experiment has reported a metric of this name.
  [[nodiscard]] bool has(engine::ExperimentId experiment, std::string_view name) const;
  /// The value of the metric that the trial reported at the step of its best value of the searcher's metric.
  /// NaN if it reported none there, or one that isn't finite. O(log names).
  [[nodiscard]] double at_best(const engine::ExperimentRecord& experiment, std::size_t trial,
                               std::string_view name) const;

 private:
  struct Name {
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t trials = 0;
    std::uint64_t first_step = 0;
    std::uint64_t last_step = 0;
    std::vector<bool> reported_by;
    std::vector<double>
        at_best;  // By trial; shorter if the last trials have none. Not of the searcher's metric.
  };
  /// A report without the searcher's metric: if the trial becomes best at this step, it belongs to that.
  struct Beside {
    std::uint64_t step = 0;
    engine::Metrics metrics;
  };
  struct OfExperiment {
    std::vector<Name> names;                // Sorted by name, like reports.
    std::vector<std::uint64_t> best_steps;  // By trial, as the program counts them; a mark before the first.
    std::map<std::size_t, Beside> beside;  // By trial, only until its next report with the searcher's metric.
  };

  static void note_names(std::vector<Name>& names, std::size_t trial, const engine::MetricsReport& report);
  static void note_best(OfExperiment& of, std::size_t trial, const engine::MetricsReport& report,
                        const engine::ExperimentRecord& record, engine::Instant at);
  [[nodiscard]] const Name* find(engine::ExperimentId experiment, std::string_view name) const;

  std::map<engine::ExperimentId, OfExperiment> experiments_;
};

/// The part before the last dot: "validation" of "validation.loss"; "" if there is no dot.
[[nodiscard]] std::string metric_group(const std::string& name);

}  // namespace hpsearch::views
