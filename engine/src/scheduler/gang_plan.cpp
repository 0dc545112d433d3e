#include "scheduler/gang_plan.hpp"

#include <algorithm>
#include <utility>

namespace hpsearch::engine {

bool may_span_workers(const ExperimentConfig& config) noexcept {
  return spans_workers(config.launch) && !config.resources.single_node;
}

bool fits_on_one(const std::map<WorkerId, WorkerRecord>& workers, const ResourcesConfig& wanted) {
  return std::any_of(workers.begin(), workers.end(), [&wanted](const auto& entry) {
    const WorkerRecord& worker = entry.second;
    return worker.present && worker.quarantined.empty() && serves(worker, wanted) &&
           could_hold(worker, wanted.slots_per_trial);
  });
}

bool may_take_part(const WorkerRecord& worker, const ResourcesConfig& wanted) noexcept {
  return worker.present && worker.quarantined.empty() && !worker.address.empty() && serves(worker, wanted);
}

GangShape gang_shape(const std::map<WorkerId, WorkerRecord>& workers, const ResourcesConfig& wanted) {
  const std::uint64_t slots = wanted.slots_per_trial;
  for (std::uint64_t parts = wanted.least_workers; parts <= workers.size() && parts <= slots; ++parts) {
    if (slots % parts != 0) {
      continue;
    }
    const auto able = std::count_if(workers.begin(), workers.end(), [&](const auto& entry) {
      return may_take_part(entry.second, wanted) && could_hold(entry.second, slots / parts);
    });
    if (static_cast<std::uint64_t>(able) >= parts) {
      return {parts, slots / parts};
    }
  }
  return {};
}

GangPlan plan_gang(const std::map<WorkerId, WorkerRecord>& workers, const std::set<WorkerId>& suspects,
                   const std::set<WorkerId>& reserved, const ResourcesConfig& wanted) {
  const GangShape shape = gang_shape(workers, wanted);
  GangPlan plan;
  plan.slots_each = shape.slots_each;
  if (shape.workers == 0) {
    return plan;
  }
  std::vector<std::pair<std::uint64_t, WorkerId>> enough;
  std::vector<std::pair<std::uint64_t, WorkerId>> too_few;  // By how many are missing.
  for (const auto& [id, worker] : workers) {
    if (!may_take_part(worker, wanted) || reserved.contains(id) || suspects.contains(id) ||
        !could_hold(worker, shape.slots_each)) {
      continue;
    }
    const std::uint64_t free = worker.slots.free();
    if (worker.slots.find_free(shape.slots_each)) {
      enough.emplace_back(free, id);
    } else {
      too_few.emplace_back(shape.slots_each - std::min(free, shape.slots_each), id);
    }
  }
  std::sort(enough.begin(), enough.end());
  std::sort(too_few.begin(), too_few.end());
  plan.complete = enough.size() >= shape.workers;
  for (const auto* part : {&enough, &too_few}) {
    for (const auto& [order, id] : *part) {
      if (plan.workers.size() < shape.workers) {
        plan.workers.push_back(id);
      }
    }
  }
  return plan;
}

}  // namespace hpsearch::engine
