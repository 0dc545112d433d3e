#include "hpsearch/searchers/single.hpp"

#include <memory>
#include <string>
#include <variant>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/composed_searcher.hpp"
#include "hpsearch/searchers/flat.hpp"
#include "preview.hpp"

namespace hpsearch::searchers {

using engine::ExperimentConfig;

namespace {

struct RangeName {
  std::string operator()(const engine::ConstParameter&) const { return "a constant"; }
  std::string operator()(const engine::IntParameter&) const { return "an int range"; }
  std::string operator()(const engine::DoubleParameter&) const { return "a double range"; }
  std::string operator()(const engine::LogParameter&) const { return "a log range"; }
  std::string operator()(const engine::CategoricalParameter&) const { return "categorical"; }
};

void check(const ExperimentConfig& config, engine::Problems& problems) {
  for (const engine::Space::Leaf& leaf : config.space.leaves()) {
    if (!engine::is_constant(leaf.parameter)) {
      problems.push_back(
          {"hyperparameters." + leaf.path, "is " + std::visit(RangeName{}, leaf.parameter),
           "a constant: a single search runs one configuration; use random or grid to try several"});
    }
  }
}

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
  return {"single", {}, {}, check, make, preview};
}

}  // namespace hpsearch::searchers
