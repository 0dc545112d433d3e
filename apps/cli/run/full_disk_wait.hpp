#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace hpsearch::cli {

/// How long a command that was interrupted waits while the daemon's disk is full. It needs a limit:
/// schedulers send only one signal, and the disk may stay full.
class FullDiskWait {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds patience{5};

  /// Records the daemon's latest answer.
  void note(bool is_full, Clock::time_point now) noexcept {
    full_since_ = is_full ? full_since_.value_or(now) : std::optional<Clock::time_point>();
  }
  void note_interrupt(Clock::time_point now) noexcept { interrupted_ = interrupted_.value_or(now); }

  /// The disk has been full for the whole limit since the interrupt.
  [[nodiscard]] bool is_over(Clock::time_point now) const noexcept {
    return full_since_ && interrupted_ && now - std::max(*full_since_, *interrupted_) >= patience;
  }

 private:
  std::optional<Clock::time_point> full_since_;
  std::optional<Clock::time_point> interrupted_;
};

}  // namespace hpsearch::cli
