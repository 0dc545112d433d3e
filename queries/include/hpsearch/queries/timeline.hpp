#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::queries {

/// Which slots an experiment's attempts held, and when: a copy that may be read beside the engine.
struct Timeline {
  std::vector<engine::AttemptSpan> over;                                 ///< In the order of their ends.
  std::vector<engine::AttemptSpan> live;                                 ///< Their ends mean nothing yet.
  std::map<std::uint32_t, std::string> names;                            ///< Of workers.
  std::map<std::uint32_t, std::vector<engine::Quarantine>> quarantines;  ///< Of workers that had any.
  engine::Instant now;
  engine::Instant end;  ///< Of the experiment; now while it goes on.
};

/// O(attempts + workers).
[[nodiscard]] Timeline timeline(const engine::ExperimentRecord& experiment,
                                const std::map<engine::WorkerId, engine::WorkerRecord>& workers,
                                engine::Instant now);

/// A stretch of time, and how finely it is shown.
struct TimeWindow {
  std::optional<engine::Instant> from;  ///< Nothing: from the first bar.
  std::optional<engine::Instant> to;    ///< Nothing: until the end.
  std::uint64_t bins = 0;               ///< 0: bars, or 400 bins where there are more than most_bars.
};

inline constexpr std::size_t most_bars = 5'000;
inline constexpr std::uint64_t most_bins = 2'000;

/// from, to, now, slots [{worker, name, slot, busy}]: busy is the share of the window; quarantines [{worker,
/// from, to}] of the workers of these slots; and bars [{worker, slot, trial, attempt, from, to, outcome}] or
/// bins {edges, busy, trials}: busy has a row for each slot, trials how many ran on average. A slot is null
/// where attempts run beside the slots. O(attempts × log attempts + slots × bins).
[[nodiscard]] std::string to_json(const Timeline& timeline, const TimeWindow& window);

}  // namespace hpsearch::queries
