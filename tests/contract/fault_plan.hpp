#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::contract {

/// What the world does to a search: how often what happens, in percent of all turns.
struct FaultPlan {
  /// What a trial without a usable metric reports. The choice may not change what becomes of any trial.
  enum class Oddity : std::uint8_t {
    mixed,   ///< NaN and both infinities, by chance.
    nan,     ///< Always NaN.
    absent,  ///< No metric at all.
    awful,   ///< A finite number worse than all others.
  };

  std::uint64_t errored = 0;
  std::uint64_t user_canceled = 0;
  std::uint64_t user_stopped = 0;
  std::uint64_t invalid_hp = 0;
  std::uint64_t cancel_waiting = 0;       ///< A user ends a trial that waits at a rung.
  std::uint64_t capacity_changes = 0;     ///< Slots come and go, to none for a while.
  std::uint64_t limit_changes = 0;        ///< A user wants more trials in all, or fewer.
  std::uint64_t concurrency_changes = 0;  ///< A user wants more trials at once, or fewer.
  std::uint64_t point_changes = 0;        ///< A user gives other points to evaluate.
  std::uint64_t duplicate_changes = 0;    ///< A user rejects duplicates, or allows them.
  std::uint64_t late_closing = 0;  ///< How many of the trials that may end do so only after further events.
  std::uint64_t without_metric = 0;
  std::uint64_t intermediate = 0;  ///< A report before its length.
  std::uint64_t metrics = 0;       ///< Different values a metric can have; 0 = any real number.
  /// 0: whose turn it is is drawn. Otherwise trials take time, one unit 1 to `paces` ticks, and the turn is
  /// of the one that is done first.
  std::uint64_t paces = 0;
  Oddity oddity = Oddity::mixed;

  [[nodiscard]] static FaultPlan drawn(engine::Draw& draw) {
    FaultPlan faults;
    faults.metrics = draw.below(3) == 0 ? 1 + draw.below(4) : 0;
    faults.without_metric = draw.below(3) == 0 ? draw.below(40) : 0;
    faults.intermediate = draw.below(30);
    faults.paces = draw.below(2) * (1 + draw.below(6));
    faults.capacity_changes = draw.below(2) * draw.below(10);
    faults.limit_changes = draw.below(3) == 0 ? draw.below(6) : 0;
    faults.concurrency_changes = draw.below(3) == 0 ? draw.below(6) : 0;
    faults.point_changes = draw.below(3) == 0 ? draw.below(6) : 0;
    faults.duplicate_changes = draw.below(3) == 0 ? draw.below(6) : 0;
    faults.late_closing = draw.below(2) * draw.below(100);
    if (draw.below(2) == 0) {
      faults.errored = draw.below(12);
      faults.user_canceled = draw.below(6);
      faults.user_stopped = draw.below(6);
      faults.invalid_hp = draw.below(25);
      faults.cancel_waiting = draw.below(6);
    }
    return faults;
  }
};

[[nodiscard]] inline std::string text_of(const FaultPlan& faults) {
  const auto n = [](std::uint64_t number) { return std::to_string(number); };
  return "errored " + n(faults.errored) + "%, user_canceled " + n(faults.user_canceled) + "%, user_stopped " +
         n(faults.user_stopped) + "%, invalid_hp " + n(faults.invalid_hp) + "%, cancel_waiting " +
         n(faults.cancel_waiting) + "%, capacity_changes " + n(faults.capacity_changes) +
         "%, limit_changes " + n(faults.limit_changes) + "%, concurrency_changes " +
         n(faults.concurrency_changes) + "%, point_changes " + n(faults.point_changes) +
         "%, duplicate_changes " + n(faults.duplicate_changes) + "%, late_closing " + n(faults.late_closing) +
         "%, without_metric " + n(faults.without_metric) + "%, intermediate " + n(faults.intermediate) +
         "%, metrics " + n(faults.metrics) + ", paces " + n(faults.paces);
}

}  // namespace hpsearch::contract
