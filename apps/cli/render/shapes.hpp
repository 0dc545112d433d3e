#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

// How pieces of the daemon's answers read to people.

/// "rank 3 of 17 at rung 1 (...)": a reason as answers and events carry it; "" when it says nothing.
[[nodiscard]] std::string reason_text(const engine::Value& reason);

/// How far the trials of an experiment are, as the daemon's answer has it: "108 of 243 epochs", or
/// "≥ 108 of 243 epochs (unknown for 3 trials)".
[[nodiscard]] std::string training_text(const engine::Value& detail);

/// Whether the experiment, as the daemon's answer has it, is in a state that ends it.
[[nodiscard]] bool has_ended(const engine::Value& detail);

/// Attempts of the experiment or trial may have run that the daemon doesn't know: its store was restored.
[[nodiscard]] bool ran_unlogged(const engine::Value& answer);

/// "2h 5m", or "≥ 2h 5m": the slot time of an experiment or a trial as the daemon's answer has it.
[[nodiscard]] std::string slot_time_text(const engine::Value& answer);

/// "12 running, 3 paused, 1 completed": states that nobody is in are left out; "none yet" when all are.
[[nodiscard]] std::string states_text(const engine::Value& trials_by_state);

/// The lines of a program's log, each behind "  | ".
[[nodiscard]] std::string quoted_lines(std::string_view text);

/// A metric as answers carry it: "0.972222", "nan", or "-" when there is none.
[[nodiscard]] std::string metric_or_dash(const engine::Value& metric);

/// The checkpoint to take from a trial: the best of those that were measured, else its latest.
struct TakenCheckpoint {
  std::string path;      ///< "" = none was written.
  std::string measured;  ///< "0.985 at 81", or "" when it was not.
};
[[nodiscard]] TakenCheckpoint checkpoint_of(const engine::Value& trial);

/// "checkpoint 3/0/1-9 of trial 0 of experiment 3, trained to 9 (PATH)": what an experiment's trials begin
/// from.
[[nodiscard]] std::string source_text(const engine::Value& source);

/// The members of a map of length → count, in order of length. Maps sort their keys as text, people do not.
[[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> by_length(const engine::Value& counts);

}  // namespace hpsearch::cli
