#include <algorithm>
#include <vector>

#include "applier.hpp"
#include "event_checks.hpp"

namespace hpsearch::engine {
namespace {

/// A worker may have come back with fewer slots.
void take_those_there(SlotLedger& ledger, const std::vector<SlotIndex>& slots, LeaseId lease) {
  for (const SlotIndex slot : slots) {
    if (slot.number() < ledger.total()) {
      ledger.take({slot}, lease);
    }
  }
}

/// To all others it is only a place more, which those that wait for one find by themselves. Looking after
/// each would make a crowd that joins cost as many looks as there are workers times experiments.
void touch_those_that_count_slots(const Applier& applier) {
  for (const ExperimentId id : applier.state.going) {
    if (applier.state.experiments.at(id).config.searcher.max_concurrent_trials == 0) {
      applier.experiment(id);
    }
  }
}

}  // namespace

void apply(const Applier& applier, const WorkerJoined& joined) {
  WorkerRecord& worker = applier.state.workers[joined.worker];
  applier.state.present_slots[worker.pool] -=
      worker.present ? worker.slots.total() : 0;  // None, if it is new.
  applier.state.last_worker = std::max(applier.state.last_worker, joined.worker);
  worker.id = joined.worker;
  worker.uid = joined.uid;
  worker.name = joined.name;
  worker.incarnation = joined.incarnation;
  worker.slot_kind = joined.slot_kind;
  worker.address = joined.address;
  worker.max_unslotted = joined.max_unslotted;
  worker.present = true;
  worker.lost_at = Instant{};
  worker.devices = joined.devices;
  worker.pool = joined.pool;
  worker.labels = joined.labels;
  worker.slots = SlotLedger(joined.slots, shares_of(joined.devices));
  for (const AttemptKey& key : worker.attempts) {  // Kept ones only: the others were given up before.
    worker.slots.take(*trial_of(applier.state, key.experiment, key.trial).live->part_on(joined.worker)->slots,
                      key.lease);
  }
  for (const auto& [key, leaked_processes] : worker.leaked_processes) {
    if (!leaked_processes.released) {
      take_those_there(worker.slots, leaked_processes.slots, key.lease);
    }
  }
  const auto taken = applier.state.taken_by_uid.find(joined.uid);
  worker.taken = taken == applier.state.taken_by_uid.end() ? decltype(worker.taken)() : taken->second;
  withdraw_those(worker);
  applier.state.worker_by_uid[joined.uid] = joined.worker;
  applier.state.present_slots[worker.pool] += joined.slots;
  if (worker.allocation != joined.allocation) {
    applier.state.allocated_workers += joined.allocation.empty() ? 0U : 1U;
    applier.state.allocated_workers -= worker.allocation.empty() ? 0U : 1U;
    worker.allocation = joined.allocation;
    note_joined(applier.state, worker);
  }
  note_vacancy(applier.state, worker);
  touch_those_that_count_slots(applier);
}

std::string problem_with(const EventChecks& checks, const WorkerJoined& joined) {
  if (joined.slots > most_slots_of_a_worker) {
    return "it has " + std::to_string(joined.slots) + " slots; at most " +
           std::to_string(most_slots_of_a_worker) + " are possible";
  }
  if (!joined.devices.empty() && joined.devices.size() != joined.slots) {
    return "its slots and devices differ in number";
  }
  const auto named = checks.state.worker_by_uid.find(joined.uid);
  const auto known = checks.state.workers.find(joined.worker);
  if (known == checks.state.workers.end()) {
    const std::uint64_t next = checks.state.last_worker.number() + 1;
    return named == checks.state.worker_by_uid.end() && joined.worker.number() == next
               ? ""
               : "the next worker is " + std::to_string(next) + ", not " +
                     std::to_string(joined.worker.number()) + ", and has a uid of its own";
  }
  if (named == checks.state.worker_by_uid.end() || named->second != joined.worker) {
    return "worker " + std::to_string(joined.worker.number()) + " has another uid";
  }
  for (const AttemptKey& key : known->second.attempts) {
    const auto part = checks.find(key.experiment, key.trial)->live->part_on(joined.worker);
    if (std::any_of(part->slots->begin(), part->slots->end(),
                    [&](SlotIndex slot) { return slot.number() >= joined.slots; })) {
      return "it lacks slots that its attempts hold";
    }
  }
  return "";
}

void apply(const Applier& applier, const WorkerLost& lost) {
  WorkerRecord& worker = applier.state.workers.at(lost.worker);
  applier.state.present_slots[worker.pool] -= worker.present ? worker.slots.total() : 0;
  worker.present = false;
  worker.lost_at = applier.event.at;
  note_left(applier.state, worker, lost.why);
  note_vacancy(applier.state, worker);
  applier.touch_all();
}

std::string problem_with(const EventChecks& checks, const WorkerLost& lost) {
  const auto found = checks.state.workers.find(lost.worker);
  if (found == checks.state.workers.end()) {
    return checks.worker(lost.worker);
  }
  return found->second.attempts.empty() ? "" : "attempts of the worker are not over";
}

void apply(const Applier& applier, const WorkerQuarantined& quarantined) {
  WorkerRecord& worker = applier.state.workers.at(quarantined.worker);
  worker.quarantined = quarantined.why;
  if (worker.quarantines.empty() || worker.quarantines.back().to) {
    worker.quarantines.push_back({applier.event.at, std::nullopt});
  }
  for (const WorkerMark& mark : worker.marks) {
    TrialRecord& trial = applier.experiment(mark.experiment).trials[mark.trial.number()];
    if (trial.restarts > 0 && !is_closed(trial.state)) {
      --trial.restarts;  // It was the worker's failure.
    }
    if (trial.failure_history) {
      trial.failure_history->marked_on = WorkerId{};
      trial.failure_history->fruitless -= trial.failure_history->fruitless > 0 ? 1U : 0U;
    }
  }
  worker.marks.clear();
  if (quarantined.probation_after > Duration{}) {
    worker.probation = Probation{worker.probation ? worker.probation->times + 1 : 1, std::nullopt};
    worker.rests_until = applier.event.at + quarantined.probation_after;
    let_rest(applier.state, worker);
  } else {
    worker.probation.reset();
  }
  note_vacancy(applier.state, worker);
}

std::string problem_with(const EventChecks& checks, const WorkerQuarantined& quarantined) {
  return checks.worker(quarantined.worker);
}

void apply(const Applier& applier, const WorkerDraining& draining) {
  WorkerRecord& worker = applier.state.workers.at(draining.worker);
  worker.draining = true;
  note_vacancy(applier.state, worker);
}

std::string problem_with(const EventChecks& checks, const WorkerDraining& draining) {
  return checks.worker(draining.worker);
}

void apply(const Applier& applier, const WorkerEndNoted& noted) {
  const Instant now = applier.event.at;
  std::optional<WorkerEnd>& end = applier.state.workers.at(noted.worker).end;
  const Instant since = end ? end->since : now;
  end.reset();
  if (noted.ends_in > Duration{}) {
    end = WorkerEnd{now + noted.ends_in, now + noted.gives_back_in, since};
  }
  applier.touch_all();
}

std::string problem_with(const EventChecks& checks, const WorkerEndNoted& noted) {
  return checks.worker(noted.worker);
}

void apply(const Applier& applier, const SlotsQuarantined& quarantined) {
  WorkerRecord& worker = applier.state.workers.at(quarantined.worker);
  worker.leaked_processes[quarantined.key] = SlotQuarantine{quarantined.slots};
  take_those_there(worker.slots, quarantined.slots, quarantined.key.lease);
  note_vacancy(applier.state, worker);
  applier.touch_all();
}

std::string problem_with(const EventChecks& checks, const SlotsQuarantined& quarantined) {
  const auto found = checks.state.workers.find(quarantined.worker);
  if (found == checks.state.workers.end()) {
    return checks.worker(quarantined.worker);
  }
  if (found->second.leaked_processes.contains(quarantined.key)) {
    return "its slots are in quarantine already";
  }
  return quarantined.key.lease == LeaseId{} ? "it names no lease"
                                            : checks.vacant(quarantined.worker, quarantined.slots);
}

void apply(const Applier& applier, const SlotsReleased& released) {
  WorkerRecord& worker = applier.state.workers.at(released.worker);
  const auto leaked_processes = worker.leaked_processes.find(released.key);
  worker.slots.release(leaked_processes->second.slots, released.key.lease);
  if (released.gone) {
    worker.leaked_processes.erase(leaked_processes);
  } else {
    leaked_processes->second.released = true;
  }
  note_vacancy(applier.state, worker);
  applier.touch_all();
}

std::string problem_with(const EventChecks& checks, const SlotsReleased& released) {
  const auto found = checks.state.workers.find(released.worker);
  if (found == checks.state.workers.end()) {
    return checks.worker(released.worker);
  }
  return found->second.leaked_processes.contains(released.key) ? "" : "its slots are in no quarantine";
}

void apply(const Applier& applier, const SlotWithdrawn& withdrawn) {
  WorkerRecord& worker = applier.state.workers.at(withdrawn.worker);
  worker.withdrawn[withdrawn.slot] = WithdrawnSlot{withdrawn.why};
  worker.slots.withdraw(withdrawn.slot);
  note_vacancy(applier.state, worker);
}

std::string problem_with(const EventChecks& checks, const SlotWithdrawn& withdrawn) {
  return checks.worker(withdrawn.worker);
}

void apply(const Applier& applier, const SlotRestored& restored) {
  WorkerRecord& worker = applier.state.workers.at(restored.worker);
  worker.slots.restore(restored.slot);
  if (restored.healthy) {
    worker.withdrawn.erase(restored.slot);
  } else {
    worker.withdrawn.at(restored.slot).released = true;
  }
  withdraw_those(worker);
  note_vacancy(applier.state, worker);
  applier.touch_all();
}

std::string problem_with(const EventChecks& checks, const SlotRestored& restored) {
  const auto found = checks.state.workers.find(restored.worker);
  if (found == checks.state.workers.end()) {
    return checks.worker(restored.worker);
  }
  return found->second.withdrawn.contains(restored.slot)
             ? ""
             : "slot " + std::to_string(restored.slot.number()) + " is in no trouble";
}

void apply(const Applier& applier, const WorkerReleased& released) {
  WorkerRecord& worker = applier.state.workers.at(released.worker);
  worker.quarantined.clear();
  worker.probation.reset();
  if (!worker.quarantines.empty() && !worker.quarantines.back().to) {
    worker.quarantines.back().to = applier.event.at;
  }
  worker.draining = worker.draining && released.proven;
  worker.marks.clear();
  forget_start_failures(applier.state, worker);
  note_vacancy(applier.state, worker);
  applier.touch_all();
}

std::string problem_with(const EventChecks& checks, const WorkerReleased& released) {
  return checks.worker(released.worker);
}

void apply(const Applier& applier, const AttemptDisowned& disowned) {
  applier.state.workers.at(disowned.worker).disowned.insert(disowned.key);
}

std::string problem_with(const EventChecks& checks, const AttemptDisowned& disowned) {
  return checks.worker(disowned.worker);
}

void withdraw_those(WorkerRecord& worker) {
  for (const auto& [slot, withdrawn] : worker.withdrawn) {
    if (!withdrawn.released) {
      worker.slots.withdraw(slot);
    }
  }
  for (const auto& [slot, who] : worker.taken) {
    worker.slots.withdraw(slot);
  }
}

void note_vacancy(EngineState& state, const WorkerRecord& worker) {
  if ((is_in_service(worker) || takes_one_on_probation(worker)) && !state.suspects.contains(worker.id) &&
      !state.agenda.resting.contains(worker.id)) {
    state.vacancies.put(worker.id, worker.slots.free(), worker.attempts.size(), takes_unslotted(worker));
  } else {
    state.vacancies.remove(worker.id);
  }
}

}  // namespace hpsearch::engine
