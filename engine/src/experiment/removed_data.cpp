#include <string>
#include <utility>

#include "applier.hpp"
#include "event_checks.hpp"
#include "step.hpp"

namespace hpsearch::engine {

Status note_logs_removed(Step& step, const NoteLogsRemoved& command) {
  const auto found = step.state().experiments.find(command.experiment);
  if (found == step.state().experiments.end()) {
    return no_experiment(step.state(), command.experiment);
  }
  for (const TrialNumber trial : command.trials) {
    if (trial.number() < found->second.trials.size()) {
      step.emit(LogsRemoved{command.experiment, trial});
    }
  }
  return Done{};
}

void apply(const Applier& /*applier*/, const LogsRemoved& /*event*/) {
}

std::string problem_with(const EventChecks& checks, const LogsRemoved& event) {
  return checks.trial(event.experiment, event.trial);
}

Status thin_curve(Step& step, const ThinCurve& command) {
  const auto found = step.state().experiments.find(command.experiment);
  if (found == step.state().experiments.end()) {
    return no_experiment(step.state(), command.experiment);
  }
  const ExperimentRecord& record = found->second;
  const std::string name = "trial " + std::to_string(command.trial.number()) + " of experiment " +
                           std::to_string(command.experiment.number());
  if (command.trial.number() >= record.trials.size()) {
    return Error{Errc::not_found, "there is no " + name};
  }
  const TrialRecord& trial = record.trials[command.trial.number()];
  if (!is_closed(trial.state) || trial.live || trial.curve_thinned) {
    return Error{Errc::wrong_state,
                 name + (trial.curve_thinned ? " has lost reports of its curve already" : " has not ended")};
  }
  if (!command.removed.empty()) {
    step.emit(CurveThinned{command.experiment, command.trial, command.left, command.removed});
  }
  return Done{};
}

void apply(const Applier& applier, const CurveThinned& event) {
  applier.experiment(event.experiment).trials[event.trial.number()].curve_thinned = true;
}

std::string problem_with(const EventChecks& checks, const CurveThinned& event) {
  const TrialRecord* trial = checks.find(event.experiment, event.trial);
  if (trial == nullptr) {
    return checks.trial(event.experiment, event.trial);
  }
  if (!is_closed(trial->state)) {
    return "only the curve of a trial that has ended is thinned";
  }
  return event.removed.size() % 3 == 0 ? "" : "each row of removed reports has three numbers";
}

}  // namespace hpsearch::engine
