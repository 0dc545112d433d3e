#pragma once

#include <cstdint>
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
  /// So much more was held than is known so far: in the last hour that is known.
  void add(Duration held);
  /// Before this, a span has passed that does not count.
  void skip(Duration span) noexcept { since_ = since_ + span; }

  /// Since the beginning; at most 290,000 slot years, as the next one.
  [[nodiscard]] Duration until(Instant now) const noexcept;
  /// From the start of the hour of `from` on. O(hours).
  [[nodiscard]] Duration between(Instant from, Instant now) const noexcept;
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
