#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "daemon/audit/audit_files.hpp"
#include "daemon/core/refusal_log.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/net/background.hpp"

namespace hpsearch::daemon {

/// Writes the audit logs beside the loop: entries that arrive while the disk is busy are written together.
///
/// Threads: the loop's. The loop must outlive this.
class AuditQueue {
 public:
  using Then = std::function<void(const engine::Status& written)>;
  static constexpr engine::Duration tried_again_after = engine::Duration::seconds(5);

  static constexpr std::size_t at_once = 500;  ///< Entries that are written together.
  static constexpr std::size_t busy_from = 1'000;

  AuditQueue(net::Loop& loop, AuditFiles changes, AuditFiles refusals);

  /// Calls `then` on the loop when the entry is durable, or can't be written.
  void record(AuditEntry entry, Then then);
  /// Whether so many entries wait that no request should add one without waiting for it.
  [[nodiscard]] bool is_busy() const noexcept { return waiting_.size() >= busy_from; }

  /// Records a request that was refused; its answer does not wait.
  void note_refusal(AuditEntry entry) { refusals_.note(std::move(entry)); }

  /// Why nothing can be written now; "" = it can. After a failure, one change per tried_again_after tries
  /// again.
  [[nodiscard]] std::string why_not(engine::Instant now) const;
  /// Entries that could not be written since the start; refusals are not among them.
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

 private:
  void write_next();

  net::Loop& loop_;
  std::shared_ptr<AuditFiles> files_;
  std::deque<std::pair<AuditEntry, Then>> waiting_;
  bool writing_ = false;
  std::string problem_;
  engine::Instant failed_at_;
  std::uint64_t failures_ = 0;
  RefusalLog refusals_;
  net::Background disk_;
};

}  // namespace hpsearch::daemon
