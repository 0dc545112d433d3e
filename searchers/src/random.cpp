#include "hpsearch/searchers/random.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "advice.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/composed_searcher.hpp"
#include "hpsearch/searchers/flat.hpp"
#include "hpsearch/searchers/repeats.hpp"
#include "preview.hpp"
#include "stopping_checks.hpp"

namespace hpsearch::searchers {

using engine::ExperimentConfig;

namespace {

constexpr std::array<std::string_view, 13> fields = {
    "anneal",  "finalists",    "max_concurrent_trials", "max_trials",
    "model",   "on_duplicate", "points_to_evaluate",    "prior",
    "repeats", "sampler",      "stop_diverged",         "stopping",
    "tpe"};
constexpr std::array<std::string_view, 1> required = {"max_trials"};

std::unique_ptr<engine::Searcher> make(const ExperimentConfig& config) {
  return make_random(config, make_sampler(config));
}

engine::Preview preview(const ExperimentConfig& config) {
  engine::Preview preview =
      preview_flat(trials_to_run(config), config.searcher.max_length, config.searcher.max_concurrent_trials);
  warn_of_small_space(preview, config);
  advise_halving(preview, config);
  advise_model(preview, config);
  warn_of_stopping(preview, config);
  preview_repeats(preview, config);
  return preview;
}

}  // namespace

std::unique_ptr<engine::Searcher> make_random(const ExperimentConfig& config,
                                              std::unique_ptr<Sampler> sampler) {
  auto search = std::make_unique<ComposedSearcher>(
      std::make_unique<Flat>(trials_to_run(config), config.searcher.max_length,
                             Flat::InvalidTrials::are_replaced, make_stopping_rules(config)),
      make_sampling_proposer(config, std::move(sampler)), changeable_limits(config));
  return with_repeats(config, std::move(search), preview);
}

engine::SearcherKind random_kind() noexcept {
  return {"random", fields, required, check_stopping, make, preview};
}

}  // namespace hpsearch::searchers
