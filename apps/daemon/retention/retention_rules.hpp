#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "daemon/store/event_store.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/engine.hpp"

namespace hpsearch::daemon {

/// How long a daemon keeps what has ended.
struct RetentionRules {
  engine::Duration ended_experiments{};  ///< 0 = for ever.
  /// The most reports that stay in the curve of a stopped trial, beside those that decided; null = all.
  std::optional<std::uint64_t> most_reports{};
  /// How long a stopped trial has its whole curve.
  engine::Duration whole_curves_for = engine::Duration::seconds(3'600);

  friend bool operator==(const RetentionRules&, const RetentionRules&) = default;
};

/// The experiments that the rules remove at that time, at most `most`, those that ended first: they have
/// ended for long enough, no user has starred them, and no experiment that goes on starts its trials from
/// their checkpoints. O(experiments).
[[nodiscard]] std::vector<engine::ExperimentId> experiments_to_remove(const engine::Engine& engine,
                                                                      const RetentionRules& rules,
                                                                      engine::Instant now, std::size_t most);

/// Whether the curve of a trial may lose reports at that time: its searcher or its program stopped it for
/// good, and the retention has not looked at its curve before.
[[nodiscard]] bool may_lose_reports(const engine::TrialRecord& trial, const RetentionRules& rules,
                                    engine::Instant now);

/// The reports that a curve loses, as in CurveThinned.
struct CurveLoss {
  std::uint64_t left = 0;
  std::vector<std::uint64_t> removed{};
};
/// All reports at `decisive` steps stay, and `most` of the others, evenly spaced. `reports` are those of a
/// trial, in the order of their attempts.
[[nodiscard]] CurveLoss curve_loss(std::span<const MetricPoint> reports,
                                   const std::set<engine::Units>& decisive, std::uint64_t most);

}  // namespace hpsearch::daemon
