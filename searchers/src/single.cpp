#include "hpsearch/searchers/single.hpp"

#include <memory>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/composed_searcher.hpp"
#include "hpsearch/searchers/flat.hpp"
#include "preview.hpp"

namespace hpsearch::searchers {

using engine::ExperimentConfig;

namespace {

std::unique_ptr<engine::Searcher> make(const ExperimentConfig& config) {
  return std::make_unique<ComposedSearcher>(
      std::make_unique<Flat>(1, config.searcher.max_length, Flat::InvalidTrials::consume_theirs),
      make_random_proposer(config), ComposedSearcher::Limits{1, {}, {}});
}

engine::Preview preview(const ExperimentConfig& config) {
  return preview_flat(1, config.searcher.max_length, 0);
}

}  // namespace

engine::SearcherKind single_kind() noexcept {
  return {"single", {}, {}, nullptr, make, preview};
}

}  // namespace hpsearch::searchers
