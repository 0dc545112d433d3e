#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::engine {

/// Slots × time under lease, over all trials of an experiment, also by the hour (UTC) in which they were
/// held.
class SlotTime {
 public:
  SlotTime() = default;
  SlotTime(Duration accrued, std::int64_t slots, Instant since);

  /// From `at` on, so many slots more (or less) are held.
  void change(std::int64_t slots, Instant at);
  /// So much more was held than is known so far: it is put into the hour of `at`.
  void add(Duration held, Instant at);
  /// The span from `from` on does not count.
  void skip(Duration span, Instant from);

  /// Since the beginning; at most 290,000 slot years, as the next one.
  [[nodiscard]] Duration until(Instant now) const noexcept;
  /// From the start of the hour of `from` on. O(hours).
  [[nodiscard]] Duration between(Instant from, Instant now) const noexcept;
  /// The first instant from `now` on at which less than `amount` lies between the time `window` before it and
  /// itself, if no slots are held from `now` on. `window` is whole hours. Nothing: never. O(hours).
  [[nodiscard]] std::optional<Instant> below(Duration amount, Duration window, Instant now) const noexcept;
  [[nodiscard]] static Instant hour_of(Instant at) noexcept;

  [[nodiscard]] std::int64_t slots() const noexcept { return slots_; }
  [[nodiscard]] Instant since() const noexcept { return since_; }

 private:
  void accrue(Instant at);
  void put(std::int64_t hour, std::int64_t micros);

  Duration accrued_;
  std::int64_t slots_ = 0;
  Instant since_;
  std::vector<std::pair<std::int64_t, std::int64_t>>
      hours_;  ///< Hour and microseconds, those with any, in order.
};

}  // namespace hpsearch::engine
