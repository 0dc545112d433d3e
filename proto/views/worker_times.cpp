#include "hpsearch/proto/views/worker_times.hpp"

#include <variant>

namespace hpsearch::views {

void WorkerTimes::note(const engine::Event& event) {
  if (const auto* joined = std::get_if<engine::WorkerJoined>(&event.body)) {
    std::vector<Presence>& presences = presences_[joined->worker];
    if (presences.empty() || presences.back().to) {
      presences.push_back({event.at, std::nullopt});
    }
  } else if (const auto* lost = std::get_if<engine::WorkerLost>(&event.body)) {
    std::vector<Presence>& presences = presences_[lost->worker];
    if (!presences.empty() && !presences.back().to) {
      presences.back().to = event.at;
    }
  }
}

const std::vector<WorkerTimes::Presence>& WorkerTimes::of(engine::WorkerId worker) const {
  static const std::vector<Presence> none;
  const auto found = presences_.find(worker);
  return found == presences_.end() ? none : found->second;
}

}  // namespace hpsearch::views
