#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::searchers::model::test {

inline engine::Space parsed(engine::Value::Map hyperparameters) {
  engine::Problems problems;
  engine::Problems notes;
  engine::Space space = engine::Space::parse(hyperparameters, "hyperparameters", problems, notes);
  EXPECT_TRUE(problems.empty());
  return space;
}

inline engine::Value real(double minval, double maxval) {
  return engine::Value::Map{{"type", "double"}, {"minval", minval}, {"maxval", maxval}};
}
inline engine::Value integer(std::int64_t minval, std::int64_t maxval) {
  return engine::Value::Map{{"type", "int"}, {"minval", minval}, {"maxval", maxval}};
}
inline engine::Value logarithmic(double minval, double maxval) {
  return engine::Value::Map{{"type", "log"}, {"base", 10.0}, {"minval", minval}, {"maxval", maxval}};
}
inline engine::Value categorical(engine::Value::List vals) {
  return engine::Value::Map{{"type", "categorical"}, {"vals", std::move(vals)}};
}

inline engine::Space cube(std::size_t dimensions) {
  engine::Value::Map space;
  for (std::size_t i = 0; i < dimensions; ++i) {
    space["x" + std::to_string(i)] = real(0, 1);
  }
  return parsed(std::move(space));
}

}  // namespace hpsearch::searchers::model::test
