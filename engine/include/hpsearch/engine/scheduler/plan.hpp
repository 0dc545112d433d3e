#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/cluster/worker.hpp"

namespace hpsearch::engine {

/// An experiment that could use a slot, as the scheduler sees it.
struct Claim {
  ExperimentId experiment;
  std::uint64_t priority = 50;     ///< 1 first.
  double weight = 1;               ///< Share among claims of one priority.
  std::uint64_t slots_in_use = 0;
};

/// True when `a` gets the next free slot before `b`: by priority, then by slots in use per weight (the one
/// furthest below its fair share), then the older experiment. A strict order over different experiments.
[[nodiscard]] bool goes_first(const Claim& a, const Claim& b) noexcept;

struct Placement {
  WorkerId worker;
  std::vector<SlotIndex> slots;
};

/// Where `slots` slots fit on one worker: the one with the fewest free slots that suffice, so that large gaps
/// stay for large trials; ties to the older worker. `slots` 0 goes to the worker with the fewest attempts.
/// Suspect and absent workers get nothing. O(workers).
[[nodiscard]] std::optional<Placement> find_place(const std::map<WorkerId, WorkerRecord>& workers,
                                                  const std::set<WorkerId>& suspects, std::uint64_t slots);

}  // namespace hpsearch::engine
