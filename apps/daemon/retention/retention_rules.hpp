#pragma once

#include <cstddef>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/engine.hpp"

namespace hpsearch::daemon {

/// How long a daemon keeps what has ended.
struct RetentionRules {
  engine::Duration ended_experiments{};  ///< 0 = for ever.

  friend bool operator==(const RetentionRules&, const RetentionRules&) = default;
};

/// The experiments that the rules remove at that time, at most `most`, those that ended first: they have
/// ended for long enough, no user has starred them, and no experiment that goes on starts its trials from
/// their checkpoints. O(experiments).
[[nodiscard]] std::vector<engine::ExperimentId> experiments_to_remove(const engine::Engine& engine,
                                                                      const RetentionRules& rules,
                                                                      engine::Instant now, std::size_t most);

}  // namespace hpsearch::daemon
