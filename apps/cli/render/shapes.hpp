#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/trials.hpp"

namespace hpsearch::cli {

// How pieces of the daemon's answers read to people.

/// The progress of an experiment's trials: "108 of 243 epochs", or "≥ 108 of 243 epochs (unknown for 3
/// trials)".
[[nodiscard]] std::string training_text(const api::Experiment& detail);

/// "2h 5m", or "≥ 2h 5m" if attempts may have run that the daemon doesn't know: its store was restored.
[[nodiscard]] std::string slot_time_text(double seconds, bool ran_unlogged);

/// "12 running, 3 paused, 1 completed": states without trials are left out; "none yet" when all are.
[[nodiscard]] std::string states_text(const std::map<std::string, std::uint64_t>& trials_by_state);

/// The lines of a program's log, each behind "  | ".
[[nodiscard]] std::string quoted_lines(std::string_view text);

/// A metric as answers carry it: "0.972222", "nan", or "-" when there is none.
[[nodiscard]] std::string metric_or_dash(const engine::Value& metric);
[[nodiscard]] std::string metric_or_dash(const std::optional<api::Metric>& metric);

/// The checkpoint to take from a trial: the best of those that were measured, else its latest.
struct TakenCheckpoint {
  std::string path;      ///< "" = none was written.
  std::string measured;  ///< "0.985 at 81", or "" when it was not.
};
[[nodiscard]] TakenCheckpoint checkpoint_of(const api::Trial& trial);

/// "checkpoint 3/0/1-9 of trial 0 of experiment 3, trained to 9 (PATH)": what an experiment's trials begin
/// from.
[[nodiscard]] std::string source_text(const api::SourceCheckpoint& source);

/// The members of a map of length → count, in order of length. The map sorts its keys as text.
[[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> by_length(
    const std::map<std::string, std::uint64_t>& counts);

}  // namespace hpsearch::cli
