#include "daemon/core/audit_queue.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace hpsearch::daemon {

AuditQueue::AuditQueue(net::Loop& loop, AuditFiles changes, AuditFiles refusals)
    : loop_(loop),
      files_(std::make_shared<AuditFiles>(std::move(changes))),
      refusals_(loop, std::move(refusals)),
      disk_(loop, 1) {
}

void AuditQueue::record(AuditEntry entry, Then then) {
  waiting_.emplace_back(std::move(entry), std::move(then));
  if (!writing_) {
    write_next();
  }
}

std::string AuditQueue::why_not(engine::Instant now) const {
  return problem_.empty() || failed_at_ + tried_again_after <= now ? "" : problem_;
}

void AuditQueue::write_next() {
  if (waiting_.empty()) {
    return;
  }
  writing_ = true;
  struct Group {
    std::vector<AuditEntry> entries;
    std::vector<Then> then;
  };
  auto group = std::make_shared<Group>();
  for (std::size_t left = std::min(at_once, waiting_.size()); left > 0; --left) {
    group->entries.push_back(std::move(waiting_.front().first));
    group->then.push_back(std::move(waiting_.front().second));
    waiting_.pop_front();
  }
  disk_.run([this, files = files_, group] {
    const engine::Status written = files->append(group->entries);
    return [this, written, group] {
      writing_ = false;
      problem_ = written ? "" : written.error().message;
      failed_at_ = written ? engine::Instant() : loop_.now();
      failures_ += written ? 0 : group->entries.size();
      write_next();
      for (const Then& then : group->then) {
        then(written);
      }
    };
  });
}

}  // namespace hpsearch::daemon
