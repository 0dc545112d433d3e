#pragma once

#include <functional>
#include <string>

#include "daemon/core/runtime.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Forgets workers that do not return: lost for long, or lost while another worker of the same name has
/// joined and no attempt waits for the lost one.
class LostWorkers {
 public:
  struct Settings {
    engine::Duration forget_after;
    /// Called when it is durable that a worker of this name was forgotten.
    std::function<void(const std::string& name)> forgotten = [](const std::string&) {};
  };

  /// The runtime must have recovered, and must outlive this.
  LostWorkers(Runtime& runtime, Settings settings);

  /// Another time from now on.
  void forget_after(engine::Duration time) { settings_.forget_after = time; }

  /// Checks now; also done from time to time. O(workers × log workers).
  void look();

 private:
  void note(const engine::Event& event);

  Runtime& runtime_;
  Settings settings_;
  net::Watch events_;
  net::Watch clock_;
};

}  // namespace hpsearch::daemon
