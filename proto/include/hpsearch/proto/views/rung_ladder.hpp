#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::views {

/// The trials of an experiment in the rungs of its brackets, at one moment.
struct RungLadder {
  /// The decision about a result.
  enum class Fate : std::uint8_t { promoted, waiting, stopped, finished, failed };
  struct Result {
    engine::TrialNumber trial;
    std::optional<double> metric;  ///< Nothing if it wasn't reported, or isn't finite.
    Fate fate = Fate::waiting;
    std::string_view nonfinite;  ///< "nan", "inf" or "-inf" if the trial reported that; else "".
  };
  struct Rung {
    engine::Units length{};
    std::string rule;  ///< The rule of promotion, in words.
    std::uint64_t keep = 0;
    std::optional<double> cutoff;
    std::vector<Result> results;  ///< Best first.
    std::vector<engine::TrialNumber> training;
  };
  struct Bracket {
    std::string name;
    std::vector<Rung> rungs;
  };

  engine::Lsn lsn;  ///< The shown event …
  engine::Instant at;
  engine::Lsn first;  ///< … of the events from the experiment's creation …
  engine::Lsn last;   ///< … to the last event that changed it.
  std::string metric;
  bool smaller_is_better = true;
  std::vector<Bracket> brackets;
};

/// The state after event `lsn`. A search without rungs has one bracket with one rung: full length. O(trials).
[[nodiscard]] RungLadder rung_ladder(const engine::ExperimentRecord& experiment, engine::Lsn lsn,
                                     engine::Instant at);

/// lsn, time, first_lsn, last_lsn, metric, smaller_is_better, brackets [{bracket, name, rungs [{rung, length,
/// rule, keep, size, cut_off, results [{trial, metric, nonfinite, rank,
/// state}], training}]}]. Ranks count from 0.
[[nodiscard]] std::string to_json(const RungLadder& ladder);

}  // namespace hpsearch::views
