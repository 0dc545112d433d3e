#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/scheduler/wait.hpp"

namespace hpsearch::engine {

// --- what a trial does now ---

struct NowTrains {
  struct Place {
    std::string worker;  ///< Its name.
    bool gone;           ///< Its part of the attempt has ended.
  };
  AttemptNumber attempt;
  std::vector<Place> places;  ///< By rank; more than one for an attempt on several workers.
  Units reached{};
  Units length{};
  std::uint64_t fruitless = 0;  ///< Attempts before it that ended in a row without a report, if it has none.
};
struct NowNeedsSlots {
  std::uint64_t slots = 0;
  Units from{};
  Units to{};
};
struct NowAwaitsResume {  ///< It would continue, but its experiment is paused.
  Units reached{};
};
struct NowAtRung {  ///< Explanation::reason has its rank.
  Units reached{};
  Units rung{};
};
struct NowEnded {
  TrialState state{};
  Units reached{};
};
using TrialNow = std::variant<NowTrains, NowNeedsSlots, NowAwaitsResume, NowAtRung, NowEnded>;

// --- what happens to it next ---

struct NextNothing {};
struct NextDecision {  ///< The searcher decides when the trial reports this metric at this length.
  std::string metric;
  Units length{};
};
struct NextExit {  ///< The attempt exits: its end was decided.
  Directive directive{};
  bool exceeds_limits = false;  ///< It pauses because its experiment runs more than its limits allow.
};
struct NextExitOfLast {};       ///< It waits for a slot, but its previous attempt has not exited yet.
struct NextEndOfExperiment {};  ///< It ends with its experiment, which is ending.
struct NextResume {};           ///< It continues when its experiment is resumed.
struct NextStop {};             ///< It is stopped: it can no longer be promoted.
struct NextSlots {              ///< It starts when it gets slots.
  Wait wait;                    ///< Why it has none yet.
};
struct NextPromotion {  ///< It is promoted when it gets a slot; Explanation::ahead has its place in the
                        ///< queue.
  Wait wait;            ///< Why it has none yet.
};
struct NextResults {         ///< It needs more results at its rung; Explanation has the numbers.
  bool exhausted = false;    ///< Every configuration of the space was tried.
  std::optional<Wait> wait;  ///< Why no trial of the experiment runs; nothing if one does.
};
using TrialNext = std::variant<NextNothing, NextDecision, NextExit, NextExitOfLast, NextEndOfExperiment,
                               NextResume, NextStop, NextSlots, NextPromotion, NextResults>;

/// Why a trial is where it is now, and what must happen before it continues: facts. Module `sentences` turns
/// them into text.
struct Explanation {
  TrialNow now;
  TrialNext next;
  Reason reason;  ///< For a trial that waits at a rung, its present standing; else of its last change.
  /// For a trial that waits at a rung: it is promoted when this number of results has entered the rung, all
  /// behind it; 0 = it is to be promoted. Nothing for every other trial.
  std::optional<std::uint64_t> results_needed;
  /// For the same trials: at most this number of results can still enter the rung. If it is less than needed,
  /// the trial cannot be promoted.
  std::optional<std::uint64_t> results_to_come;
  /// For a trial that is to be promoted: this number of free slots of the experiment goes to others first.
  std::optional<std::uint64_t> ahead;
};

/// Why the trial is in its state. A trial that was paused with its experiment and continues has the
/// resumption as its reason.
[[nodiscard]] Reason reason_of(const TrialRecord& trial);

/// `trial` exists in `record`. Cost: O(log trials + workers), and O(trials) for one that waits at a rung.
[[nodiscard]] Explanation explain(const ExperimentRecord& record, TrialNumber trial,
                                  const std::map<WorkerId, WorkerRecord>& workers, Instant now);

/// Why nothing of an active experiment runs; nothing if something does or it is not active. Cost: O(workers).
[[nodiscard]] std::optional<Wait> waits_for(const ExperimentRecord& record,
                                            const std::map<WorkerId, WorkerRecord>& workers, Instant now);

/// A worker that is connected and gets no leases for a while, because attempts failed to start on it.
struct WorkerRest {
  std::uint64_t start_failures = 0;  ///< In a row.
  Duration remaining;
};

/// Nothing for a worker that gets leases, or is absent.
[[nodiscard]] std::optional<WorkerRest> rest_of(const WorkerRecord& worker, Instant now);

/// The fewest further results, all behind a result of this rank (from 0), after which a rung of `size`
/// results keeps it: floor(n / divisor) > rank; 2^62 where it is that many or more.
[[nodiscard]] std::uint64_t results_needed(std::uint64_t rank, std::uint64_t size, double divisor) noexcept;

}  // namespace hpsearch::engine
