#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::simulation {

inline engine::Value::Map only_with(engine::Value::Map parameter, engine::Value::Map condition) {
  parameter["when"] = std::move(condition);
  return parameter;
}

/// Parameters that only some trials have, on scales of every sort, and a condition on all configurations. A
/// grid of them has 40 points.
inline void take_conditional_space(engine::Value::Map& config) {
  using engine::Value;
  const auto one_of = [](Value::List vals) {
    return Value::Map{{"type", "categorical"}, {"vals", std::move(vals)}};
  };
  config["hyperparameters"] = Value::Map{
      {"optimizer", one_of({"sgd", "nesterov", "adam"})},
      {"momentum", only_with({{"type", "double"}, {"minval", 0.5}, {"maxval", 1.0}, {"step", 0.25}},
                             {{"optimizer", Value::List{"sgd", "nesterov"}}})},
      {"adam",
       only_with(
           {{"beta",
             Value::Map{
                 {"type", "double"}, {"minval", 0.5}, {"maxval", 1.0}, {"scale", "log"}, {"count", 2}}}},
           {{"optimizer", "adam"}})},
      {"batch", Value::Map{{"type", "categorical"}, {"vals", Value::List{16, 32, 64}}, {"ordered", true}}},
      {"layers", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 3}, {"step", 2}}}};
  config["where"] = "layers * batch <= 100";
}

/// Rules that stop trials of a search of 9 epochs, sometimes.
inline void take_some_rules(engine::Value::Map& searcher, engine::Draw& draw) {
  using engine::Value;
  const auto number = [&draw](std::uint64_t least, std::uint64_t more) {
    return static_cast<std::int64_t>(least + draw.below(more));
  };
  if (draw.below(3) == 0) {
    searcher["stop_diverged"] = true;
  }
  const std::string name = *searcher["name"].as_text();
  if ((name != "random" && name != "grid" && name != "single") || draw.below(2) == 0) {
    return;
  }
  const char* const rules[] = {"none", "median", "percentile"};
  Value::Map stopping{{"rule", rules[draw.below(3)]}, {"least_trials", number(1, 3)}};
  if (draw.below(2) == 0) {
    stopping["percentile"] = number(1, 99);
    stopping["after"] = number(1, 5);
    stopping["every"] = number(1, 4);
  }
  if (draw.below(2) == 0) {
    stopping["patience"] = number(1, 6);
    stopping["min_delta"] = 0.1;
  }
  searcher["stopping"] = std::move(stopping);
}

/// The space of a search: as it is, or one with conditions.
inline void take_some_space(engine::Value::Map& config, engine::Draw& draw) {
  if (draw.below(3) == 0) {
    take_conditional_space(config);
  }
}

}  // namespace hpsearch::simulation
