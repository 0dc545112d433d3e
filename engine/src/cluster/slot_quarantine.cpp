// Slots in which something survives SIGKILL: nobody gets them before it is gone, or an operator says so.

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "step.hpp"

namespace hpsearch::engine {
namespace {

std::vector<AttemptKey> quarantined_by(const WorkerRecord& worker) {
  std::vector<AttemptKey> keys;
  for (const auto& [key, quarantine] : worker.remains) {
    keys.push_back(key);
  }
  return keys;
}

/// It has its slots still; its exit report, which says the same, is on its way.
bool exits_yet(const World& world, const WorkerRecord& worker, const AttemptKey& key) {
  return std::any_of(worker.attempts.begin(), worker.attempts.end(), [&](const AttemptKey& live) {
    return trial_of(world, live.experiment, live.trial).live->known_as() == key;
  });
}

/// Survivors of an attempt whose lease ended without an exit report. Who was given their slots meanwhile
/// waits on the worker for them to be gone, so it is sent elsewhere.
void clear_slots(Step& step, const WorkerRecord& worker, const Remains& remains) {
  const World& world = step.world();
  const std::vector<AttemptKey> attempts(worker.attempts.begin(), worker.attempts.end());
  for (const AttemptKey& key : attempts) {
    const AttemptPart part = *trial_of(world, key.experiment, key.trial).live->part_on(worker.id);
    const bool there = std::any_of(part.slots->begin(), part.slots->end(), [&remains](SlotIndex slot) {
      return std::find(remains.slots.begin(), remains.slots.end(), slot) != remains.slots.end();
    });
    if (there && !part.started) {
      step.effects().orders.emplace_back(FenceAttempt{worker.id, key});
      lose_attempt(step, key, worker.id, "something of an earlier attempt survives in its slots");
    }
  }
  std::vector<SlotIndex> free;
  std::copy_if(remains.slots.begin(), remains.slots.end(), std::back_inserter(free),
               [&worker](SlotIndex slot) { return worker.slots.is_free(slot); });
  std::sort(free.begin(), free.end());  // What a worker says may say a slot twice.
  free.erase(std::unique(free.begin(), free.end()), free.end());
  quarantine_slots(step, worker.id, remains.key, free);
}

}  // namespace

void quarantine_slots(Step& step, WorkerId id, const AttemptKey& as_known,
                      const std::vector<SlotIndex>& slots) {
  if (!slots.empty() && !step.world().workers.at(id).remains.contains(as_known)) {
    step.happened(SlotsQuarantined{id, as_known, slots});
  }
}

Status note_remains(Step& step, const NoteRemains& command) {
  const World& world = step.world();
  const auto found = world.workers.find(command.worker);
  if (found == world.workers.end()) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  const WorkerRecord& worker = found->second;
  for (const AttemptKey& key : quarantined_by(worker)) {
    const bool there = std::any_of(command.remains.begin(), command.remains.end(),
                                   [&key](const Remains& remains) { return remains.key == key; });
    if (!there) {
      step.happened(SlotsReleased{command.worker, key, true});
    }
  }
  for (const Remains& remains : command.remains) {
    const bool of_a_lease =
        remains.key.lease != LeaseId{};  // It holds the slots; and there is none without a number.
    if (of_a_lease && !worker.remains.contains(remains.key) && !exits_yet(world, worker, remains.key)) {
      clear_slots(step, worker, remains);
    }
  }
  return Done{};
}

void release_slots(Step& step, WorkerId id) {
  const WorkerRecord& worker = step.world().workers.at(id);
  for (const AttemptKey& key : quarantined_by(worker)) {
    if (!worker.remains.at(key).released) {
      step.happened(SlotsReleased{id, key, false});
    }
  }
}

}  // namespace hpsearch::engine
