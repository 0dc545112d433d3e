#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/sim/curves.hpp"

namespace hpsearch::quality {

/// Something to search on: a space, and what trainings in it measure. Larger metrics are better.
struct Task {
  std::string name;
  engine::Value space;               ///< `hyperparameters` of an experiment.
  engine::Value grid;                ///< The same with counts, or null where a grid makes no sense.
  std::uint64_t max_length = 52;     ///< The length of a full training.
  double full_training_seconds = 0;  ///< Mean over random configurations: the unit of budgets.
  double best = 0;                   ///< Normalised regret 0 …
  double median = 0;                 ///< … and 1: the median of random configurations at full length.
  /// Curves for one experiment seed; larger is better. May be called from several threads.
  std::function<std::unique_ptr<engine::sim::Curves>(std::uint64_t seed)> curves;
};

/// Instances of the LCBench surrogate, its files being in `directory`: those with these ids.
[[nodiscard]] engine::Result<std::vector<Task>> lcbench_tasks(const std::string& directory,
                                                              const std::vector<std::string>& ids);

/// Ids of the ten instances that figures are given for.
[[nodiscard]] const std::vector<std::string>& development_instances();

/// Formulas (surrogates/synthetic.hpp): needs no data.
[[nodiscard]] std::vector<Task> synthetic_tasks();

}  // namespace hpsearch::quality
