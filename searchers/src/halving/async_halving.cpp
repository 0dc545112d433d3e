#include "hpsearch/searchers/async_halving.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "advice.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/asha.hpp"
#include "hpsearch/searchers/composed_searcher.hpp"
#include "hpsearch/searchers/repeats.hpp"
#include "preview.hpp"

namespace hpsearch::searchers {

using engine::ExperimentConfig;

namespace {

constexpr std::array<std::string_view, 15> fields = {"anneal",
                                                     "divisor",
                                                     "finalists",
                                                     "max_concurrent_trials",
                                                     "max_trials",
                                                     "model",
                                                     "num_rungs",
                                                     "on_duplicate",
                                                     "points_to_evaluate",
                                                     "prior",
                                                     "repeats",
                                                     "sampler",
                                                     "stop_diverged",
                                                     "stop_once",
                                                     "tpe"};
constexpr std::array<std::string_view, 2> required = {"max_trials", "num_rungs"};

AshaSettings settings_of(const ExperimentConfig& config) {
  const engine::SearcherConfig& searcher = config.searcher;
  const Divisor divisor(searcher.divisor);
  return {rung_lengths(searcher.max_length, divisor, searcher.num_rungs), divisor, trials_to_run(config),
          searcher.goal()};
}

std::unique_ptr<engine::Searcher> make(const ExperimentConfig& config) {
  return make_async_halving(config, make_sampler(config));
}

engine::Preview preview(const ExperimentConfig& config) {
  engine::Preview preview;
  preview_bracket(preview, settings_of(config), config.searcher.num_rungs, config.searcher.stop_once,
                  config.searcher.max_concurrent_trials, "the bracket");
  warn_of_rungs(preview, config);
  warn_of_small_space(preview, config);
  advise_model(preview, config);
  preview_repeats(preview, config);
  return preview;
}

}  // namespace

std::unique_ptr<engine::Searcher> make_async_halving(const ExperimentConfig& config,
                                                     std::unique_ptr<Sampler> sampler) {
  AshaSettings settings = settings_of(config);
  settings.late_starts = sampler != nullptr;
  auto search = std::make_unique<ComposedSearcher>(make_asha(std::move(settings), config.searcher.stop_once),
                                                   make_sampling_proposer(config, std::move(sampler)),
                                                   changeable_limits(config));
  return with_repeats(config, std::move(search), preview);
}

engine::SearcherKind async_halving_kind() noexcept {
  return {"async_halving", fields, required, nullptr, make, preview};
}

}  // namespace hpsearch::searchers
