// Slots in which something survives SIGKILL: they get no lease before it has ended or an operator releases
// them.

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "step.hpp"

namespace hpsearch::engine {
namespace {

std::vector<AttemptKey> quarantined_by(const WorkerRecord& worker) {
  std::vector<AttemptKey> keys;
  for (const auto& [key, quarantine] : worker.leaked_processes) {
    keys.push_back(key);
  }
  return keys;
}

/// It has its slots still; its exit report, which says the same, is on its way.
bool exits_yet(const EngineState& state, const WorkerRecord& worker, const AttemptKey& key) {
  return std::any_of(worker.attempts.begin(), worker.attempts.end(), [&](const AttemptKey& live) {
    return trial_of(state, live.experiment, live.trial).live->known_as() == key;
  });
}

/// Survivors of an attempt whose lease ended without an exit report. Who was given their slots meanwhile
/// waits on the worker until they have ended, so it is sent elsewhere.
void clear_slots(Step& step, const WorkerRecord& worker, const LeakedProcesses& leaked_processes) {
  const EngineState& state = step.state();
  const std::vector<AttemptKey> attempts(worker.attempts.begin(), worker.attempts.end());
  for (const AttemptKey& key : attempts) {
    const AttemptPart part = *trial_of(state, key.experiment, key.trial).live->part_on(worker.id);
    const bool there =
        std::any_of(part.slots->begin(), part.slots->end(), [&leaked_processes](SlotIndex slot) {
          return std::find(leaked_processes.slots.begin(), leaked_processes.slots.end(), slot) !=
                 leaked_processes.slots.end();
        });
    if (there && !part.started) {
      step.effects().orders.emplace_back(FenceAttempt{worker.id, key});
      lose_attempt(step, key, worker.id, "something of an earlier attempt survives in its slots");
    }
  }
  std::vector<SlotIndex> free;
  std::copy_if(leaked_processes.slots.begin(), leaked_processes.slots.end(), std::back_inserter(free),
               [&worker](SlotIndex slot) { return worker.slots.is_free(slot); });
  std::sort(free.begin(), free.end());  // A worker may name a slot twice.
  free.erase(std::unique(free.begin(), free.end()), free.end());
  quarantine_slots(step, worker.id, leaked_processes.key, free);
}

}  // namespace

void quarantine_slots(Step& step, WorkerId id, const AttemptKey& as_known,
                      const std::vector<SlotIndex>& slots) {
  if (!slots.empty() && !step.state().workers.at(id).leaked_processes.contains(as_known)) {
    step.emit(SlotsQuarantined{id, as_known, slots});
  }
}

Status note_leaked_processes(Step& step, const NoteLeakedProcesses& command) {
  const EngineState& state = step.state();
  const auto found = state.workers.find(command.worker);
  if (found == state.workers.end()) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  const WorkerRecord& worker = found->second;
  for (const AttemptKey& key : quarantined_by(worker)) {
    const bool there =
        std::any_of(command.leaked_processes.begin(), command.leaked_processes.end(),
                    [&key](const LeakedProcesses& leaked_processes) { return leaked_processes.key == key; });
    if (!there) {
      step.emit(SlotsReleased{command.worker, key, true});
    }
  }
  for (const LeakedProcesses& leaked_processes : command.leaked_processes) {
    const bool of_a_lease =
        leaked_processes.key.lease != LeaseId{};  // It holds the slots; and there is none without a number.
    if (of_a_lease && !worker.leaked_processes.contains(leaked_processes.key) &&
        !exits_yet(state, worker, leaked_processes.key)) {
      clear_slots(step, worker, leaked_processes);
    }
  }
  return Done{};
}

void release_slots(Step& step, WorkerId id) {
  const WorkerRecord& worker = step.state().workers.at(id);
  for (const AttemptKey& key : quarantined_by(worker)) {
    if (!worker.leaked_processes.at(key).released) {
      step.emit(SlotsReleased{id, key, false});
    }
  }
}

}  // namespace hpsearch::engine
