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
  WorkerRecord& worker = world.workers[joined.worker];
  world.present_slots[worker.pool] -= worker.present ? worker.slots.total() : 0;  // None, if it is new.
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
    worker.slots.take(*trial_of(world, key.experiment, key.trial).live->part_on(joined.worker)->slots,
                      key.lease);
  }
  for (const auto& [key, remains] : worker.remains) {
    if (!remains.released) {
      take_those_there(worker.slots, remains.slots, key.lease);
    }
  }
  withdraw_those(worker);
  world.worker_by_uid[joined.uid] = joined.worker;
  world.present_slots[worker.pool] += joined.slots;
  note_vacancy(world, worker);
  touch_all();
}

void Applier::operator()(const WorkerLost& lost) const {
  WorkerRecord& worker = world.workers.at(lost.worker);
  world.present_slots[worker.pool] -= worker.present ? worker.slots.total() : 0;
  worker.present = false;
  note_vacancy(world, worker);
  touch_all();
}

void Applier::operator()(const WorkerQuarantined& quarantined) const {
  WorkerRecord& worker = world.workers.at(quarantined.worker);
  worker.quarantined = quarantined.why;
  for (const auto& [id, number] : worker.quick_failures) {
    TrialRecord& trial = experiment(id).trials[number.number()];
    if (trial.restarts > 0 && !is_closed(trial.state)) {
      --trial.restarts;  // It was the worker's failure.
    }
  }
  worker.quick_failures.clear();
  note_vacancy(world, worker);
}

void Applier::operator()(const SlotsQuarantined& quarantined) const {
  WorkerRecord& worker = world.workers.at(quarantined.worker);
  worker.remains[quarantined.key] = SlotQuarantine{quarantined.slots};
  take_those_there(worker.slots, quarantined.slots, quarantined.key.lease);
  note_vacancy(world, worker);
  touch_all();
}

void Applier::operator()(const SlotsReleased& released) const {
  WorkerRecord& worker = world.workers.at(released.worker);
  const auto remains = worker.remains.find(released.key);
  worker.slots.release(remains->second.slots, released.key.lease);
  if (released.gone) {
    worker.remains.erase(remains);
  } else {
    remains->second.released = true;
  }
  note_vacancy(world, worker);
  touch_all();
}

void Applier::operator()(const SlotWithdrawn& withdrawn) const {
  WorkerRecord& worker = world.workers.at(withdrawn.worker);
  worker.withdrawn[withdrawn.slot] = WithdrawnSlot{withdrawn.why};
  worker.slots.withdraw(withdrawn.slot);
  note_vacancy(world, worker);
}

void Applier::operator()(const SlotRestored& restored) const {
  WorkerRecord& worker = world.workers.at(restored.worker);
  worker.slots.restore(restored.slot);
  if (restored.healthy) {
    worker.withdrawn.erase(restored.slot);
  } else {
    worker.withdrawn.at(restored.slot).released = true;
  }
  note_vacancy(world, worker);
  touch_all();
}

void Applier::operator()(const WorkerReleased& released) const {
  WorkerRecord& worker = world.workers.at(released.worker);
  worker.quarantined.clear();
  worker.quick_failures.clear();
  forget_false_starts(world, worker);
  note_vacancy(world, worker);
  touch_all();
}

void Applier::operator()(const AttemptDisowned& disowned) const {
  world.workers.at(disowned.worker).disowned.insert(disowned.key);
}

void withdraw_those(WorkerRecord& worker) {
  for (const auto& [slot, withdrawn] : worker.withdrawn) {
    if (!withdrawn.released) {
      worker.slots.withdraw(slot);
    }
  }
}

void note_vacancy(World& world, const WorkerRecord& worker) {
  if (worker.present && worker.quarantined.empty() && !world.suspects.contains(worker.id) &&
      !world.agenda.resting.contains(worker.id)) {
    world.vacancies.put(worker.id, worker.slots.free(), worker.attempts.size());
  } else {
    world.vacancies.remove(worker.id);
  }
}

}  // namespace hpsearch::engine
