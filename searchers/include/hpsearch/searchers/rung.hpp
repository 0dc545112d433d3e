#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/searchers/divisor.hpp"
#include "hpsearch/searchers/ranked_list.hpp"

namespace hpsearch::searchers {

/// One level of successive halving: the results of the trials that trained so far, in order, and which of
/// them may go on.
///
/// Every result keeps the arrival number it got on entering, from 0 without gaps; it names the result for as
/// long as the rung lives, also after it left.
///
/// Cost: O(log n) per call unless said otherwise; memory O(1) per result.
class Rung {
 public:
  /// Who ranks first of equal scores.
  enum class Ties : std::uint8_t { earlier_first, later_first };

  /// What can still become of a result.
  enum class Standing : std::uint8_t {
    waiting,   ///< Its trial waits and may be promoted.
    dead,      ///< Its trial has ended early; it may be passed up, as worst.
    promoted,  ///< It went on.
    settled,   ///< It never will, but counts.
    gone,      ///< It left: as if it had never entered.
  };

  using Arrival = std::uint64_t;
  static constexpr Arrival none = UINT64_MAX;

  struct Result {
    engine::Score score = engine::Score::worst();
    engine::TrialNumber trial;
    Arrival below = none;  ///< The same trial's result in the rung below this one.
    Standing standing = Standing::waiting;
  };

  Rung(Divisor divisor, Ties ties) noexcept : divisor_(divisor), ties_(ties) {}

  Arrival enter(const Result& result);
  /// A waiting or dead result goes on, settles, or leaves; any result may leave.
  void move_to(Arrival arrival, Standing standing);

  [[nodiscard]] const Result& at(Arrival arrival) const noexcept { return results_[arrival]; }
  [[nodiscard]] std::uint64_t arrivals() const noexcept { return results_.size(); }

  /// Results that count: all but those that left.
  [[nodiscard]] std::uint64_t size() const noexcept { return ranked_.size(); }
  /// floor(size / d): how many may be promoted.
  [[nodiscard]] std::uint64_t keep() const noexcept { return divisor_.part_of(size()); }
  /// How many results stand before this one.
  [[nodiscard]] std::uint64_t rank_of(Arrival arrival) const noexcept;
  /// The score of the last one that goes on when `keep` do; nothing when none does.
  [[nodiscard]] std::optional<engine::Score> cutoff(std::uint64_t keep) const noexcept;

  /// Waiting, and its rank is below keep().
  [[nodiscard]] bool is_promotable(Arrival arrival) const noexcept;
  /// The best promotable result.
  [[nodiscard]] std::optional<Arrival> promotable() const noexcept { return within_keep(waiting_); }
  /// The best dead result whose rank is below keep().
  [[nodiscard]] std::optional<Arrival> promotable_dead() const noexcept { return within_keep(dead_); }

  /// Settles every waiting or dead result that is not promotable and returns those that waited.
  /// O(k log n) for k unpromoted results.
  std::vector<Arrival> close_out();

  [[nodiscard]] engine::Value save() const;
  /// A rung as save() wrote it. corrupt: it is no such value.
  [[nodiscard]] static engine::Result<Rung> restore(const engine::Value& saved, Divisor divisor, Ties ties);

 private:
  /// A heap of arrivals, best on top. Results that moved on are dropped when they come to the top.
  using Heap = std::vector<Arrival>;

  [[nodiscard]] Place place_of(Arrival arrival) const noexcept;
  [[nodiscard]] std::optional<Arrival> within_keep(const Heap& heap) const noexcept;
  void push(Heap& heap, Arrival arrival);
  void drop_stale(Heap& heap, Standing standing);

  Divisor divisor_;
  Ties ties_;
  std::vector<Result> results_;  // By arrival.
  RankedList ranked_;            // Those that count; the tie of a place tells the arrival.
  Heap waiting_;
  Heap dead_;
};

}  // namespace hpsearch::searchers
