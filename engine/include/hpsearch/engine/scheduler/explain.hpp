#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

/// Why a trial is where it is now, and what would have to happen for it to move on.
struct Explanation {
  std::string now;   ///< What it does or waits for, in numbers: a sentence.
  std::string next;  ///< What would have to happen; "" when nothing can.
  Reason reason;     ///< For a trial that waits at a rung, its standing as of now; else of its last change.
  /// Of a trial that waits at a rung: it is promoted when so many more results enter the rung and all rank
  /// behind it; 0 = it is to be promoted. Nothing for every other trial.
  std::optional<std::uint64_t> results_needed;
  /// Of the same: no more results than this can still come to the rung, as things stand. Less than are
  /// needed: it cannot be promoted.
  std::optional<std::uint64_t> results_to_come;
  /// Of one that is to be promoted: so many free slots of the experiment go to what stands before it.
  std::optional<std::uint64_t> ahead;
};

/// Why the trial is in its state. What is kept of one that was paused with its experiment speaks of the pause
/// still when it goes on.
[[nodiscard]] Reason reason_of(const TrialRecord& trial);

/// `trial` exists in `record`. Cost: O(log trials + workers), and O(trials) for one that waits at a rung.
[[nodiscard]] Explanation explain(const ExperimentRecord& record, TrialNumber trial,
                                  const std::map<WorkerId, WorkerRecord>& workers, Instant now);

/// Why nothing of an active experiment runs, or "" when something does or it is not active. Cost: O(workers).
[[nodiscard]] std::string waits_for(const ExperimentRecord& record,
                                    const std::map<WorkerId, WorkerRecord>& workers, Instant now);

/// Why the worker gets no leases for a while although it is there, and for how long; "" when it gets some.
[[nodiscard]] std::string rest_of(const WorkerRecord& worker, Instant now);

/// The fewest further results, all behind a result of this rank (from 0), after which a rung of `size`
/// results keeps it: floor(n / divisor) > rank; 2^62 where it is that many or more.
[[nodiscard]] std::uint64_t results_needed(std::uint64_t rank, std::uint64_t size, double divisor) noexcept;

}  // namespace hpsearch::engine
