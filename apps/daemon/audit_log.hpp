#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/audit/audit_files.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/net/background.hpp"

namespace hpsearch::daemon {

/// Writes the audit log beside the loop: entries that come while the disk is busy go there together.
///
/// Threads: the loop's. It must outlive what it calls.
class AuditLog {
 public:
  using Then = std::function<void(const engine::Status& written)>;
  static constexpr engine::Duration tried_again_after = engine::Duration::seconds(5);

  AuditLog(net::Loop& loop, AuditFiles files);

  /// Calls `then` on the loop when the entry is durable, or can't be written.
  void record(AuditEntry entry, Then then);

  /// Why nothing can be written now; "" = it can. After a failure one change in tried_again_after tries
  /// again.
  [[nodiscard]] std::string why_not(engine::Instant now) const;

 private:
  struct Waiting {
    std::vector<AuditEntry> entries;
    std::vector<Then> then;
  };
  void write_next();

  net::Loop& loop_;
  std::shared_ptr<AuditFiles> files_;
  Waiting waiting_;
  bool writing_ = false;
  std::string problem_;
  engine::Instant failed_at_;
  net::Background disk_;
};

}  // namespace hpsearch::daemon
