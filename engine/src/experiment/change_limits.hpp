#pragma once

#include <memory>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {

struct ChangedConfig {
  Value effective;
  std::shared_ptr<const ExperimentConfig> parsed;  ///< The same, read.
};

/// The effective config with `changes` laid over it, checked as at submission. bad_request names every field
/// that may not change, and everything that would be wrong afterwards.
[[nodiscard]] Result<ChangedConfig> changed_config(const Value& effective, const Value& changes,
                                                   SearcherRegistry registry);

/// Everything for which changed_config() refuses these changes, at its paths; none if no change is named.
[[nodiscard]] Problems problems_of_change(const Value& effective, const Value& changes,
                                          SearcherRegistry registry);

/// changed_config() may lead from one of these effective configs to the other.
[[nodiscard]] bool differ_in_limits_only(const Value& before, const Value& after);

}  // namespace hpsearch::engine
