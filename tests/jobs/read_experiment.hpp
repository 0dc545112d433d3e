#pragma once

#include <gtest/gtest.h>

#include <string>

#include "engine/test_registry.hpp"
#include "hpsearch/jobs/fields/submission.hpp"

namespace hpsearch::jobs {

using engine::compact_json;
using engine::ExperimentConfig;
using engine::lines;
using engine::small_experiment;
using engine::test_registry;
using engine::TrialNumber;
using engine::Units;
using engine::with;

inline ParsedExperiment read_experiment(const Value& tree) {
  return parse_submission(tree, test_registry(), "stem", 11);
}

inline ParsedExperiment accepted(const Value& tree) {
  ParsedExperiment parsed = read_experiment(tree);
  EXPECT_EQ(lines(parsed.problems), "");
  EXPECT_TRUE(parsed.config.has_value());
  return parsed;
}

inline std::string problems_of(const Value& tree) {
  const ParsedExperiment parsed = read_experiment(tree);
  EXPECT_EQ(parsed.config.has_value(), parsed.problems.empty());
  return lines(parsed.problems);
}

}  // namespace hpsearch::jobs
