#pragma once

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

/// The space of a search: as it is, or one with conditions.
inline void take_some_space(engine::Value::Map& config, engine::Draw& draw) {
  if (draw.below(3) == 0) {
    take_conditional_space(config);
  }
}

}  // namespace hpsearch::simulation
