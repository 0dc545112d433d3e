#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "hpsearch/io/net/loop.hpp"

namespace hpsearch::net {

/// How long the tasks of a loop keep the others waiting. A turn is one task from its begin to its end:
/// nothing else runs meanwhile.
///
/// Threads: the loop's.
class LoopLag {
 public:
  /// What turns and lateness are measured with; by default nanoseconds that pass. A test that must not depend
  /// on the machine counts units of work instead.
  using Meter = std::uint64_t (*)();

  static constexpr std::array<double, 11> bounds_seconds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02,
                                                         0.05,   0.1,   0.25,   1,     5};
  /// How late a timer was, as often as it was looked at: bucket i counts what is above bound i - 1 and at
  /// most bound i, the last one what is above all bounds.
  struct Lateness {
    std::array<std::uint64_t, bounds_seconds.size() + 1> counts{};
    double sum_seconds = 0;
  };

  /// One turn, which lasts as long as this; within another one it is a part of that.
  class Turn {
   public:
    explicit Turn(LoopLag& lag) noexcept : lag_(lag), began_(lag.meter_()) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();

   private:
    LoopLag& lag_;
    std::uint64_t began_;
  };

  void was_late(std::chrono::nanoseconds time) noexcept;
  [[nodiscard]] const Lateness& lateness() const noexcept { return lateness_; }
  /// The longest turn since this was called last, as the meter measures it.
  [[nodiscard]] std::uint64_t take_longest_turn() noexcept;
  void set_meter(Meter meter) noexcept { meter_ = meter; }

 private:
  static std::uint64_t nanoseconds();

  Meter meter_ = &nanoseconds;
  std::uint64_t longest_turn_ = 0;
  Lateness lateness_;
};

/// The lag of `loop`, which must outlive the reference.
[[nodiscard]] LoopLag& lag_of(Loop& loop) noexcept;

/// Looks at the lateness of a timer of `loop` while the Watch lives, ten times a second.
[[nodiscard]] Watch watch_lateness(Loop& loop);

}  // namespace hpsearch::net
