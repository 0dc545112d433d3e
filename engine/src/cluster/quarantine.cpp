// Workers that get no new leases: because an operator says so, or because too much fails there too soon.

#include <algorithm>
#include <string>

#include "step.hpp"

namespace hpsearch::engine {
namespace {

// One program that cannot run somewhere is a coincidence, two may be; the third different one in a row is the
// machine. What it cost is given back, so being wrong costs a slot until an operator looks.
constexpr std::size_t suspicious_trials = 3;

std::size_t different(std::vector<std::pair<ExperimentId, TrialNumber>> trials) {
  std::sort(trials.begin(), trials.end());
  return static_cast<std::size_t>(std::unique(trials.begin(), trials.end()) - trials.begin());
}

/// A program that failed there has measured something elsewhere: it is not the program that is broken.
bool programs_work(const World& world, const WorkerRecord& worker) {
  return std::any_of(worker.quick_failures.begin(), worker.quick_failures.end(), [&](const auto& failure) {
    const auto found = world.experiments.find(failure.first);
    return found != world.experiments.end() && found->second.best.has_value();
  });
}

Error no_worker(WorkerId worker) {
  return Error{Errc::not_found, "there is no worker " + std::to_string(worker.number())};
}

}  // namespace

bool others_remain(const World& world, WorkerId without) {
  return std::any_of(world.workers.begin(), world.workers.end(), [&](const auto& entry) {
    return entry.first != without && entry.second.present && entry.second.quarantined.empty() &&
           !world.suspects.contains(entry.first);
  });
}

void judge_worker(Step& step, WorkerId id) {
  const World& world = step.world();
  const WorkerRecord& worker = world.workers.at(id);
  if (world.trusts_workers || !worker.quarantined.empty() ||
      worker.quick_failures.size() < suspicious_trials) {
    return;
  }
  const std::size_t trials = different(worker.quick_failures);
  if (trials >= suspicious_trials && programs_work(world, worker) && others_remain(world, id)) {
    step.happened(WorkerQuarantined{
        id, std::to_string(trials) + " different trials failed there one after another, each within a minute "
                                     "and without a report"});
  }
}

Status quarantine_worker(Step& step, const QuarantineWorker& command) {
  const auto found = step.world().workers.find(command.worker);
  if (found == step.world().workers.end()) {
    return no_worker(command.worker);
  }
  if (found->second.quarantined.empty()) {
    step.happened(
        WorkerQuarantined{command.worker, command.why.empty() ? "an operator said so" : command.why});
  }
  return Done{};
}

Status release_worker(Step& step, const ReleaseWorker& command) {
  const auto found = step.world().workers.find(command.worker);
  if (found == step.world().workers.end()) {
    return no_worker(command.worker);
  }
  if (!found->second.quarantined.empty() || found->second.false_starts > 0) {
    step.happened(WorkerReleased{command.worker});
  }
  release_slots(step, command.worker);
  release_troubles(step, command.worker);
  return Done{};
}

}  // namespace hpsearch::engine
