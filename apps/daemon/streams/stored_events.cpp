#include "daemon/streams/stored_events.hpp"

#include <utility>

namespace hpsearch::daemon {

StoredEvents::~StoredEvents() {
  if (!listeners_.empty()) {
    runtime_.observe_stored(nullptr);
  }
}

std::uint64_t StoredEvents::add(Listener listener) {
  if (listeners_.empty()) {
    runtime_.observe_stored([this, &loop = runtime_.loop(),
                             alive = std::weak_ptr<bool>(alive_)](std::vector<engine::Event> events) {
      loop.post([this, alive, group = std::make_shared<const std::vector<engine::Event>>(std::move(events))] {
        if (alive.expired()) {
          return;
        }
        const auto listeners = listeners_;  // Listeners may remove themselves.
        for (const auto& [id, listener] : listeners) {
          listener(group);
        }
      });
    });
  }
  listeners_.emplace(++last_, std::move(listener));
  return last_;
}

void StoredEvents::remove(std::uint64_t id) {
  if (listeners_.erase(id) > 0 && listeners_.empty()) {
    runtime_.observe_stored(nullptr);
  }
}

}  // namespace hpsearch::daemon
