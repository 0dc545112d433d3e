#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::simulation {

/// The one queue of a simulated cluster: what happens next, and when. Of two things at one instant the one
/// that was planned first happens first, so a run is a function of its seed.
///
/// Cost: O(log planned) per task.
class VirtualTime {
 public:
  using Task = std::function<void()>;

  [[nodiscard]] engine::Instant now() const noexcept { return now_; }
  [[nodiscard]] std::uint64_t happened() const noexcept { return happened_; }

  /// Plans a task; one for the past happens next. It cannot be taken back: who may change their mind checks
  /// it when the task happens.
  void at(engine::Instant when, Task task);
  void after(engine::Duration wait, Task task) { at(now_ + wait, std::move(task)); }

  /// Lets the next thing happen. False when nothing is planned.
  bool step();

 private:
  struct Planned {
    engine::Instant when;
    std::uint64_t number;
    Task task;
  };
  static bool later(const Planned& a, const Planned& b) noexcept {
    return a.when != b.when ? a.when > b.when : a.number > b.number;
  }

  engine::Instant now_ = engine::Instant::from_micros(1'000'000);
  std::uint64_t planned_ = 0;
  std::uint64_t happened_ = 0;
  std::vector<Planned> queue_;  // A heap.
};

}  // namespace hpsearch::simulation
