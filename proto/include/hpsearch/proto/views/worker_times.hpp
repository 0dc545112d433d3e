#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::views {

/// When each worker was there. Told every event, in order.
///
/// Memory: for each worker, and each time that it was lost.
class WorkerTimes {
 public:
  /// A time in which the worker was there.
  struct Presence {
    engine::Instant from;
    std::optional<engine::Instant> to;  ///< Nothing while it lasts.
  };

  void note(const engine::Event& event);

  /// In their order; none of a worker that never joined. O(log workers).
  [[nodiscard]] const std::vector<Presence>& of(engine::WorkerId worker) const;

 private:
  std::map<engine::WorkerId, std::vector<Presence>> presences_;
};

}  // namespace hpsearch::views
