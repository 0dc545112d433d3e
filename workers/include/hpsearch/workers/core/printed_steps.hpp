#pragma once

#include <cstddef>
#include <optional>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/units.hpp"

namespace hpsearch::workers {

/// The times of the steps that a program printed. A program whose output is buffered trains in silence, and
/// all its steps come at once.
///
/// Cost: O(1).
class PrintedSteps {
 public:
  /// The program began.
  void began(engine::Instant now) noexcept { began_ = now; }
  void take(engine::Units step, engine::Instant now) noexcept;

  /// Three steps or more came within a fiftieth of the time, 2 s at least, in which none did.
  [[nodiscard]] bool came_at_once() const noexcept;
  /// From its begin to its first step; 0 without one.
  [[nodiscard]] engine::Duration silence() const noexcept;
  /// Number of different steps, as long as they rise.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  engine::Instant began_;
  engine::Instant first_at_;
  engine::Instant last_at_;
  std::optional<engine::Units> last_;
  std::size_t count_ = 0;
};

}  // namespace hpsearch::workers
