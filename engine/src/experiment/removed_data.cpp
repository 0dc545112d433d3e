#include <algorithm>
#include <cstdint>
#include <string>

#include "applier.hpp"
#include "event_checks.hpp"
#include "hpsearch/engine/experiment/deleted_experiment.hpp"
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

Status remove_rows(Step& step, const RemoveRows& command) {
  const auto found = step.state().deleted.find(command.experiment);
  if (found == step.state().deleted.end()) {
    return Error{Errc::wrong_state,
                 "experiment " + std::to_string(command.experiment.number()) + " is not deleted"};
  }
  const DeletedExperiment& deleted = found->second;
  const std::uint64_t end = std::min(deleted.trials, deleted.rows_removed + command.trials);
  if (end <= deleted.rows_removed) {
    return Error{Errc::wrong_state, "no rows of experiment " + std::to_string(command.experiment.number()) +
                                        " are left beside the log"};
  }
  step.emit(RowsRemoved{command.experiment, TrialNumber(deleted.rows_removed), TrialNumber(end - 1)});
  return Done{};
}

void apply(const Applier& applier, const RowsRemoved& event) {
  applier.state.deleted.at(event.experiment).rows_removed = event.last.number() + 1;
}

std::string problem_with(const EventChecks& checks, const RowsRemoved& event) {
  const auto found = checks.state.deleted.find(event.experiment);
  if (found == checks.state.deleted.end()) {
    return "only rows of a deleted experiment are removed";
  }
  return event.first <= event.last && event.last.number() < found->second.trials
             ? ""
             : "the experiment had no such trials";
}

}  // namespace hpsearch::engine
