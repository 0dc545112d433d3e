// Everything that hpsearch expects of a searcher, under thousands of random events.
#include <contract/searcher_contract.hpp>

#include "evolution.hpp"

namespace hpsearch::contract {

struct EvolutionUnderContract {
  static constexpr bool replaces_invalid = true;
  static constexpr bool learns = true;
  static engine::SearcherKind kind() { return evolution_kind(); }
  static engine::ExperimentConfig config(engine::Draw& draw) {
    engine::Problems problems;
    engine::ExperimentConfig config;
    config.hyperparameters = engine::Value::Map{
        {"lr", engine::Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", -1}}},
        {"layers", engine::Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 6}}},
        {"act", engine::Value::Map{{"type", "categorical"}, {"vals", engine::Value::List{"relu", "gelu"}}}}};
    config.space = engine::Space::parse(config.hyperparameters, "hyperparameters", problems, problems);
    config.searcher.name = "evolution";
    config.searcher.max_length = engine::Units{1 + draw.below(60)};
    config.searcher.max_trials = 1 + draw.below(120);
    config.searcher.num_rungs = 1 + draw.below(4);
    config.searcher.stop_once = draw.below(2) == 0;
    config.experiment_seed = draw.below(1000);
    return config;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Evolution, SearcherContract, EvolutionUnderContract);

}  // namespace hpsearch::contract
