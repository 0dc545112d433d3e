#pragma once

#include <string>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::views {

/// How the best metric improved, as JSON: metric, smaller_is_better, unit, started_at (when the first
/// trial got its slots, or null), points [{trial, metric, length, time, slot_seconds, trials}], end {time,
/// slot_seconds, trials}: the current end of the curve, target and budget. Times are seconds since the epoch.
/// O(points).
[[nodiscard]] std::string history_json(const engine::ExperimentRecord& experiment, engine::Instant now);

}  // namespace hpsearch::views
