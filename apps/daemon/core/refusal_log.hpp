#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "daemon/audit/audit_files.hpp"
#include "daemon/audit/refusal_counts.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop.hpp"

namespace hpsearch::daemon {

/// Writes refused requests to a log of their own, beside the loop. No answer waits for it, and it never holds
/// more than most_waiting entries: refusals that arrive while the disk is slow are counted (RefusalCounts).
/// Entries that can't be written are dropped.
///
/// Threads: the loop's.
class RefusalLog {
 public:
  static constexpr std::size_t most_waiting = 1'000;
  static constexpr std::size_t at_once = 250;  ///< Entries that are written together.

  RefusalLog(net::Loop& loop, AuditFiles files);
  RefusalLog(const RefusalLog&) = delete;
  RefusalLog& operator=(const RefusalLog&) = delete;
  /// Writes the counts.
  ~RefusalLog();

  void note(AuditEntry entry);

 private:
  void add_sums();
  void write_next();

  net::Loop& loop_;
  std::shared_ptr<AuditFiles> files_;
  RefusalCounts counts_;
  std::deque<AuditEntry> waiting_;
  bool writing_ = false;
  net::Watch minute_;
  std::optional<net::Background> disk_;
};

}  // namespace hpsearch::daemon
