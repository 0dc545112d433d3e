#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::contract {

/// What the world does to a search: how often what happens, in percent of all turns.
struct Weather {
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
  std::uint64_t late_closing = 0;         ///< Of what need not go on, some ends only after further events.
  std::uint64_t without_metric = 0;
  std::uint64_t intermediate = 0;  ///< A report before its length.
  std::uint64_t metrics = 0;       ///< Different values a metric can have; 0 = any real number.
  /// 0: whose turn it is is drawn. Otherwise trials take time, one unit 1 to `paces` ticks, and the turn is
  /// of the one that is done first.
  std::uint64_t paces = 0;
  Oddity oddity = Oddity::mixed;

  [[nodiscard]] static Weather drawn(engine::Draw& draw) {
    Weather weather;
    weather.metrics = draw.below(3) == 0 ? 1 + draw.below(4) : 0;
    weather.without_metric = draw.below(3) == 0 ? draw.below(40) : 0;
    weather.intermediate = draw.below(30);
    weather.paces = draw.below(2) * (1 + draw.below(6));
    weather.capacity_changes = draw.below(2) * draw.below(10);
    weather.limit_changes = draw.below(3) == 0 ? draw.below(6) : 0;
    weather.concurrency_changes = draw.below(3) == 0 ? draw.below(6) : 0;
    weather.point_changes = draw.below(3) == 0 ? draw.below(6) : 0;
    weather.duplicate_changes = draw.below(3) == 0 ? draw.below(6) : 0;
    weather.late_closing = draw.below(2) * draw.below(100);
    if (draw.below(2) == 0) {
      weather.errored = draw.below(12);
      weather.user_canceled = draw.below(6);
      weather.user_stopped = draw.below(6);
      weather.invalid_hp = draw.below(25);
      weather.cancel_waiting = draw.below(6);
    }
    return weather;
  }
};

[[nodiscard]] inline std::string text_of(const Weather& weather) {
  const auto n = [](std::uint64_t number) { return std::to_string(number); };
  return "errored " + n(weather.errored) + "%, user_canceled " + n(weather.user_canceled) +
         "%, user_stopped " + n(weather.user_stopped) + "%, invalid_hp " + n(weather.invalid_hp) +
         "%, cancel_waiting " + n(weather.cancel_waiting) + "%, capacity_changes " +
         n(weather.capacity_changes) + "%, limit_changes " + n(weather.limit_changes) +
         "%, concurrency_changes " + n(weather.concurrency_changes) + "%, point_changes " +
         n(weather.point_changes) + "%, duplicate_changes " + n(weather.duplicate_changes) +
         "%, late_closing " + n(weather.late_closing) + "%, without_metric " + n(weather.without_metric) +
         "%, intermediate " + n(weather.intermediate) + "%, metrics " + n(weather.metrics) + ", paces " +
         n(weather.paces);
}

}  // namespace hpsearch::contract
