// Workers that will not come back: their records are removed, their names stay for history.

#include <algorithm>
#include <string>
#include <utility>

#include "applier.hpp"
#include "event_checks.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

/// An attempt on several workers lives until its last member has ended, and names those before.
bool is_member_of_a_live_gang(const EngineState& state, WorkerId worker) {
  return std::any_of(state.going.begin(), state.going.end(), [&](ExperimentId id) {
    const ExperimentRecord& record = state.experiments.at(id);
    return record.config.resources.spans_workers &&
           std::any_of(record.running.begin(), record.running.end(), [&](TrialNumber number) {
             const LiveAttempt& live = *record.trials[number.number()].live;
             return live.gang && live.gang->member_on(worker) != nullptr;
           });
  });
}

}  // namespace

Status forget_worker(Step& step, const ForgetWorker& command) {
  const EngineState& state = step.state();
  const std::string number = std::to_string(command.worker.number());
  const auto found = state.workers.find(command.worker);
  if (found == state.workers.end()) {
    return state.forgotten_workers.contains(command.worker)
               ? Status(Done{})
               : Status(Error{Errc::not_found, "there is no worker " + number});
  }
  const WorkerRecord& worker = found->second;
  if (is_external(worker) || worker.present || !worker.attempts.empty()) {
    return Error{Errc::wrong_state, "worker " + number + " (" + worker.name +
                                        ") is not lost; only a lost worker can be forgotten. Stop it first: "
                                        "a worker that is stopped, or silent for --lost-after, is lost"};
  }
  if (is_member_of_a_live_gang(state, worker.id)) {
    return Error{Errc::wrong_state, "worker " + number + " (" + worker.name +
                                        ") is part of an attempt on several workers that has not ended yet; "
                                        "try again when it has"};
  }
  step.emit(WorkerForgotten{command.worker, command.why});
  return Done{};
}

void apply(const Applier& applier, const WorkerForgotten& forgotten) {
  EngineState& state = applier.state;
  const auto found = state.workers.find(forgotten.worker);
  WorkerRecord& worker = found->second;
  if (!worker.quarantines.empty() && !worker.quarantines.back().to) {
    worker.quarantines.back().to = applier.event.at;
  }
  state.forgotten_workers[worker.id] = {std::move(worker.name), std::move(worker.quarantines)};
  state.allocated_workers -= worker.allocation.empty() ? 0U : 1U;
  state.worker_by_uid.erase(worker.uid);
  state.vacancies.remove(forgotten.worker);
  state.suspects.erase(forgotten.worker);
  state.taken_by_uid.erase(worker.uid);
  state.agenda.resting.erase(forgotten.worker);
  std::erase_if(state.agenda.delayed,
                [&](const Agenda::DelayedStart& start) { return start.worker == forgotten.worker; });
  state.workers.erase(found);
}

std::string problem_with(const EventChecks& checks, const WorkerForgotten& forgotten) {
  const auto found = checks.state.workers.find(forgotten.worker);
  if (found == checks.state.workers.end()) {
    return checks.worker(forgotten.worker);
  }
  const bool is_needed =
      is_external(found->second) || is_member_of_a_live_gang(checks.state, forgotten.worker);
  return found->second.present || !found->second.attempts.empty() || is_needed ? "the worker is not lost"
                                                                               : "";
}

}  // namespace hpsearch::engine
