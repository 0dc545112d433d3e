#pragma once

#include <cstdint>

namespace hpsearch::daemon {

/// What stands between the daemon and what workers report.
struct Load {
  std::uint64_t sessions = 0;  ///< Workers that may report.
  std::uint64_t unstored = 0;  ///< Events that were decided and are not on disk yet.
  bool takes_reports = true;   ///< Else there is no room to store them: workers keep them.
};

/// How much is too much.
struct CreditRules {
  /// Of all workers together: what a daemon's return, or a slow disk, may make pile up in its memory and on
  /// its line.
  std::uint64_t under_way_bytes = std::uint64_t{256} * 1024 * 1024;
  std::uint64_t calm_events = 4'000;  ///< Two groups of commits; each doubling beyond halves what is granted.
  std::uint64_t most = std::uint64_t{4} * 1024 * 1024;  ///< No worker has more under way by itself.
  std::uint64_t least = std::uint64_t{64} * 1024;       ///< One batch.
};

/// How many bytes of reports a worker may have under way; 0 = as many as it has by itself: there is no reason
/// to say less. Never so few that nothing could come: whoever reports is acknowledged, and hears with that
/// how many it is then.
[[nodiscard]] std::uint64_t report_credit(const Load& load, const CreditRules& rules) noexcept;

}  // namespace hpsearch::daemon
