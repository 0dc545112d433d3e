#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::views {

/// Formats in which all trials of an experiment leave it.
enum class ExportFormat : std::uint8_t {
  csv,    ///< A line with names, then a line for each trial.
  jsonl,  ///< A line for each trial, as GET …/trials has them.
  optuna  ///< A line for the study, then a line for each trial: what optuna.trial.create_trial takes.
};
inline constexpr std::string_view export_formats[] = {"csv", "jsonl", "optuna"};

/// What stands before the first trial; may be nothing. O(leaves).
[[nodiscard]] std::string export_head(const engine::ExperimentRecord& experiment, ExportFormat format);
/// The line of one trial, which must exist. O(leaves).
[[nodiscard]] std::string export_row(const engine::ExperimentRecord& experiment, engine::TrialNumber trial,
                                     ExportFormat format, engine::Instant now);

}  // namespace hpsearch::views
