#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/score.hpp"

namespace hpsearch::searchers {

/// Where a result stands: by score, best first, and among equal scores by `tie`. No two have both the same.
struct Place {
  engine::Score score = engine::Score::worst();
  std::uint32_t tie = 0;

  friend bool operator==(Place a, Place b) noexcept { return a.score == b.score && a.tie == b.tie; }
  friend bool operator<(Place a, Place b) noexcept {
    return a.score < b.score || (a.score == b.score && a.tie < b.tie);
  }
};

/// All results of a rung in order: it can say at once who is how many-th, and which of those that carry a
/// mark is the first.
///
/// Sorted blocks of a few hundred places, one after the other, with a Fenwick tree over how many places and
/// how many marks each block holds. A full block is split in two, and the trees are built anew then.
///
/// Cost: O(log n) comparisons and a move within one block per call; building the trees anew costs
///       O(n / width²) per insertion on average, less than the rest up to 10^8 places. Memory: 16 bytes per
///       place and what its block has spare, about 24 in all.
class RankedList {
 public:
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Returns how many places stand before it.
  std::uint64_t insert(Place place, bool marked = false);
  void erase(Place place);   ///< It must be there.
  void unmark(Place place);  ///< It must be there.
  /// Takes the marks off all places but the first `rank`. O(n).
  void unmark_from(std::uint64_t rank);

  /// How many places stand before it, whether it is in the list or not.
  [[nodiscard]] std::uint64_t rank_of(Place place) const noexcept;

  /// The place that `rank` others stand before; rank is below size().
  [[nodiscard]] Place nth(std::uint64_t rank) const noexcept;

  /// All of them, in order. O(n).
  [[nodiscard]] std::vector<Place> places() const;

  struct Marked {
    Place place;
    std::uint64_t rank = 0;
  };
  /// The first place that carries a mark.
  [[nodiscard]] std::optional<Marked> first_marked() const noexcept;

 private:
  static constexpr std::size_t width = 256;  ///< The most entries of a block.

  struct Entry {
    engine::Score score = engine::Score::worst();
    std::uint32_t tie = 0;
    bool marked = false;

    [[nodiscard]] Place place() const noexcept { return {score, tie}; }
  };
  struct Block {
    std::vector<Entry> entries;
    std::uint64_t marked = 0;
  };

  /// How many there are in each block, summed so that a prefix and the block of the k-th cost O(log blocks).
  class Counts {
   public:
    /// `count(block)` is how many there are in it.
    template <class Count>
    void rebuild(std::size_t blocks, Count count);
    void add(std::size_t block, std::int64_t more) noexcept;
    [[nodiscard]] std::uint64_t before(std::size_t block) const noexcept;
    /// The block that holds the one which `rank` others stand before; `rank` becomes its place in the block.
    [[nodiscard]] std::size_t find(std::uint64_t& rank) const noexcept;

   private:
    std::vector<std::uint64_t> sums_;  // A Fenwick tree, from 1.
  };

  [[nodiscard]] std::size_t block_of(Place place) const noexcept;
  [[nodiscard]] static std::size_t position_in(const Block& block, Place place) noexcept;
  void split(std::size_t index);
  void count_anew();

  std::vector<Block> blocks_;  // None is empty.
  std::vector<Place> firsts_;  // Lower bounds of the blocks; that of the first bounds nothing.
  Counts sizes_;
  Counts marks_;
  std::uint64_t size_ = 0;
  std::uint64_t marked_ = 0;
};

}  // namespace hpsearch::searchers
