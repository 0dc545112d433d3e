// How many allocations the trials that wait are worth. Trials are placed by the scheduler's own rules (who
// goes first, which worker serves whom) on workers that would be there: those of allocations that are on
// their way, then those of one allocation more.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/engine/scheduler/plan.hpp"
#include "scheduler/time_needed.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

constexpr Duration start_patience = Duration::seconds(300);  ///< For workers of an allocation that runs.
constexpr Duration need_patience = Duration::seconds(60);  ///< Before an allocation without need is canceled.

/// Trials of an experiment that wait for a slot.
struct Demand {
  Claim claim;
  const ExperimentRecord* record;
  std::uint64_t trials;
  TimeNeeded time;  ///< By the shortest of them.
};

std::vector<Demand> demands_of(const EngineState& state, Instant now) {
  std::vector<Demand> demands;
  for (const ExperimentId id : state.going) {
    const ExperimentRecord& record = state.experiments.at(id);
    const ResourcesConfig& wanted = record.config.resources;
    if (const std::uint64_t trials = trials_that_could_start(state, record, now); trials > 0) {
      demands.push_back({{id, wanted.priority, wanted.weight, record.running.size() * wanted.slots_per_trial,
                          wanted.slots_per_trial},
                         &record,
                         trials,
                         TimeEstimate(record).needed_for(least_units_left(record).value_or(Units{}))});
    }
  }
  std::sort(demands.begin(), demands.end(),
            [](const Demand& a, const Demand& b) { return goes_first(a.claim, b.claim); });
  return demands;
}

/// A worker as the queue's allocations have it.
WorkerRecord worker_of(const QueueSettings& settings, std::uint64_t slots) {
  WorkerRecord worker;
  worker.pool = settings.pool;
  worker.labels = settings.labels;
  worker.slots = SlotLedger(slots);
  return worker;
}

/// An allocation of the queue lasts long enough for some of its trials.
bool is_short_enough(const QueueSettings& settings, const Demand& demand) {
  return demand.time.on(settings.time_limit) <= settings.time_limit - settings.give_back;
}

/// Some trial of the demand may run on a worker of the queue, whatever its slots.
bool is_for(const WorkerRecord& worker, const QueueSettings& settings, const Demand& demand) {
  return serves(worker, demand.record->config.resources) && is_short_enough(settings, demand);
}

/// The workers of one allocation, by their free slots.
class PhantomWorkers {
 public:
  PhantomWorkers(const QueueSettings& settings, std::uint64_t workers, std::uint64_t slots)
      : settings_(settings), type_(worker_of(settings, slots)), slots_(slots), free_(workers, slots) {}

  /// Takes as many trials as fit, those that go first before others.
  void take_from(std::vector<Demand>& demands) {
    for (Demand& demand : demands) {
      if (!is_for(type_, settings_, demand)) {
        continue;
      }
      while (demand.trials > 0 && place(demand.record->config.resources)) {
        --demand.trials;
        ++trials_;
      }
    }
  }

  [[nodiscard]] bool has_trials() const noexcept { return trials_ > 0; }
  [[nodiscard]] double utilization() const noexcept {
    const double all = static_cast<double>(slots_) * static_cast<double>(free_.size());
    return all > 0 ? static_cast<double>(busy_) / all : 0;
  }

 private:
  bool place(const ResourcesConfig& wanted) {
    if (wanted.slots_per_trial == 0) {
      return unslotted_++ < free_.size() * std::max<std::uint64_t>(1, slots_);
    }
    const bool on_one = wanted.slots_per_trial <= slots_;
    std::uint64_t members = 1;
    if (!on_one) {
      // As many equal parts as it takes, each on a worker of its own.
      members = (wanted.slots_per_trial + slots_ - 1) / std::max<std::uint64_t>(1, slots_);
      while (members <= free_.size() && wanted.slots_per_trial % members != 0) {
        ++members;
      }
      if (!wanted.spans_workers || members > free_.size()) {
        return false;
      }
    }
    const std::uint64_t each = wanted.slots_per_trial / members;
    std::vector<std::uint64_t*> chosen;
    for (std::uint64_t& free : free_) {
      if (free >= each && chosen.size() < members) {
        chosen.push_back(&free);
      }
    }
    if (chosen.size() < members) {
      return false;
    }
    for (std::uint64_t* free : chosen) {
      *free -= each;
    }
    busy_ += wanted.slots_per_trial;
    return true;
  }

  const QueueSettings& settings_;
  WorkerRecord type_;
  std::uint64_t slots_;
  std::vector<std::uint64_t> free_;
  std::uint64_t busy_ = 0;
  std::uint64_t unslotted_ = 0;
  std::uint64_t trials_ = 0;
};

/// The slots of the queue's workers, as far as anyone knows.
std::optional<std::uint64_t> slots_of(const QueueRecord& queue) {
  return queue.settings.slots ? queue.settings.slots : queue.seen_slots;
}

/// Some trial that waits may run on a worker of the queue, whatever its slots.
bool serves_some(const QueueSettings& settings, const std::vector<Demand>& demands) {
  const WorkerRecord worker = worker_of(settings, 1);
  return std::any_of(demands.begin(), demands.end(), [&](const Demand& demand) {
    return demand.trials > 0 && is_for(worker, settings, demand);
  });
}

/// Workers of the allocation that have yet to join.
std::uint64_t workers_to_come(const AllocationRecord& allocation, Instant now) {
  const bool may_come =
      is_pending(allocation) || (is_live(allocation) && now - allocation.started_at < start_patience);
  return may_come && allocation.joined < allocation.workers ? allocation.workers - allocation.joined : 0;
}

