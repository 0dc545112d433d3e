#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/chunked_vector.hpp"
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
/// Cost: O(log n) per change, rank or cut-off, O(1) for who is promotable, unless said otherwise
/// (RankedList).
///       About 40 bytes per result. Entering allocates once in a hundred times, leaving and close_out() too.
/// Limit: 2^32-1 results of trials numbered below 2^32, which is more than fits any memory; past that it
///       aborts.
class Rung {
 public:
  /// The order of equal scores.
  enum class Ties : std::uint8_t { earlier_first, later_first };

  /// The possible future of a result.
  enum class Standing : std::uint8_t {
    waiting,   ///< Its trial waits and may be promoted.
    dead,      ///< Its trial has ended early; it may be passed up, as worst.
    promoted,  ///< It went on.
    settled,   ///< It never will, but counts.
    gone,      ///< It left: as if it had never entered.
  };

  using Arrival = std::uint32_t;
  static constexpr Arrival none = UINT32_MAX;

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

  [[nodiscard]] Result at(Arrival arrival) const noexcept;
  [[nodiscard]] Standing standing_of(Arrival arrival) const noexcept { return standings_[arrival]; }
  [[nodiscard]] engine::TrialNumber trial_of(Arrival arrival) const noexcept {
    return engine::TrialNumber(results_[arrival].trial);
  }
  [[nodiscard]] std::uint64_t arrivals() const noexcept { return results_.size(); }

  /// Results that count: all but those that left.
  [[nodiscard]] std::uint64_t size() const noexcept { return ranked_.size(); }
  /// floor(size / d): how many may be promoted.
  [[nodiscard]] std::uint64_t keep() const noexcept { return divisor_.part_of(size()); }
  /// Those that count, best first. O(size).
  [[nodiscard]] std::vector<Arrival> in_order() const;
  /// How many results stand before this one.
  [[nodiscard]] std::uint64_t rank_of(Arrival arrival) const noexcept;
  /// The score of the last one that goes on when `keep` do; nothing when none does.
  [[nodiscard]] std::optional<engine::Score> cutoff(std::uint64_t keep) const noexcept;

  /// Waiting, and its rank is below keep().
  [[nodiscard]] bool is_promotable(Arrival arrival) const noexcept;
  /// The best promotable result.
  [[nodiscard]] std::optional<Arrival> promotable() const noexcept { return promotable_; }
  /// How many promotable results have a rank below this one. O(n) when any is promotable, else O(1).
  [[nodiscard]] std::uint64_t promotable_before(std::uint64_t rank) const noexcept;
  /// The best dead result whose rank is below keep(). O(log n).
  [[nodiscard]] std::optional<Arrival> promotable_dead() const noexcept;

  /// Settles every waiting or dead result that is not promotable and returns those that waited, in order of
  /// arrival. O(n) when any waits, else O(1).
  std::vector<Arrival> close_out();

 private:
  struct Entered {
    engine::Score score = engine::Score::worst();
    std::uint32_t trial = 0;
    Arrival below = none;
  };

  [[nodiscard]] Arrival tie_of(Arrival arrival) const noexcept {
    return ties_ == Ties::earlier_first ? arrival : ~arrival;
  }
  [[nodiscard]] Place place_of(Arrival arrival) const noexcept {
    return Place{results_[arrival].score, tie_of(arrival)};
  }
  void look_at_the_best() noexcept;
  void drop_stale_dead() noexcept;

  Divisor divisor_;
  Ties ties_;
  engine::ChunkedVector<Entered> results_;     // By arrival.
  engine::ChunkedVector<Standing> standings_;  // Likewise.
  RankedList ranked_;                          // Those that count, with a mark on those that wait.
  std::uint64_t waiting_ = 0;
  std::optional<Arrival> promotable_;
  engine::Score cutoff_ = engine::Score::worst();  // The worst of the keep() best, if there are any.
  // Arrivals of dead results: all have the worst score, so in order of arrival they are in order of rank.
  // What stands before first_dead_, and what went on since it entered, is of the past.
  std::vector<Arrival> dead_;
  std::size_t first_dead_ = 0;
  // The rank of the latest result as long as nothing has changed since: it is asked for in the next breath.
  std::uint64_t latest_rank_ = 0;
  bool knows_latest_rank_ = false;
};

}  // namespace hpsearch::searchers
