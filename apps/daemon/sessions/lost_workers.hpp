#pragma once

#include <functional>
#include <string>

#include "daemon/core/runtime.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Forgets workers that do not come back: lost for long, or lost while another worker of the same name has
/// joined and nothing runs that the lost one could bring back.
class LostWorkers {
 public:
  struct Settings {
    engine::Duration forget_after;
    /// A worker of this name was forgotten, and that is durable.
    std::function<void(const std::string& name)> forgotten = [](const std::string&) {};
  };

  /// The runtime must have recovered, and outlives this.
  LostWorkers(Runtime& runtime, Settings settings);

  /// O(workers × log workers). It is done from time to time, too.
  void look();

 private:
  void note(const engine::Event& event);

  Runtime& runtime_;
  Settings settings_;
  net::Watch events_;
  net::Watch clock_;
};

}  // namespace hpsearch::daemon
