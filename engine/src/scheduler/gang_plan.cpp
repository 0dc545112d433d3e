#include "scheduler/gang_plan.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hpsearch::engine {

bool fits_on_one(const std::map<WorkerId, WorkerRecord>& workers, const ResourcesConfig& wanted) {
  return std::any_of(workers.begin(), workers.end(), [&wanted](const auto& entry) {
    const WorkerRecord& worker = entry.second;
    return is_in_service(worker) && serves(worker, wanted) && could_hold(worker, wanted.slots_per_trial);
  });
}

bool may_take_part(const WorkerRecord& worker, const ResourcesConfig& wanted) noexcept {
  return is_in_service(worker) && !worker.address.empty() && serves(worker, wanted);
}

bool is_loopback(const std::string& address) noexcept {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

namespace {

using Workers = std::vector<const WorkerRecord*>;

/// Those that may be together in one attempt: whoever says a loopback address is reached from its own machine
/// only.
Workers candidates(const std::map<WorkerId, WorkerRecord>& workers, const ResourcesConfig& wanted,
                   bool on_one_machine) {
  Workers found;
  for (const auto& [id, worker] : workers) {
    if (may_take_part(worker, wanted) && is_loopback(worker.address) == on_one_machine) {
      found.push_back(&worker);
    }
  }
  return found;
}

GangShape shape_among(const Workers& workers, const ResourcesConfig& wanted) {
  const std::uint64_t slots = wanted.slots_per_trial;
  for (std::uint64_t parts = wanted.least_workers; parts <= workers.size() && parts <= slots; ++parts) {
    if (slots % parts != 0) {
      continue;
    }
    const auto able = std::count_if(workers.begin(), workers.end(), [&](const WorkerRecord* worker) {
      return could_hold(*worker, slots / parts);
    });
    if (static_cast<std::uint64_t>(able) >= parts) {
      return {parts, slots / parts};
    }
  }
  return {};
}

GangPlan plan_among(const Workers& workers, const std::set<WorkerId>& suspects,
                    const std::set<WorkerId>& reserved, const ResourcesConfig& wanted, WorkerId avoided) {
  const GangShape shape = shape_among(workers, wanted);
  GangPlan plan;
  plan.slots_each = shape.slots_each;
  std::vector<std::tuple<bool, std::uint64_t, WorkerId>> enough;
  std::vector<std::tuple<bool, std::uint64_t, WorkerId>> too_few;  // By how many are missing.
  for (const WorkerRecord* worker : workers) {
    if (shape.workers == 0 || reserved.contains(worker->id) || suspects.contains(worker->id) ||
        !could_hold(*worker, shape.slots_each)) {
      continue;
    }
    const std::uint64_t free = worker->slots.free();
    if (worker->slots.find_free(shape.slots_each)) {
      enough.emplace_back(worker->id == avoided, free, worker->id);
    } else {
      too_few.emplace_back(worker->id == avoided, shape.slots_each - std::min(free, shape.slots_each),
                           worker->id);
    }
  }
  if (shape.workers == 0 || enough.size() + too_few.size() < shape.workers) {
    return plan;
  }
  std::sort(enough.begin(), enough.end());
  std::sort(too_few.begin(), too_few.end());
  plan.complete = enough.size() >= shape.workers;
  for (const auto* part : {&enough, &too_few}) {
    for (const auto& [is_avoided, order, id] : *part) {
      if (plan.workers.size() < shape.workers) {
        plan.workers.push_back(id);
      }
    }
  }
  return plan;
}

}  // namespace

GangShape gang_shape(const std::map<WorkerId, WorkerRecord>& workers, const ResourcesConfig& wanted) {
  for (const bool on_one_machine : {false, true}) {
    GangShape shape = shape_among(candidates(workers, wanted, on_one_machine), wanted);
    if (shape.workers > 0) {
      shape.on_one_machine = on_one_machine;
      return shape;
    }
  }
  return {};
}

GangPlan plan_gang(const std::map<WorkerId, WorkerRecord>& workers, const std::set<WorkerId>& suspects,
                   const std::set<WorkerId>& reserved, const ResourcesConfig& wanted, WorkerId avoided) {
  GangPlan first;
  for (const bool on_one_machine : {false, true}) {
    GangPlan plan =
        plan_among(candidates(workers, wanted, on_one_machine), suspects, reserved, wanted, avoided);
    if (plan.complete) {
      return plan;
    }
    if (first.workers.empty()) {
      first = std::move(plan);
    }
  }
  return first;
}

}  // namespace hpsearch::engine
