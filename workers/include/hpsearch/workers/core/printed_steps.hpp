#pragma once

#include <cstddef>
#include <optional>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/units.hpp"

namespace hpsearch::workers {

/// The times of the steps that a program printed. If a program's output is buffered, it prints nothing for a
/// while, and then all its steps at once.
///
/// Cost: O(1).
class PrintedSteps {
 public:
  /// The program began.
  void began(engine::Instant now) noexcept { began_ = now; }
  void take(engine::Units step, engine::Instant now) noexcept;

  /// Three steps or more came within a fiftieth of the time, at least 2 s, in which none came.
  [[nodiscard]] bool came_at_once() const noexcept;
  /// The time from its begin to its first step; 0 without a step.
  [[nodiscard]] engine::Duration silence() const noexcept;
  /// The number of different steps, while they grow.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  engine::Instant began_;
  engine::Instant first_at_;
  engine::Instant last_at_;
  std::optional<engine::Units> last_;
  std::size_t count_ = 0;
};

}  // namespace hpsearch::workers
