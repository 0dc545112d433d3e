#include "hpsearch/proto/api/workers.hpp"

#include "hpsearch/engine/engine.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"

namespace hpsearch::api {

Device device_of(const engine::SlotDevice& device) {
  return {device.uuid, device.name, device.index, device.memory_bytes};
}

Worker worker_of(const engine::WorkerRecord& record, sentences::Language language) {
  Worker worker;
  worker.id = record.id;
  worker.name = record.name;
  worker.incarnation = record.incarnation;
  worker.present = record.present;
  worker.slot_kind = record.slot_kind;
  worker.slots = record.slots.total();
  worker.unslotted = record.unslotted;
  worker.max_unslotted = record.max_unslotted;
  for (const auto& [key, quarantine] : record.leaked_processes) {
    for (const engine::SlotIndex slot : quarantine.slots) {
      worker.slots_quarantined += !quarantine.released && slot.number() < record.slots.total() ? 1U : 0U;
    }
    worker.leaked_processes.push_back(
        {{key.experiment, key.trial, key.attempt}, quarantine.slots, quarantine.released});
  }
  worker.slots_held = record.slots.held() - worker.slots_quarantined;
  for (const auto& [slot, state] : record.withdrawn) {
    worker.withdrawn.push_back({slot, state.why, state.released});
    worker.slots_withdrawn += state.released ? 0U : 1U;
  }
  for (const auto& [slot, why] : record.taken) {
    worker.taken.push_back({slot, sentences::stored_in(language, why)});
  }
  for (const engine::SlotDevice& device : record.devices) {
    worker.devices.push_back(device_of(device));
  }
  worker.pool = engine::pool_named(record.pool);
  worker.labels = record.labels;
  if (!record.allocation.empty()) {
    worker.allocation = record.allocation;
  }
  if (record.end) {
    worker.ends_at = static_cast<double>(record.end->at.micros()) / 1e6;
  }
  if (!record.quarantined.empty()) {
    worker.quarantined = sentences::stored_in(language, record.quarantined);
  }
  worker.draining = record.draining;
  for (const engine::AttemptKey& key : record.attempts) {
    worker.attempts.push_back({key.experiment, key.trial, key.attempt});
  }
  return worker;
}

}  // namespace hpsearch::api
