#include "hpsearch/engine/experiment/open_end.hpp"

#include "event_checks.hpp"

namespace hpsearch::engine {

std::string open_end(const ExperimentRecord& record) {
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    const TrialRecord& trial = record.trials[i];
    const bool lacks_attempt = trial.state == TrialState::running && !trial.live;
    const bool lacks_end = is_closed(trial.state) && !is_ended(record.state) &&
                           record.state != ExperimentState::stopping &&
                           may_be_promoted(record, TrialNumber(i));
    if (lacks_attempt || lacks_end) {
      return "it is missing what became of trial " + std::to_string(i);
    }
  }
  return "";
}

}  // namespace hpsearch::engine
