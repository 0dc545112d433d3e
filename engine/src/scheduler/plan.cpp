#include "hpsearch/engine/scheduler/plan.hpp"

namespace hpsearch::engine {

bool goes_first(const Claim& a, const Claim& b) noexcept {
  if (a.priority != b.priority) {
    return a.priority < b.priority;
  }
  const double a_used = static_cast<double>(a.slots_in_use) / a.weight;
  const double b_used = static_cast<double>(b.slots_in_use) / b.weight;
  if (a_used < b_used || b_used < a_used) {
    return a_used < b_used;
  }
  return a.experiment < b.experiment;
}

std::optional<Placement> find_place(const std::map<WorkerId, WorkerRecord>& workers,
                                    const std::set<WorkerId>& suspects, std::uint64_t slots) {
  const WorkerRecord* best = nullptr;
  const auto better = [&](const WorkerRecord& worker) {
    if (best == nullptr) {
      return true;
    }
    return slots == 0 ? worker.attempts.size() < best->attempts.size() : worker.slots.free() < best->slots.free();
  };
  for (const auto& [id, worker] : workers) {
    if (worker.present && !suspects.contains(id) && worker.slots.free() >= slots && better(worker)) {
      best = &worker;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  return Placement{best->id, *best->slots.find_free(slots)};
}

}  // namespace hpsearch::engine
