#include <algorithm>
#include <vector>

#include "applier.hpp"

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

}  // namespace

void Applier::operator()(const WorkerJoined& joined) const {
  WorkerRecord& worker = state.workers[joined.worker];
  state.present_slots[worker.pool] -= worker.present ? worker.slots.total() : 0;  // None, if it is new.
  worker.id = joined.worker;
  worker.uid = joined.uid;
  worker.name = joined.name;
  worker.incarnation = joined.incarnation;
  worker.slot_kind = joined.slot_kind;
  worker.address = joined.address;
  worker.present = true;
  worker.devices = joined.devices;
  worker.pool = joined.pool;
  worker.labels = joined.labels;
  worker.slots = SlotLedger(joined.slots, shares_of(joined.devices));
  for (const AttemptKey& key : worker.attempts) {  // Kept ones only: the others were given up before.
    worker.slots.take(*trial_of(state, key.experiment, key.trial).live->part_on(joined.worker)->slots,
                      key.lease);
  }
  for (const auto& [key, leaked_processes] : worker.leaked_processes) {
    if (!leaked_processes.released) {
      take_those_there(worker.slots, leaked_processes.slots, key.lease);
    }
  }
  withdraw_those(worker);
  state.worker_by_uid[joined.uid] = joined.worker;
  state.present_slots[worker.pool] += joined.slots;
  note_vacancy(state, worker);
  touch_all();
}

void Applier::operator()(const WorkerLost& lost) const {
  WorkerRecord& worker = state.workers.at(lost.worker);
  state.present_slots[worker.pool] -= worker.present ? worker.slots.total() : 0;
  worker.present = false;
  note_vacancy(state, worker);
  touch_all();
}

void Applier::operator()(const WorkerQuarantined& quarantined) const {
  WorkerRecord& worker = state.workers.at(quarantined.worker);
  worker.quarantined = quarantined.why;
  for (const auto& [id, number] : worker.quick_failures) {
    TrialRecord& trial = experiment(id).trials[number.number()];
    if (trial.restarts > 0 && !is_closed(trial.state)) {
      --trial.restarts;  // It was the worker's failure.
    }
  }
  worker.quick_failures.clear();
  note_vacancy(state, worker);
}

void Applier::operator()(const SlotsQuarantined& quarantined) const {
  WorkerRecord& worker = state.workers.at(quarantined.worker);
  worker.leaked_processes[quarantined.key] = SlotQuarantine{quarantined.slots};
  take_those_there(worker.slots, quarantined.slots, quarantined.key.lease);
  note_vacancy(state, worker);
  touch_all();
}

void Applier::operator()(const SlotsReleased& released) const {
  WorkerRecord& worker = state.workers.at(released.worker);
  const auto leaked_processes = worker.leaked_processes.find(released.key);
  worker.slots.release(leaked_processes->second.slots, released.key.lease);
  if (released.gone) {
    worker.leaked_processes.erase(leaked_processes);
  } else {
    leaked_processes->second.released = true;
  }
  note_vacancy(state, worker);
  touch_all();
}

void Applier::operator()(const SlotWithdrawn& withdrawn) const {
  WorkerRecord& worker = state.workers.at(withdrawn.worker);
  worker.withdrawn[withdrawn.slot] = WithdrawnSlot{withdrawn.why};
  worker.slots.withdraw(withdrawn.slot);
  note_vacancy(state, worker);
}

void Applier::operator()(const SlotRestored& restored) const {
  WorkerRecord& worker = state.workers.at(restored.worker);
  worker.slots.restore(restored.slot);
  if (restored.healthy) {
    worker.withdrawn.erase(restored.slot);
  } else {
    worker.withdrawn.at(restored.slot).released = true;
  }
  note_vacancy(state, worker);
  touch_all();
}

void Applier::operator()(const WorkerReleased& released) const {
  WorkerRecord& worker = state.workers.at(released.worker);
  worker.quarantined.clear();
  worker.quick_failures.clear();
  forget_start_failures(state, worker);
  note_vacancy(state, worker);
  touch_all();
}

void Applier::operator()(const AttemptDisowned& disowned) const {
  state.workers.at(disowned.worker).disowned.insert(disowned.key);
}

void withdraw_those(WorkerRecord& worker) {
  for (const auto& [slot, withdrawn] : worker.withdrawn) {
    if (!withdrawn.released) {
      worker.slots.withdraw(slot);
    }
  }
}

void note_vacancy(EngineState& state, const WorkerRecord& worker) {
  if (worker.present && worker.quarantined.empty() && !state.suspects.contains(worker.id) &&
      !state.agenda.resting.contains(worker.id)) {
    state.vacancies.put(worker.id, worker.slots.free(), worker.attempts.size());
  } else {
    state.vacancies.remove(worker.id);
  }
}

}  // namespace hpsearch::engine
