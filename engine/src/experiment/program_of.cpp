#include <algorithm>

#include "experiment/trials/retention.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

const ProgramChange* program_of(const ExperimentRecord& record, TrialNumber trial) noexcept {
  const auto last =
      std::find_if(record.programs.rbegin(), record.programs.rend(), [trial](const ProgramChange& change) {
        return change.context_digest.empty() || change.from <= trial ||
               std::binary_search(change.also.begin(), change.also.end(), trial);
      });
  return last == record.programs.rend() ? nullptr : &*last;
}

std::vector<TrialNumber> trials_without_reports(const ExperimentRecord& record) {
  std::vector<TrialNumber> found;
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    const TrialRecord& trial = record.trials[i];
    const bool may_run = !is_closed(trial.state) || ended_with_experiment(trial);
    if (may_run && !trial.live && !trial.latest && trial.reached == Units{} && !has_own_checkpoint(trial)) {
      found.push_back(TrialNumber(i));
    }
  }
  return found;
}

}  // namespace hpsearch::engine