/// Gives trials to allocations that are on their way, the oldest first, and cancels those that wait for their
/// start and have had none for a while.
void serve_those_to_come(Step& step, std::vector<Demand>& demands) {
  std::vector<CancelAllocation> unneeded;
  for (const auto& [name, queue] : step.state().queues) {
    for (const auto& [number, allocation] : queue.allocations) {
      const std::uint64_t workers = workers_to_come(allocation, step.now());
      if (workers == 0 || !allocation.canceling.empty()) {
        continue;
      }
      bool needed = false;
      if (const auto slots = slots_of(queue)) {
        PhantomWorkers phantoms(queue.settings, workers, *slots);
        phantoms.take_from(demands);
        needed = phantoms.has_trials();
      } else {
        needed = serves_some(queue.settings, demands);
      }
      if (is_pending(allocation) && step.now() - step.unneeded_since(number, needed) >= need_patience) {
        unneeded.push_back({allocation.name, "no trial needs it any more"});
      }
    }
  }
  for (const CancelAllocation& cancel : unneeded) {
    static_cast<void>(cancel_allocation(step, cancel));
  }
}

/// One more allocation of the queue is within its limits.
bool may_want(const QueueRecord& queue, Instant now) {
  const QueueLoad load = load_of(queue);
  const bool in_limits = load.pending < queue.settings.backlog &&
                         load.workers + queue.settings.workers <= queue.settings.max_workers;
  return queue.state == QueueRecord::State::active && queue.rests_until <= now && in_limits;
}

/// One more allocation of the queue would be busy enough. Before the first worker has said how many slots it
/// has, exactly one is asked for.
bool is_worth_it(const QueueRecord& queue, std::vector<Demand>& demands) {
  const bool is_first = load_of(queue).workers == 0;
  const auto slots = slots_of(queue);
  if (!slots) {
    return is_first && serves_some(queue.settings, demands);
  }
  PhantomWorkers phantoms(queue.settings, queue.settings.workers, *slots);
  phantoms.take_from(demands);
  return phantoms.has_trials() && (is_first || phantoms.utilization() >= queue.settings.min_utilization);
}

/// Workers of allocations that have ended do not come back: their state is removed with the allocation. One
/// that is silent and runs nothing left while no daemon could hear it.
void forget_workers(Step& step) {
  if (step.state().allocated_workers == 0) {
    return;
  }
  std::vector<ForgetWorker> lost;
  for (const auto& [id, worker] : step.state().workers) {
    const bool is_silent = !worker.present || step.state().suspects.contains(id);
    if (worker.allocation.empty() || !is_silent || !worker.attempts.empty()) {
      continue;
    }
    const auto name = allocation_named(worker.allocation);
    const AllocationRecord* allocation = name ? find_allocation(step.state(), *name) : nullptr;
    if (allocation == nullptr || !is_live(*allocation)) {
      lost.push_back({id, "its allocation " + worker.allocation + " has ended"});
    }
  }
  for (const ForgetWorker& command : lost) {
    static_cast<void>(lose_worker(step, {command.worker, command.why}));
    static_cast<void>(forget_worker(step, command));  // Refused while an attempt on several workers ends.
  }
}

}  // namespace

namespace {

/// Those whose trials would fit on the queue's workers if these lasted long enough.
std::vector<Demand> demands_that_fit(const EngineState& state, const QueueRecord& queue) {
  const auto slots = slots_of(queue);
  const WorkerRecord worker = worker_of(queue.settings, slots.value_or(1));
  std::vector<Demand> demands = demands_of(state, state.last_instant);
  std::erase_if(demands, [&](const Demand& demand) {
    const ResourcesConfig& wanted = demand.record->config.resources;
    const bool fits = !slots || wanted.slots_per_trial <= *slots ||
                      (wanted.spans_workers && wanted.slots_per_trial <= *slots * queue.settings.workers);
    return !fits || !serves(worker, wanted);
  });
  return demands;
}

}  // namespace

Result<std::uint64_t> trials_waiting_for(const EngineState& state, const std::string& queue) {
  const auto found = state.queues.find(queue);
  if (found == state.queues.end()) {
    return Error{Errc::not_found, "there is no queue \"" + queue + "\""};
  }
  std::uint64_t trials = 0;
  for (const Demand& demand : demands_that_fit(state, found->second)) {
    trials += is_short_enough(found->second.settings, demand) ? demand.trials : 0;
  }
  return trials;
}

TooLongTrials too_long_trials_of(const EngineState& state, const QueueRecord& queue) {
  TooLongTrials too_long;
  for (const Demand& demand : demands_that_fit(state, queue)) {
    if (is_short_enough(queue.settings, demand)) {
      continue;
    }
    const Duration needed = demand.time.on(queue.settings.time_limit);
    if (too_long.trials == 0 || needed < too_long.needed) {
      too_long.needed = needed;
      too_long.attempts = demand.time.attempts;
    }
    too_long.trials += demand.trials;
  }
  return too_long;
}

Status plan_allocations(Step& step, const PlanAllocations& command) {
  forget_workers(step);
  if (step.state().queues.empty()) {
    return Done{};
  }
  std::vector<Demand> demands = demands_of(step.state(), step.now());
  serve_those_to_come(step, demands);
  if (command.key.empty()) {
    return Done{};
  }
  for (const auto& [name, queue] : step.state().queues) {
    if (may_want(queue, step.now()) && is_worth_it(queue, demands)) {
      const AllocationName wanted{name, step.state().last_allocation + 1};
      step.emit(AllocationWanted{wanted, queue.settings.workers, command.key});
      step.effects().orders.emplace_back(SubmitAllocation{wanted});
      return Done{};
    }
  }
  return Done{};
}

}  // namespace hpsearch::engine
