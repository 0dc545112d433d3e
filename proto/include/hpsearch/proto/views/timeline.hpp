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

/// The times in which an experiment's attempts held slots, and what the other slots that it may use did: a
/// copy, which any thread may read.
struct Timeline {
  /// A time in which another experiment held a slot.
  struct Taken {
    std::uint32_t worker = 0;
    std::uint16_t slot = 0;
    std::optional<engine::ExperimentId> experiment;  ///< Nothing if the caller may not know the experiment.
    std::uint32_t trial = 0;                         ///< The last one.
    engine::Instant from;
    std::optional<engine::Instant> to;  ///< Nothing while it lasts.
  };
  std::vector<engine::AttemptSpan> over;                                 ///< Ordered by end.
  std::vector<engine::AttemptSpan> live;                                 ///< Their ends aren't set yet.
  std::map<std::uint32_t, std::string> names;                            ///< The names of workers.
  std::map<std::uint32_t, std::vector<engine::Quarantine>> quarantines;  ///< The workers that had any.
  std::map<std::uint32_t, std::uint16_t>
      usable;                ///< The slots of each worker that it may use, with those that it never used.
  std::vector<Taken> taken;  ///< Ordered by worker, slot and time.
  std::map<std::uint32_t, std::vector<WorkerTimes::Presence>> presences;  ///< When workers were connected.
  engine::Instant now;
  std::optional<engine::Instant> begin;  ///< By default the begin of the first attempt.
  engine::Instant end;                   ///< The end of the experiment, or now while it runs.
};

/// A span of time, and the resolution in which it is shown.
struct TimeWindow {
  std::optional<engine::Instant> from;  ///< By default from the first bar.
  std::optional<engine::Instant> to;    ///< By default until the end.
  std::uint64_t bins = 0;               ///< 0: bars, or 400 bins if there are more bars than most_bars.
};

/// The sources of a timeline besides its experiment. Lives for the call.
struct TimelineSources {
  const engine::Engine& engine;
  const WorkerTimes& times;
  std::function<bool(const engine::ExperimentRecord&)> may_show;  ///< Whether the caller may know its number.
  engine::Instant now;
};

/// O(attempts of the window, of all experiments + workers).
[[nodiscard]] Timeline timeline(const engine::ExperimentRecord& experiment, const TimelineSources& sources,
                                const TimeWindow& window);
/// The timeline of one worker: all attempts that held its slots are `taken`. By default the last 24 hours.
[[nodiscard]] Timeline timeline(const engine::WorkerRecord& worker, const TimelineSources& sources,
                                const TimeWindow& window);

inline constexpr std::size_t most_bars = 5'000;
inline constexpr std::uint64_t most_bins = 2'000;

/// from, to, now, slots [{worker, name, slot, busy, taken, away}]: shares of the window in which the
/// experiment held it, others held it, and its worker wasn't connected; taken [{worker, slot, experiment,
/// trial, from, to}]; presences and quarantines [{worker, from, to}] of the workers of these slots; and bars
/// [{worker, slot, trial, attempt, from, to, outcome}] or bins {edges, busy, taken, trials}: busy and taken
/// have a row for each slot, trials is the average number of running ones. A slot is null for attempts
/// without slots. O(attempts × log attempts + slots × bins).
[[nodiscard]] std::string to_json(const Timeline& timeline, const TimeWindow& window);

}  // namespace hpsearch::views
