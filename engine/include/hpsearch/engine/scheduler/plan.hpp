#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::engine {

/// An experiment that could use a slot, as the scheduler sees it.
struct Claim {
  ExperimentId experiment;
  std::uint64_t priority = 50;  ///< 1 first.
  double weight = 1;            ///< Share among claims of one priority.
  std::uint64_t slots_in_use = 0;
  std::uint64_t slots_per_trial = 1;
};

/// True when `a` gets the next free slot before `b`: by priority, then by slots in use per weight (the one
/// furthest below its fair share), then the larger trial, which finds room less often (or a small one would
/// take the first slot of the room that a large one has waited for), then the older experiment. A strict
/// order over different experiments.
[[nodiscard]] bool goes_first(const Claim& a, const Claim& b) noexcept;

/// Claims in the order in which they are served.
class ClaimQueue {
 public:
  using Order = bool (*)(const Claim&, const Claim&) noexcept;
  using Claims = std::set<Claim, Order>;

  /// Adds a claim, or moves it to where it stands now. O(log claims).
  void put(const Claim& claim);
  void remove(ExperimentId experiment);  ///< None is fine. O(log claims).

  /// Some claim is of trials that take no slot.
  [[nodiscard]] bool any_without_slots() const noexcept { return without_slots_ > 0; }
  [[nodiscard]] Claims::const_iterator begin() const noexcept { return claims_.begin(); }
  [[nodiscard]] Claims::const_iterator end() const noexcept { return claims_.end(); }

 private:
  Claims claims_{&goes_first};
  std::unordered_map<ExperimentId, Claims::const_iterator> places_;
  std::size_t without_slots_ = 0;
};

/// Which workers have room, in the order in which they are filled.
class Vacancies {
 public:
  /// The worker may get leases, and this is how full it is; `takes_unslotted`: one more trial without slots
  /// may run there. O(log workers).
  void put(WorkerId worker, std::uint64_t free_slots, std::uint64_t attempts, bool takes_unslotted = true);
  /// It gets none: absent or suspect. None is fine. O(log workers).
  void remove(WorkerId worker);

  /// Where `slots` slots fit on one worker: the one with the fewest free slots that suffice, so that large
  /// gaps stay for large trials; ties to the older worker. `slots` 0 goes to the worker with the fewest
  /// attempts of those that take one more without slots. O(log workers).
  [[nodiscard]] std::optional<WorkerId> find(std::uint64_t slots) const {
    return find(slots, [](WorkerId) { return true; });
  }
  /// The same among the workers that `suits` takes. O(log workers + those that do not suit).
  template <class Suits>
  [[nodiscard]] std::optional<WorkerId> find(std::uint64_t slots, Suits suits) const {
    const Ordered& order = slots == 0 ? by_attempts_ : by_free_slots_;
    const auto first = slots == 0 ? order.begin() : order.lower_bound({slots, WorkerId{}});
    const auto found =
        std::find_if(first, order.end(), [&suits](const auto& entry) { return suits(entry.second); });
    return found == order.end() ? std::nullopt : std::optional(found->second);
  }

  /// Some worker takes one more trial without slots.
  [[nodiscard]] bool any_takes_unslotted() const noexcept { return !by_attempts_.empty(); }
  /// The most of any worker.
  [[nodiscard]] std::uint64_t most_free() const noexcept {
    return by_free_slots_.empty() ? 0 : by_free_slots_.rbegin()->first;
  }

 private:
  using Ordered = std::set<std::pair<std::uint64_t, WorkerId>>;
  struct Entry {
    std::uint64_t free_slots = 0;
    std::optional<std::uint64_t> attempts;  ///< Nothing: it takes no more without slots.
  };

  static void move(Ordered& ordered, std::uint64_t from, std::uint64_t to, WorkerId worker);

  std::unordered_map<WorkerId, Entry> entries_;
  Ordered by_free_slots_;
  Ordered by_attempts_;  // Those that take one more without slots.
};

}  // namespace hpsearch::engine
