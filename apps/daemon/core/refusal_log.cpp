#include "daemon/core/refusal_log.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace hpsearch::daemon {
namespace {

constexpr std::chrono::seconds look_every{10};

}  // namespace

RefusalLog::RefusalLog(net::Loop& loop, AuditFiles files)
    : loop_(loop), files_(std::make_shared<AuditFiles>(std::move(files))) {
  disk_.emplace(loop, 1);
  minute_ = loop.every(look_every, [this] { add_sums(); });
}

RefusalLog::~RefusalLog() {
  disk_.reset();
  std::vector<AuditEntry> last(waiting_.begin(), waiting_.end());
  for (AuditEntry& sum : counts_.all_sums()) {
    last.push_back(std::move(sum));
  }
  if (!last.empty()) {
    static_cast<void>(files_->append(last));
  }
}

void RefusalLog::note(AuditEntry entry) {
  if (waiting_.size() < most_waiting && counts_.take(entry)) {
    waiting_.push_back(std::move(entry));
    write_next();
  }
}

void RefusalLog::add_sums() {
  for (AuditEntry& sum : counts_.sums(loop_.now())) {
    waiting_.push_back(std::move(sum));  // At most RefusalCounts::most_sources entries.
  }
  write_next();
}

void RefusalLog::write_next() {
  if (writing_ || waiting_.empty()) {
    return;
  }
  writing_ = true;
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(at_once, waiting_.size()));
  auto group = std::make_shared<std::vector<AuditEntry>>(std::make_move_iterator(waiting_.begin()),
                                                         std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  disk_->run([this, files = files_, group] {
    static_cast<void>(files->append(*group));
    return [this] {
      writing_ = false;
      write_next();
    };
  });
}

}  // namespace hpsearch::daemon
