#include "daemon/audit/refusal_counts.hpp"

#include <utility>

namespace hpsearch::daemon {

bool RefusalCounts::take(const AuditEntry& entry) {
  if (entry.at - minute_began_ >= minute.in_micros() || entry.at < minute_began_) {
    minute_began_ = entry.at;
    lines_ = 0;
  }
  std::string name = entry.token.empty() ? entry.from : entry.token;
  if (!sources_.contains(name) && sources_.size() >= most_sources) {
    name = other_sources;
  }
  Source& source = sources_[name];
  if (source.since == 0) {
    source.since = entry.at;
  }
  if (name != other_sources && source.lines < first_few && lines_ < most_lines) {
    ++source.lines;
    ++lines_;
    return true;
  }
  count(source, entry);
  if (name == other_sources) {
    source.sum.from = other_sources;
    source.sum.name = source.sum.token = source.sum.role = "";
  }
  return false;
}

void RefusalCounts::count(Source& source, const AuditEntry& entry) {
  const std::uint64_t counted = source.sum.count + 1;
  source.sum = entry;
  source.sum.path = source.sum.method = source.sum.request = source.sum.resource = source.sum.workspace = "";
  source.sum.count = counted;
}

std::vector<AuditEntry> RefusalCounts::sums(engine::Instant now) {
  std::vector<AuditEntry> lines;
  for (auto next = sources_.begin(); next != sources_.end();) {
    Source& source = next->second;
    if (source.since + minute.in_micros() > now.micros() && source.since <= now.micros()) {
      ++next;
      continue;
    }
    if (source.sum.count > 0) {
      lines.push_back(std::move(source.sum));
    }
    next = sources_.erase(next);
  }
  return lines;
}

std::vector<AuditEntry> RefusalCounts::all_sums() {
  std::vector<AuditEntry> lines;
  for (auto& [name, source] : std::exchange(sources_, {})) {
    if (source.sum.count > 0) {
      lines.push_back(std::move(source.sum));
    }
  }
  return lines;
}

}  // namespace hpsearch::daemon
