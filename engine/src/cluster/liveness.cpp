#include "hpsearch/engine/cluster/liveness.hpp"

#include <algorithm>

namespace hpsearch::engine {

void Liveness::heard(WorkerId worker, Instant now) { last_heard_[worker] = now; }

void Liveness::forget(WorkerId worker) noexcept { last_heard_.erase(worker); }

bool Liveness::suspect(WorkerId worker, Instant now) const noexcept {
  const auto found = last_heard_.find(worker);
  return found == last_heard_.end() || now - found->second >= patience_.suspect_after;
}

std::vector<WorkerId> Liveness::lost(Instant now) const {
  std::vector<WorkerId> silent;
  for (const auto& [worker, heard] : last_heard_) {
    if (now - heard >= patience_.lost_after) {
      silent.push_back(worker);
    }
  }
  return silent;
}

std::optional<Instant> Liveness::next_deadline() const noexcept {
  std::optional<Instant> oldest;
  for (const auto& [worker, heard] : last_heard_) {
    oldest = oldest ? std::min(*oldest, heard) : heard;
  }
  if (oldest) {
    return *oldest + patience_.lost_after;
  }
  return std::nullopt;
}

}  // namespace hpsearch::engine
