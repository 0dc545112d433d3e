#pragma once

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {

namespace test_kinds {

inline constexpr std::string_view grid_fields[] = {"max_concurrent_trials"};
inline constexpr std::string_view random_fields[] = {"anneal",     "finalists",    "max_concurrent_trials",
                                                     "max_trials", "on_duplicate", "points_to_evaluate",
                                                     "prior",      "repeats",      "sampler",
                                                     "tpe"};
inline constexpr std::string_view asha_fields[] = {"bracket_rungs", "divisor",    "max_concurrent_trials",
                                                   "max_rungs",     "max_trials", "mode",
                                                   "on_duplicate",  "stop_once",  "points_to_evaluate"};
inline constexpr std::string_view halving_fields[] = {"divisor", "max_concurrent_trials", "max_trials",
                                                      "num_rungs", "stop_once"};
inline constexpr std::string_view annealing_fields[] = {"cooling", "max_trials"};
inline constexpr std::string_view trials_required[] = {"max_trials"};
inline constexpr std::string_view halving_required[] = {"max_trials", "num_rungs"};

inline void refuse_ranges(const ExperimentConfig& config, Problems& problems) {
  for (const Space::Leaf& leaf : config.space.leaves()) {
    if (!is_constant(leaf.parameter)) {
      problems.push_back({"hyperparameters." + leaf.path, "is a range", "a constant"});
    }
  }
}

}  // namespace test_kinds

/// The searchers that configurations name, as far as reading them goes: fields and one check, nothing to run.
/// `annealing` stands for a searcher of somebody else's, with a field of its own.
inline SearcherRegistry test_registry() {
  using namespace test_kinds;
  static const SearcherKind kinds[] = {
      {"adaptive_asha", asha_fields, trials_required, nullptr, nullptr, nullptr},
      {"annealing", annealing_fields, trials_required, nullptr, nullptr, nullptr},
      {"async_halving", halving_fields, halving_required, nullptr, nullptr, nullptr},
      {"grid", grid_fields, {}, nullptr, nullptr, nullptr},
      {"random", random_fields, trials_required, nullptr, nullptr, nullptr},
      {"single", {}, {}, refuse_ranges, nullptr, nullptr},
  };
  return kinds;
}

inline std::string lines(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    text += describe(problem) + "\n";
  }
  return text;
}

/// A small sound experiment, to be changed by tests.
inline Value::Map small_experiment() {
  return {
      {"entrypoint", "python train.py"},
      {"hyperparameters", Value::Map{{"lr", Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", -1}}}}},
      {"searcher",
       Value::Map{{"name", "random"}, {"metric", "loss"}, {"max_length", 100}, {"max_trials", 10}}},
  };
}

/// Sets what stands at a dotted path; maps on the way are made.
inline Value with(Value tree, std::string_view path, Value value) {
  Value* here = &tree;
  while (true) {
    const std::size_t dot = path.find('.');
    if (here->as_map() == nullptr) {
      *here = Value::Map();
    }
    here = &(*here->as_map())[path.substr(0, dot)];
    if (dot == std::string_view::npos) {
      break;
    }
    path.remove_prefix(dot + 1);
  }
  *here = std::move(value);
  return tree;
}

inline ParsedConfig read_config(const Value& tree) {
  return parse_config(tree, test_registry(), "stem", 11);
}

}  // namespace hpsearch::engine
