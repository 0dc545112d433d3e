#include "hpsearch/searchers/single.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/composed_searcher.hpp"
#include "hpsearch/searchers/flat.hpp"
#include "hpsearch/searchers/repeats.hpp"
#include "preview.hpp"
#include "stopping_checks.hpp"

namespace hpsearch::searchers {

using engine::ExperimentConfig;

namespace {

// There is only one configuration to repeat.
constexpr std::array<std::string_view, 3> fields = {"repeats", "stop_diverged", "stopping"};

engine::Preview preview(const ExperimentConfig& config) {
  engine::Preview preview = preview_flat(1, config.searcher.max_length, 0);
  warn_of_stopping(preview, config);
  preview_repeats(preview, config);
  return preview;
}

std::unique_ptr<engine::Searcher> make(const ExperimentConfig& config) {
  auto search = std::make_unique<ComposedSearcher>(
      std::make_unique<Flat>(1, config.searcher.max_length, Flat::InvalidTrials::consume_theirs,
                             make_stopping_rules(config)),
      make_random_proposer(config), ComposedSearcher::Limits{1, {}, {}});
  return with_repeats(config, std::move(search), preview);
}

}  // namespace

engine::SearcherKind single_kind() noexcept {
  return {"single", fields, {}, check_stopping, make, preview};
}

}  // namespace hpsearch::searchers
