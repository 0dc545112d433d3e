#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::views {

/// Formats of an export of all trials.
enum class ExportFormat : std::uint8_t {
  csv,    ///< A line with names, then a line for each trial.
  jsonl,  ///< A line for each trial, as GET …/trials has them.
  optuna  ///< A line for the study, then a line for each trial: arguments of optuna.trial.create_trial.
};
inline constexpr std::string_view export_formats[] = {"csv", "jsonl", "optuna"};

/// The text before the first trial; may be empty. O(leaves).
[[nodiscard]] std::string export_head(const engine::ExperimentRecord& experiment, ExportFormat format);
/// The line of one trial, which must exist. O(leaves).
[[nodiscard]] std::string export_row(const engine::ExperimentRecord& experiment, engine::TrialNumber trial,
                                     ExportFormat format, engine::Instant now);

}  // namespace hpsearch::views
