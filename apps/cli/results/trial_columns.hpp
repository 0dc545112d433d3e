#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

// What there is to show of trials as the daemon lists them, by name.

/// Every hyperparameter of a trial with its path, as "optimizer.lr".
[[nodiscard]] std::vector<std::pair<std::string, engine::Value>> hparam_leaves(const engine::Value& hparams);

/// The names that all trials together have: those of the trial itself (trial_names), then hyperparameters.
[[nodiscard]] std::vector<std::string> column_names(const engine::Value::List& trials);

/// "trial", "state", "metric" (its best), "at", "last", "length", "reached", "attempts", "restarts",
/// "slot_seconds", "failure".
[[nodiscard]] const std::vector<std::string>& trial_names();

/// Of that name; null when the trial has none. A hyperparameter may be called by the end of its path. NaN and
/// infinite metrics are null.
[[nodiscard]] engine::Value column_value(const engine::Value& trial, std::string_view name);

/// Hyperparameters that differ among the trials, in order of their names; all of them when there is one
/// trial.
[[nodiscard]] std::vector<std::string> searched_names(const engine::Value::List& trials);

/// A value in a cell: six significant digits; 1, 1.0, "1" and true read apart.
[[nodiscard]] std::string cell_text(const engine::Value& value);

}  // namespace hpsearch::cli
