#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "daemon/core/runtime.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// Passes events to listeners as they become durable.
///
/// Threads: the loop's. Cost: nothing without listeners.
class StoredEvents {
 public:
  using Group = std::shared_ptr<const std::vector<engine::Event>>;  ///< The events of one commit, in order.
  using Listener = std::function<void(const Group&)>;

  explicit StoredEvents(Runtime& runtime) : runtime_(runtime) {}
  StoredEvents(const StoredEvents&) = delete;
  StoredEvents& operator=(const StoredEvents&) = delete;
  ~StoredEvents();

  /// Calls `listener` with each group until remove(). There is no gap between what Runtime::read() returns
  /// from now on and the listener's first group.
  std::uint64_t add(Listener listener);
  void remove(std::uint64_t id);

 private:
  Runtime& runtime_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Listener> listeners_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace hpsearch::daemon
