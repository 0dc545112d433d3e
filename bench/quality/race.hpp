#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/sim/curves.hpp"
#include "methods.hpp"
#include "tasks.hpp"

namespace hpsearch::quality {

/// One method on one task with one seed.
struct Race {
  std::vector<double>
      regret;  ///< Normalised, at each of the budgets; more than 1 while worse than the median.
  std::vector<double> incumbent;  ///< The best metric measured after any epoch by then; NaN before the first.
  std::uint64_t trials = 0;
  std::uint64_t epochs = 0;  ///< Trained in all, at the last budget.
};

/// Runs it. A budget B is B full trainings of work: B * full_training_seconds / workers of the clock.
/// `budgets` ascend. Nothing measured yet counts as regret 1.
[[nodiscard]] engine::Result<Race> race(const Method& method, const Task& task, engine::sim::Curves& curves,
                                        std::uint64_t seed, std::uint64_t workers,
                                        const std::vector<double>& budgets);

}  // namespace hpsearch::quality
