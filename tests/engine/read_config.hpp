#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "engine/test_registry.hpp"

namespace hpsearch::engine {

inline ExperimentConfig accepted(const Value& tree) {
  ParsedConfig parsed = read_config(tree);
  EXPECT_EQ(lines(parsed.problems), "");
  EXPECT_TRUE(parsed.config.has_value());
  return parsed.config ? std::move(*parsed.config) : ExperimentConfig{};
}

inline std::string problems_of(const Value& tree) {
  const ParsedConfig parsed = read_config(tree);
  EXPECT_EQ(parsed.config.has_value(), parsed.problems.empty());
  return lines(parsed.problems);
}

}  // namespace hpsearch::engine
