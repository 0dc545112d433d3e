#include "daemon/audit_log.hpp"

#include <utility>

namespace hpsearch::daemon {

AuditLog::AuditLog(net::Loop& loop, AuditFiles files)
    : loop_(loop), files_(std::make_shared<AuditFiles>(std::move(files))), disk_(loop, 1) {
}

void AuditLog::record(AuditEntry entry, Then then) {
  waiting_.entries.push_back(std::move(entry));
  waiting_.then.push_back(std::move(then));
  if (!writing_) {
    write_next();
  }
}

std::string AuditLog::why_not(engine::Instant now) const {
  return problem_.empty() || failed_at_ + tried_again_after <= now ? "" : problem_;
}

void AuditLog::write_next() {
  if (waiting_.entries.empty()) {
    return;
  }
  writing_ = true;
  auto group = std::make_shared<Waiting>(std::exchange(waiting_, {}));
  disk_.run([this, files = files_, group] {
    const engine::Status written = files->append(group->entries);
    return [this, written, group] {
      writing_ = false;
      problem_ = written ? "" : written.error().message;
      failed_at_ = written ? engine::Instant() : loop_.now();
      write_next();
      for (const Then& then : group->then) {
        then(written);
      }
    };
  });
}

}  // namespace hpsearch::daemon
