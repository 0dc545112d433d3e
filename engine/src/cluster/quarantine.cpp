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
bool programs_work(const EngineState& state, const WorkerRecord& worker) {
  return std::any_of(worker.quick_failures.begin(), worker.quick_failures.end(), [&](const auto& failure) {
    const auto found = state.experiments.find(failure.first);
    return found != state.experiments.end() && found->second.best.has_value();
  });
}

Error no_worker(WorkerId worker) {
  return Error{Errc::not_found, "there is no worker " + std::to_string(worker.number())};
}

}  // namespace

bool others_remain(const EngineState& state, WorkerId without) {
  return std::any_of(state.workers.begin(), state.workers.end(), [&](const auto& entry) {
    return entry.first != without && is_in_service(entry.second) && !state.suspects.contains(entry.first);
  });
}

void judge_worker(Step& step, WorkerId id) {
  const EngineState& state = step.state();
  const WorkerRecord& worker = state.workers.at(id);
  if (state.trusts_workers || is_external(worker) || !worker.quarantined.empty() ||
      worker.quick_failures.size() < suspicious_trials) {
    return;
  }
  const std::size_t trials = different(worker.quick_failures);
  if (trials >= suspicious_trials && programs_work(state, worker) && others_remain(state, id)) {
    step.emit(WorkerQuarantined{
        id, std::to_string(trials) + " different trials failed there one after another, each within a minute "
                                     "and without a report"});
  }
}

Status quarantine_worker(Step& step, const QuarantineWorker& command) {
  const auto found = step.state().workers.find(command.worker);
  if (found == step.state().workers.end()) {
    return no_worker(command.worker);
  }
  if (found->second.quarantined.empty()) {
    step.emit(
        WorkerQuarantined{command.worker, command.why.empty() ? "requested by an operator" : command.why});
  }
  return Done{};
}

Status drain_worker(Step& step, const DrainWorker& command) {
  const auto found = step.state().workers.find(command.worker);
  if (found == step.state().workers.end()) {
    return no_worker(command.worker);
  }
  if (!found->second.draining) {
    step.emit(WorkerDraining{command.worker});
  }
  return Done{};
}

Status release_worker(Step& step, const ReleaseWorker& command) {
  const auto found = step.state().workers.find(command.worker);
  if (found == step.state().workers.end()) {
    return no_worker(command.worker);
  }
  if (!found->second.quarantined.empty() || found->second.draining || found->second.start_failures > 0) {
    step.emit(WorkerReleased{command.worker});
  }
  release_slots(step, command.worker);
  release_troubles(step, command.worker);
  return Done{};
}

}  // namespace hpsearch::engine
