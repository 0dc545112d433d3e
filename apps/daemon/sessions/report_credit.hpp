#pragma once

#include <cstdint>

namespace hpsearch::daemon {

/// How busy the daemon is with reports of workers.
struct Load {
  std::uint64_t sessions = 0;  ///< Workers that may report.
  std::uint64_t unstored = 0;  ///< Events that were decided and are not on the disk yet.
  bool takes_reports = true;   ///< False: there is no room to store them, and workers keep them.
};

/// Limits for reports in transit.
struct CreditRules {
  /// For all workers together: what may accumulate in the daemon's memory and on its line after its restart,
  /// or behind a slow disk.
  std::uint64_t under_way_bytes = std::uint64_t{256} * 1024 * 1024;
  std::uint64_t calm_events = 4'000;  ///< Two groups of commits; each doubling beyond halves the credit.
  std::uint64_t most = std::uint64_t{4} * 1024 * 1024;  ///< The most that one worker has in transit without a
                                                        ///< credit.
  std::uint64_t least = std::uint64_t{64} * 1024;       ///< One batch.
};

/// The number of bytes of reports that a worker may have in transit; 0 = the worker's own limit is low
/// enough. Never so few that no report could come: the acknowledgment of a report contains the new credit.
[[nodiscard]] std::uint64_t report_credit(const Load& load, const CreditRules& rules) noexcept;

}  // namespace hpsearch::daemon
