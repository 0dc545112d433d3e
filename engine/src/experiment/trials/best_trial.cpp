#include "hpsearch/engine/experiment/best_trial.hpp"

namespace hpsearch::engine {

std::vector<Finalist> finalists_of(const ExperimentRecord& record) {
  return record.searcher != nullptr ? record.searcher->finalists() : std::vector<Finalist>();
}

std::optional<TrialNumber> best_trial(const ExperimentRecord& record) {
  return best_trial(record, finalists_of(record));
}

std::optional<TrialNumber> best_trial(const ExperimentRecord& record,
                                      const std::vector<Finalist>& finalists) {
  if (!finalists.empty()) {
    const Finalist::Training* best = finalists.front().best(record.config.searcher.goal());
    if (best != nullptr && record.trials[best->trial.number()].best) {
      return best->trial;
    }
  }
  return record.best;
}

}  // namespace hpsearch::engine
