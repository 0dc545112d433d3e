#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hpsearch/engine/base/score.hpp"

namespace hpsearch::searchers {

/// Where a result stands: by score, best first, and among equal scores by `tie`. No two have both the same.
struct Place {
  engine::Score score = engine::Score::worst();
  std::uint64_t tie = 0;

  friend bool operator==(Place a, Place b) noexcept { return a.score == b.score && a.tie == b.tie; }
  friend bool operator<(Place a, Place b) noexcept {
    return a.score < b.score || (a.score == b.score && a.tie < b.tie);
  }
};

/// All results of a rung in order, which can say at once who is how many-th.
///
/// A counted block list: sorted blocks of at most 512 places, and a Fenwick tree over the blocks' sizes. A
/// block fits the first-level cache; moving half of one costs less than the pointer chasing of a balanced
/// tree, and a place costs 16 bytes plus what its block has spare.
///
/// Cost: O(log n) plus at most one block moved, for every call; a block that overflows also recounts the
///       others, once in 256 insertions.
class RankedList {
 public:
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  void insert(Place place);
  void erase(Place place);  ///< It must be there.

  /// How many places stand before it, whether it is in the list or not.
  [[nodiscard]] std::uint64_t rank_of(Place place) const noexcept;

  /// The place that `rank` others stand before; rank is below size().
  [[nodiscard]] Place nth(std::uint64_t rank) const noexcept;

 private:
  using Block = std::vector<Place>;

  /// The last block whose first place is not behind `place`; the first block if there is none.
  [[nodiscard]] std::size_t block_for(Place place) const noexcept;
  [[nodiscard]] std::uint64_t before_block(std::size_t block) const noexcept;
  void add_to_count(std::size_t block, std::uint64_t difference) noexcept;
  void split(std::size_t block);
  void recount();

  std::vector<Block> blocks_;  // None is empty.
  std::vector<Place> firsts_;  // The first place of each block, side by side for the search.
  std::vector<std::uint64_t>
      counts_;  // Fenwick tree; unsigned wrap-around makes differences of both signs work.
  std::uint64_t size_ = 0;
};

}  // namespace hpsearch::searchers
