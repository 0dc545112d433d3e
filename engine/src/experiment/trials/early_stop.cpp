// Trials that end before their length because of what they report.

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "hpsearch/engine/base/amount.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

bool may_stop(const ExperimentRecord& record, const TrialRecord& trial) {
  return trial.state == TrialState::running && !is_ended(record.state) &&
         record.state != ExperimentState::stopping;
}

}  // namespace

bool stop_if_diverged(Step& step, ExperimentId id, TrialNumber number) {
  const ExperimentRecord& record = step.state().experiments.at(id);
  const TrialRecord& trial = record.trials[number.number()];
  if (!record.config.searcher.stop_diverged || !may_stop(record, trial) ||
      std::isfinite(trial.latest->metric)) {
    return false;
  }
  const std::string detail = record.config.searcher.metric +
                             (std::isnan(trial.latest->metric) ? " was NaN at " : " was infinite at ") +
                             amount(trial.latest->step, record.config.unit) + ": its training diverged";
  close_all_that_can_be(step, id);
  step.emit(TrialExitedEarly{id, number, ExitReason::user_stopped, detail});
  Reason reason;
  reason.why = Reason::Why::early_exit;
  reason.detail = detail;
  step.emit(TrialEnded{id, number, TrialState::stopped, std::move(reason)});
  return true;
}

void stop_by_rule(Step& step, ExperimentId id, TrialNumber number) {
  const ExperimentRecord& record = step.state().experiments.at(id);
  const TrialRecord& trial = record.trials[number.number()];
  if (!may_stop(record, trial) || trial.latest->step >= trial.length) {
    return;
  }
  if (std::optional<Reason> reason = record.searcher->early_stop(number)) {
    step.emit(TrialEnded{id, number, TrialState::stopped, std::move(*reason)});
  }
}

}  // namespace hpsearch::engine
