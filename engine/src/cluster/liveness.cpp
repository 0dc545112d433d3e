#include "hpsearch/engine/cluster/liveness.hpp"

#include <algorithm>

namespace hpsearch::engine {

Duration lease_patience(Duration lost_after, std::optional<Duration> experiments,
                        Duration since_checkpoint) noexcept {
  if (experiments) {
    return *experiments;
  }
  const Duration tenth = Duration::micros(since_checkpoint.in_micros() / 10);
  return std::max(lost_after, std::min(tenth, longest_lease_patience));
}

void Liveness::heard(WorkerId worker, Instant now) {
  last_heard_[worker] = Heard{now, false};
}

void Liveness::restored(WorkerId worker, Instant now) {
  last_heard_[worker] = Heard{now, true};
}

void Liveness::did_not_listen(Instant now) noexcept {
  for (auto& [worker, heard] : last_heard_) {
    heard.at = now;
  }
}

void Liveness::forget(WorkerId worker) noexcept {
  last_heard_.erase(worker);
}

bool Liveness::suspect(WorkerId worker, Instant now) const noexcept {
  const auto found = last_heard_.find(worker);
  return found == last_heard_.end() || now - found->second.at >= patience_.suspect_after;
}

std::vector<Silence> Liveness::silent(Instant now) const {
  std::vector<Silence> silent;
  for (const auto& [worker, heard] : last_heard_) {
    if (now - heard.at >= patience_.suspect_after) {
      silent.push_back({worker, heard.at, heard.restored ? patience_.after_start : Duration()});
    }
  }
  return silent;
}

}  // namespace hpsearch::engine
