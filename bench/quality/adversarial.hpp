#pragma once

#include <vector>

#include "tasks.hpp"

namespace hpsearch::quality {

/// Formulas that punish a searcher that trusts what it has learnt: no data needed. What may be learnt from a
/// short training is honest but for `noise`; each task's optimum lies elsewhere for each seed.
///
/// noise: results say nothing about configurations. needle: flat but for a cube of 1/12 of each range.
/// sparse20: twenty parameters, two of which matter. half_fails: below the middle of one parameter every
/// result is NaN. late_nan: a quarter of the space, next to the optimum, has NaN from a third of the length
/// on.
[[nodiscard]] std::vector<Task> adversarial_tasks();

}  // namespace hpsearch::quality
