#include "stopping_checks.hpp"

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/searchers/stopping_rules.hpp"

namespace hpsearch::searchers {

using engine::StoppingConfig;
using engine::StoppingRule;
using engine::Units;

namespace {

// Each costs 24 bytes per trial.
constexpr std::uint64_t most_comparisons = 100;

}  // namespace

void check_stopping(const engine::ExperimentConfig& config, engine::Problems& problems) {
  const std::uint64_t comparisons =
      StoppingRules::comparisons(config.searcher.stopping, config.searcher.max_length);
  if (comparisons > most_comparisons) {
    problems.push_back({"searcher.stopping.every",
                        "leads to " + std::to_string(comparisons) + " comparisons of each trial",
                        "a length that leads to at most " + std::to_string(most_comparisons)});
  }
}

void warn_of_stopping(engine::Preview& preview, const engine::ExperimentConfig& config) {
  const StoppingConfig& rules = config.searcher.stopping;
  const Units max_length = config.searcher.max_length;
  if (rules.rule != StoppingRule::none && StoppingRules::comparisons(rules, max_length) == 0) {
    preview.warnings.push_back(
        "searcher.stopping.rule stops no trial: the first comparison, at " +
        engine::amount(Units{StoppingRules::first_length(rules, max_length)}, config.unit) +
        ", is not before the full length");
  } else if (rules.rule != StoppingRule::none && preview.trials <= rules.least_trials) {
    preview.warnings.push_back("searcher.stopping.rule stops no trial: one is compared with at least " +
                               std::to_string(rules.least_trials) + " others (least_trials), and there are " +
                               engine::to_text(preview.trials) + " in all");
  }
  if (rules.patience && *rules.patience >= engine::count(max_length)) {
    preview.warnings.push_back("searcher.stopping.patience stops no trial: it is not below max_length");
  }
}

}  // namespace hpsearch::searchers
