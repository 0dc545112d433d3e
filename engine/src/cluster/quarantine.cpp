// Workers that get no new leases: because an operator says so, or because too much fails there too soon. A
// worker is judged by what is the worker's: by trials that failed there and then worked elsewhere.

#include <algorithm>
#include <set>
#include <string>

#include "step.hpp"

namespace hpsearch::engine {
namespace {

// One program that cannot run somewhere is a coincidence, two may be; the third different one in a row is the
// machine, if the programs are not of one kind and if programs fail and then work that rarely elsewhere.
constexpr std::size_t suspicious_trials = 3;
constexpr std::size_t suspicious_experiments = 2;
constexpr double most_likely = 0.002;

constexpr Duration first_probation = Duration::seconds(300);
constexpr Duration last_probation = Duration::seconds(3'600);
/// One worker of so many in a pool may be in quarantine by the engine's decision; of a smaller pool, one.
constexpr std::uint64_t workers_per_quarantine = 10;

/// How often attempts of the experiment fail soon and then work, on other workers than this one: a guess
/// that a few good starts do not make bold.
double chance_elsewhere(const ExperimentRecord& record, WorkerId without) {
  std::uint64_t failed = 0;
  for (const auto& [worker, trials] : record.worked_elsewhere) {
    failed += worker != without ? trials : 0;
  }
  return static_cast<double>(failed + 1) / static_cast<double>(record.good_starts + failed + 2);
}

/// The failures that count against a worker.
struct Evidence {
  std::set<std::pair<ExperimentId, TrialNumber>> trials;
  std::set<ExperimentId> experiments;
  double chance = 1;  ///< That a worker like the others sees all this.
};

Evidence evidence_against(const EngineState& state, const WorkerRecord& worker) {
  Evidence evidence;
  for (const WorkerMark& mark : worker.marks) {
    if (mark.worked_elsewhere && evidence.trials.emplace(mark.experiment, mark.trial).second) {
      evidence.experiments.insert(mark.experiment);
      evidence.chance *= chance_elsewhere(state.experiments.at(mark.experiment), worker.id);
    }
  }
  return evidence;
}

bool may_be_spared(const EngineState& state, const WorkerRecord& worker) {
  std::uint64_t present = 0;
  std::uint64_t in_quarantine = 0;
  for (const auto& [id, other] : state.workers) {
    if (other.present && !is_external(other) && pool_named(other.pool) == pool_named(worker.pool)) {
      ++present;
      in_quarantine += other.probation ? 1U : 0U;
    }
  }
  return in_quarantine < std::max<std::uint64_t>(1, present / workers_per_quarantine) &&
         others_alike(state, worker);
}

Error no_worker(WorkerId worker) {
  return Error{Errc::not_found, "there is no worker " + std::to_string(worker.number())};
}

/// A trial on probation failed there: the next one comes later.
void fail_probation(Step& step, const WorkerRecord& worker) {
  Duration wait = first_probation;
  for (std::uint64_t times = worker.probation->times; times > 0 && wait < last_probation; --times) {
    wait = std::min(wait + wait, last_probation);
  }
  WorkerQuarantined event{worker.id, worker.quarantined};
  event.probation_after = wait;
  step.emit(std::move(event));
}

}  // namespace

bool others_serve(const EngineState& state, const ResourcesConfig& wanted, WorkerId without) {
  return std::any_of(state.workers.begin(), state.workers.end(), [&](const auto& entry) {
    return entry.first != without && is_in_service(entry.second) && !state.suspects.contains(entry.first) &&
           serves(entry.second, wanted) &&
           (wanted.spans_workers || could_hold(entry.second, wanted.slots_per_trial));
  });
}

bool others_alike(const EngineState& state, const WorkerRecord& worker) {
  return std::any_of(state.workers.begin(), state.workers.end(), [&](const auto& entry) {
    const WorkerRecord& other = entry.second;
    return entry.first != worker.id && is_in_service(other) && !state.suspects.contains(entry.first) &&
           other.slot_kind == worker.slot_kind && pool_named(other.pool) == pool_named(worker.pool) &&
           !is_external(other);
  });
}

void judge_worker(Step& step, WorkerId id) {
  const EngineState& state = step.state();
  const auto found = state.workers.find(id);
  if (state.trusts_workers || found == state.workers.end() || is_external(found->second) ||
      !found->second.quarantined.empty() || found->second.marks.size() < suspicious_trials) {
    return;
  }
  const Evidence evidence = evidence_against(state, found->second);
  if (evidence.trials.size() < suspicious_trials || evidence.experiments.size() < suspicious_experiments ||
      evidence.chance > most_likely || !may_be_spared(state, found->second)) {
    return;
  }
  WorkerQuarantined event{
      id, std::to_string(evidence.trials.size()) + " trials of " +
              std::to_string(evidence.experiments.size()) +
              " experiments failed there one after another, each within a minute and without a report, and "
              "then worked on other workers"};
  event.probation_after = first_probation;
  step.emit(std::move(event));
}

bool is_on_probation(const EngineState& state, WorkerId worker, const AttemptKey& key) {
  const auto found = state.workers.find(worker);
  return found != state.workers.end() && found->second.probation && found->second.probation->attempt == key;
}

void end_probation(Step& step, WorkerId id, bool works) {
  const WorkerRecord& worker = step.state().workers.at(id);
  if (!worker.probation) {
    return;  // An operator released it, or wants it in quarantine.
  }
  if (works) {
    WorkerReleased event{id};
    event.proven = true;
    step.emit(std::move(event));
  } else {
    fail_probation(step, worker);
  }
}

Status quarantine_worker(Step& step, const QuarantineWorker& command) {
  const auto found = step.state().workers.find(command.worker);
  if (found == step.state().workers.end()) {
    return no_worker(command.worker);
  }
  if (found->second.quarantined.empty() || found->second.probation) {
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
