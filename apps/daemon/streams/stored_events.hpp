#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "daemon/core/runtime.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// Events as they become durable, for those that show them.
///
/// Threads: the loop's. Cost: nothing while nobody listens.
class StoredEvents {
 public:
  using Group = std::shared_ptr<const std::vector<engine::Event>>;  ///< Of one commit, in order.
  using Listener = std::function<void(const Group&)>;

  explicit StoredEvents(Runtime& runtime) : runtime_(runtime) {}
  StoredEvents(const StoredEvents&) = delete;
  StoredEvents& operator=(const StoredEvents&) = delete;
  ~StoredEvents();

  /// Tells `listener` of each group until remove(). What Runtime::read() sees from now on, and what the
  /// listener is told, have no gap between them.
  std::uint64_t add(Listener listener);
  void remove(std::uint64_t id);

 private:
  Runtime& runtime_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Listener> listeners_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace hpsearch::daemon
