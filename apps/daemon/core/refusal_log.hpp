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

/// Writes refused requests to a log of their own, beside the loop. Nobody waits for it, and it never holds
/// more than most_waiting of them: what comes while the disk is slow is counted (RefusalCounts). What can't
/// be written is dropped.
///
/// Threads: the loop's.
class RefusalLog {
 public:
  static constexpr std::size_t most_waiting = 1'000;
  static constexpr std::size_t at_once = 250;  ///< Entries that go to the disk together.

  RefusalLog(net::Loop& loop, AuditFiles files);
  RefusalLog(const RefusalLog&) = delete;
  RefusalLog& operator=(const RefusalLog&) = delete;
  /// Writes what was counted.
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
