#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"

namespace hpsearch::engine {

/// How an attempt is spread over several workers: the same number of slots on each, on as few as there can
/// be.
struct GangShape {
  std::uint64_t workers = 0;  ///< 0 = it cannot be spread over those there are.
  std::uint64_t slots_each = 0;
  bool on_one_machine = false;  ///< On workers that say a loopback address.
};

/// Which workers an attempt on several would have now.
struct GangPlan {
  std::vector<WorkerId> workers;  ///< By rank; none when it cannot be spread.
  std::uint64_t slots_each = 0;
  bool complete = false;  ///< Each of them has these slots free now.
};

/// How many trials may run at once when no max_concurrent_trials says so; `slots`: of the workers they may
/// have, used or not.
[[nodiscard]] inline std::uint64_t concurrency_of(std::uint64_t slots,
                                                  const ResourcesConfig& wanted) noexcept {
  if (wanted.external) {
    return std::numeric_limits<std::uint64_t>::max();  // Nothing bounds them but the experiment's own limits.
  }
  return std::max<std::uint64_t>(1, slots / std::max<std::uint64_t>(1, wanted.slots_per_trial));
}

/// Some worker that is present, not in quarantine and in the right pool could hold a whole trial.
[[nodiscard]] bool fits_on_one(const std::map<WorkerId, WorkerRecord>& workers,
                               const ResourcesConfig& wanted);

/// It may be one of a trial's workers: as above, and it says an address.
[[nodiscard]] bool may_take_part(const WorkerRecord& worker, const ResourcesConfig& wanted) noexcept;

/// A worker with this address can be reached from its own machine only.
[[nodiscard]] bool is_loopback(const std::string& address) noexcept;

/// The fewest workers, at least two and as many as it has roles, that could hold equal parts and can all
/// reach each other. O(workers × divisors of the slots).
[[nodiscard]] GangShape gang_shape(const std::map<WorkerId, WorkerRecord>& workers,
                                   const ResourcesConfig& wanted);

/// Those with enough free slots, fullest first, so that large gaps stay for large trials; when they are too
/// few, those that are nearest to it and could come so far; none while too many of those it takes are silent.
/// Older workers first among equals; `avoided` only where it takes all others anyway. Pure; O(workers log
/// workers) and gang_shape().
[[nodiscard]] GangPlan plan_gang(const std::map<WorkerId, WorkerRecord>& workers,
                                 const std::set<WorkerId>& suspects, const std::set<WorkerId>& reserved,
                                 const ResourcesConfig& wanted, WorkerId avoided);

}  // namespace hpsearch::engine
