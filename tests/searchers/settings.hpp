#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::searchers::test {

using engine::ExperimentConfig;
using engine::Units;
using engine::Value;

inline engine::Space space_of(const Value::Map& hyperparameters) {
  engine::Problems problems;
  engine::Problems notes;
  engine::Space space = engine::Space::parse(Value(hyperparameters), "hyperparameters", problems, notes);
  for (const engine::Problem& problem : problems) {
    ADD_FAILURE() << engine::describe(problem);
  }
  return space;
}

inline Value::Map int_range(std::int64_t minval, std::int64_t maxval) {
  return {{"type", "int"}, {"minval", minval}, {"maxval", maxval}};
}
inline Value::Map double_range(double minval, double maxval) {
  return {{"type", "double"}, {"minval", minval}, {"maxval", maxval}};
}
inline Value::Map categorical(Value::List vals) {
  return {{"type", "categorical"}, {"vals", std::move(vals)}};
}
inline Value::Map with_count(Value::Map range, int count) {
  range["count"] = count;
  return range;
}

/// An experiment over one real-valued parameter.
inline ExperimentConfig settings(std::string searcher, std::uint64_t max_length,
                                 std::uint64_t max_trials = 0) {
  ExperimentConfig config;
  config.space = space_of({{"lr", double_range(0, 1)}});
  config.searcher.name = std::move(searcher);
  config.searcher.max_length = Units{max_length};
  config.searcher.max_trials = max_trials;
  return config;
}

inline const engine::SearcherKind& kind_of(const ExperimentConfig& config) {
  return *engine::find_kind(registry(), config.searcher.name);
}

inline engine::Score score(double metric) {
  return engine::Score::from_metric(metric, engine::Goal::minimize);
}

}  // namespace hpsearch::searchers::test
