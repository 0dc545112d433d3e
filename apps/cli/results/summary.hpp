#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/render/output.hpp"
#include "cli/render/shapes.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/wire/kept_files.hpp"

namespace hpsearch::cli {

/// The summary at the end of a run: pure arithmetic over the daemon's answers and the run's own measurements.
struct SummaryInput {
  api::Experiment detail;          ///< GET .../experiments/ID
  std::vector<api::Trial> trials;  ///< GET .../experiments/ID/trials, by take()
  std::uint64_t slots = 0;         ///< Slots of all workers.
  double idle_seconds = 0;         ///< sentences::EventStory::idle_seconds
  double wall_seconds = 0;         ///< Time of all runs of this search.
  double engine_seconds = 0;       ///< The part of it in the engine.
  std::string go_on;               ///< The command that continues the search.
  std::string logs;                ///< The command that shows a trial's log, without the trial; "" = none.
  proto::KeptTrials kept;          ///< Files that programs left in their working directories,
  std::string kept_at;             ///< and their directory.

  /// Adds a trial, once `detail` is set; drops everything that no summary shows, because there may be
  /// millions.
  void take(api::Trial trial);
};

struct Summary {
  std::uint64_t experiment = 0;
  std::string name;
  std::string state;
  std::string reason;
  std::string metric;
  std::string unit;

  struct Best {
    std::uint64_t trial = 0;
    double metric = 0;
    std::uint64_t step = 0;
    engine::Value hparams;
    TakenCheckpoint checkpoint;
  };
  std::optional<Best> best;

  std::vector<api::Finalist> finalists;  ///< Finalists of a search with repeats, best mean first.

  std::map<std::string, std::uint64_t> trials_by_state;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> final_counts;  ///< Length → closed trials, ascending.
  std::uint64_t trials = 0;

  engine::Cardinality length_trained = 0;
  engine::Cardinality length_full = 0;
  std::uint64_t length_unreported = 0;  ///< Trials whose training is counted only in part in length_trained.
  bool ran_unlogged = false;            ///< The store was restored: more may have been trained.
  std::string training;                 ///< The lengths as text.
  std::uint64_t length_again = 0;       ///< The part of length_trained that repeats earlier training.
  /// Share of the full training of completed and stopped trials; below 0 if they were trained for more than
  /// that. Null if the searcher stopped no trial.
  std::optional<double> saved_share;
  std::vector<std::string> notes;  ///< Notes on the file, and on a program that does something other than
                                   ///< requested.
  std::string doubt;               ///< Why the best value may be the worst one; "" = no reason.

  std::uint64_t slots = 0;
  double slot_seconds = 0;
  std::optional<double>
      busy_share;  ///< Share of the slots between first and last trial, without pauses; at most 1.

  double wall_seconds = 0;
  double engine_seconds = 0;
  std::optional<double> engine_share;

  proto::KeptTrials kept;
  std::string kept_at;

  struct Trouble {  ///< Set if no trial had a result, or the search paused itself.
    std::uint64_t trial = 0;
    std::string cause;
    std::string log_tail;
    std::string logs;  ///< The command that shows the whole log.
    std::string remedy;
  };
  std::optional<Trouble> trouble;
};

[[nodiscard]] Summary summarize(const SummaryInput& input);

[[nodiscard]] engine::Value to_value(const Summary& summary);
[[nodiscard]] std::string to_text(const Summary& summary, const Output& output);

}  // namespace hpsearch::cli
