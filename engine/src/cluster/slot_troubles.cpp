// Slots whose device is broken, or cannot be asked: they get no lease before their worker reports that they
// are well, or an operator wants them used nevertheless.

#include <algorithm>
#include <string>
#include <vector>

#include "step.hpp"

namespace hpsearch::engine {

Status note_troubles(Step& step, const NoteTroubles& command) {
  const EngineState& state = step.state();
  const auto found = state.workers.find(command.worker);
  if (found == state.workers.end()) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  const WorkerRecord& worker = found->second;
  std::vector<SlotIndex> well;
  for (const auto& [slot, withdrawn] : worker.withdrawn) {
    const bool is_noted =
        std::any_of(command.troubles.begin(), command.troubles.end(),
                    [&slot = slot](const SlotTrouble& trouble) { return trouble.slot == slot; });
    if (!is_noted) {
      well.push_back(slot);
    }
  }
  for (const SlotIndex slot : well) {
    step.emit(SlotRestored{command.worker, slot, true});
  }
  for (const SlotTrouble& trouble : command.troubles) {
    if (trouble.slot.number() < worker.slots.total() && !worker.withdrawn.contains(trouble.slot)) {
      step.emit(SlotWithdrawn{command.worker, trouble.slot, trouble.why});
    }
  }
  return Done{};
}

void release_troubles(Step& step, WorkerId id) {
  const WorkerRecord& worker = step.state().workers.at(id);
  std::vector<SlotIndex> withheld;
  for (const auto& [slot, withdrawn] : worker.withdrawn) {
    if (!withdrawn.released) {
      withheld.push_back(slot);
    }
  }
  for (const SlotIndex slot : withheld) {
    step.emit(SlotRestored{id, slot, false});
  }
}

}  // namespace hpsearch::engine
