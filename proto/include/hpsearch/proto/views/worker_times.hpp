#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::views {

/// The times in which each worker was connected. It must see every event, in order.
///
/// Memory: for each worker, and each of its losses.
class WorkerTimes {
 public:
  /// A time in which the worker was connected.
  struct Presence {
    engine::Instant from;
    std::optional<engine::Instant> to;  ///< Nothing while it lasts.
  };

  void note(const engine::Event& event);

  /// In order; none for a worker that never joined. O(log workers).
  [[nodiscard]] const std::vector<Presence>& of(engine::WorkerId worker) const;

 private:
  std::map<engine::WorkerId, std::vector<Presence>> presences_;
};

}  // namespace hpsearch::views
