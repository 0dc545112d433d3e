#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

// The columns of trials as the daemon lists them, by name.

/// Every hyperparameter of a trial with its path, for example "optimizer.lr".
[[nodiscard]] std::vector<std::pair<std::string, engine::Value>> hparam_leaves(const engine::Value& hparams);

/// The names in all trials together: those of the trial itself (trial_names), then hyperparameters.
[[nodiscard]] std::vector<std::string> column_names(const engine::Value::List& trials);

/// "trial", "state", "metric" (its best), "at", "last", "length", "reached", "attempts", "restarts",
/// "slot_seconds", "failure".
[[nodiscard]] const std::vector<std::string>& trial_names();

/// The value of that name; null if the trial has none. The end of its path is enough for a hyperparameter.
/// NaN and infinite metrics are null.
[[nodiscard]] engine::Value column_value(const engine::Value& trial, std::string_view name);

/// Hyperparameters that differ among the trials, by name; all of them if there is one trial.
[[nodiscard]] std::vector<std::string> searched_names(const engine::Value::List& trials);

/// A value in a cell: six significant digits; 1, 1.0, "1" and true look different.
[[nodiscard]] std::string cell_text(const engine::Value& value);

/// By the best metric; those without one last, by number.
void sort_best_first(engine::Value::List& trials, bool smaller_is_better);

}  // namespace hpsearch::cli
