#pragma once

#include <string>
#include <vector>

#include "tasks.hpp"

namespace hpsearch::quality {

/// The tables of bench/quality/record_curves.py in `directory`, one task each: learning curves of real
/// networks for every combination of listed values. The columns hparams.NAME make the space: lists of values,
/// numbers in ascending order.
[[nodiscard]] engine::Result<std::vector<Task>> recorded_tasks(const std::string& directory);

}  // namespace hpsearch::quality
