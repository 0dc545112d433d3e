#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/proto/views/worker_times.hpp"

namespace hpsearch::views {

/// Which slots an experiment's attempts held, and when, and what the other slots did that it may use: a copy
/// that may be read beside the engine.
struct Timeline {
  /// A time in which another experiment held a slot.
  struct Taken {
    std::uint32_t worker = 0;
    std::uint16_t slot = 0;
    std::optional<engine::ExperimentId> experiment;  ///< Nothing: its name is not for the caller.
    std::uint32_t trial = 0;                         ///< The last one.
    engine::Instant from;
    std::optional<engine::Instant> to;  ///< Nothing while it lasts.
  };
  std::vector<engine::AttemptSpan> over;                                 ///< In the order of their ends.
  std::vector<engine::AttemptSpan> live;                                 ///< Their ends mean nothing yet.
  std::map<std::uint32_t, std::string> names;                            ///< Of workers.
  std::map<std::uint32_t, std::vector<engine::Quarantine>> quarantines;  ///< Of workers that had any.
  std::map<std::uint32_t, std::uint16_t>
      usable;                ///< Slots of each worker that it may use, also those it never did.
  std::vector<Taken> taken;  ///< By worker and slot, in the order of their times.
  std::map<std::uint32_t, std::vector<WorkerTimes::Presence>> presences;  ///< When workers were there.
  engine::Instant now;
  std::optional<engine::Instant> begin;  ///< Nothing: the first attempt's.
  engine::Instant end;                   ///< Of the experiment; now while it goes on.
};

/// A stretch of time, and how finely it is shown.
struct TimeWindow {
  std::optional<engine::Instant> from;  ///< Nothing: from the first bar.
  std::optional<engine::Instant> to;    ///< Nothing: until the end.
  std::uint64_t bins = 0;               ///< 0: bars, or 400 bins where there are more than most_bars.
};

/// What a timeline is made from besides its experiment. Lives for the call.
struct TimelineSources {
  const engine::Engine& engine;
  const WorkerTimes& times;
  std::function<bool(const engine::ExperimentRecord&)> may_show;  ///< Whether its number is for the caller.
  engine::Instant now;
};

/// O(attempts of the window, of all experiments + workers).
[[nodiscard]] Timeline timeline(const engine::ExperimentRecord& experiment, const TimelineSources& sources,
                                const TimeWindow& window);
/// Of one worker: everything that held its slots is `taken`. Without a window, the last 24 hours.
[[nodiscard]] Timeline timeline(const engine::WorkerRecord& worker, const TimelineSources& sources,
                                const TimeWindow& window);

inline constexpr std::size_t most_bars = 5'000;
inline constexpr std::uint64_t most_bins = 2'000;

/// from, to, now, slots [{worker, name, slot, busy, taken, away}]: shares of the window in which the
/// experiment held it, others held it, and its worker was not there; taken [{worker, slot, experiment, trial,
/// from, to}]; presences and quarantines [{worker, from, to}] of the workers of these slots; and bars
/// [{worker, slot, trial, attempt, from, to, outcome}] or bins {edges, busy, taken, trials}: busy and taken
/// have a row for each slot, trials how many ran on average. A slot is null where attempts run beside the
/// slots. O(attempts × log attempts + slots × bins).
[[nodiscard]] std::string to_json(const Timeline& timeline, const TimeWindow& window);

}  // namespace hpsearch::views
