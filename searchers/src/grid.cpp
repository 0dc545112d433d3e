#include "hpsearch/searchers/grid.hpp"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "allowed.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/composed_searcher.hpp"
#include "hpsearch/searchers/flat.hpp"
#include "hpsearch/searchers/repeats.hpp"
#include "preview.hpp"
#include "stopping_checks.hpp"

namespace hpsearch::searchers {

using engine::ExperimentConfig;

namespace {

constexpr std::array<std::string_view, 5> fields = {"finalists", "max_concurrent_trials", "repeats",
                                                    "stop_diverged", "stopping"};

// From here on a grid is more often a slip than a wish: a day of one-minute trials on seven GPUs.
constexpr engine::Cardinality surprising_size = 10'000;

struct LacksCount {
  bool operator()(const engine::ConstParameter&) const noexcept { return false; }
  bool operator()(const engine::CategoricalParameter&) const noexcept { return false; }
  bool operator()(const engine::LogParameter& range) const noexcept { return !range.count; }
  template <class Range>
  bool operator()(const Range& range) const noexcept {
    return !range.count && !range.step;
  }
};

void check(const ExperimentConfig& config, engine::Problems& problems) {
  check_stopping(config, problems);
  if (config.space.leaves().empty()) {
    problems.push_back({"hyperparameters", "is empty, so there is no grid", "at least one hyperparameter"});
    return;
  }
  bool sized = true;
  for (const engine::Space::Leaf& leaf : config.space.leaves()) {
    if (std::visit(LacksCount{}, leaf.parameter)) {
      sized = false;
      problems.push_back({"hyperparameters." + leaf.path + ".count", "is missing",
                          "an integer of at least 1: how many values of this range the grid tries"});
    }
  }
  if (!sized) {
    return;
  }
  const auto size = config.space.grid_size();
  if (!size) {
    problems.push_back({"hyperparameters", size.error().message, {}});
  } else if (config.space.is_constrained() && *size > most_listed) {
    problems.push_back({"where", "has a grid of " + engine::to_text(*size) + " points",
                        "a grid of at most " + engine::to_text(most_listed) +
                            " points, those that `where` leaves out included"});
  } else if (config.space.is_constrained() && allowed_points(config.space).empty()) {
    problems.push_back({"where", "is satisfied by none of the grid's " + engine::to_text(*size) + " points",
                        "conditions that one of them satisfies"});
  }
}

engine::Cardinality size_of(const ExperimentConfig& config) {
  return config.space.is_constrained() ? allowed_points(config.space).size()
                                       : config.space.grid_size().value();
}

engine::Preview preview(const ExperimentConfig& config) {
  const engine::Cardinality size = size_of(config);
  engine::Preview preview =
      preview_flat(size, config.searcher.max_length, config.searcher.max_concurrent_trials);
  if (size > surprising_size) {
    preview.warnings.push_back(
        "the grid has " + engine::to_text(size) +
        " points, and every one is trained to the full length; lower some counts, or search " +
        "with random or adaptive_asha");
  }
  warn_of_stopping(preview, config);
  preview_repeats(preview, config);
  return preview;
}

std::unique_ptr<engine::Searcher> make(const ExperimentConfig& config) {
  auto search = std::make_unique<ComposedSearcher>(
      std::make_unique<Flat>(size_of(config), config.searcher.max_length, Flat::InvalidTrials::consume_theirs,
                             make_stopping_rules(config)),
      make_grid_proposer(config), ComposedSearcher::Limits{size_of(config), {}, {}});
  return with_repeats(config, std::move(search), preview);
}

}  // namespace

engine::SearcherKind grid_kind() noexcept {
  return {"grid", fields, {}, check, make, preview};
}

}  // namespace hpsearch::searchers
