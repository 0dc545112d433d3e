#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/chunked_vector.hpp"
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
/// A counted B+ tree, built around the wait for memory, which from a hundred thousand places on is what
/// everything costs. A leaf is a bag of 48 places with an index of their order: finding a rank in it reads
/// its scores from first to last, one burst of neighbouring lines, and adding a place moves bytes of the
/// index, not places. An inner node has up to 64 children and knows how many places stand before each.
///
/// Cost: O(log n) per call; memory 13 bytes per place plus what its leaf has spare, about 20 in all; an
///       insertion allocates nothing but, once in thousands, a chunk of nodes.
class RankedList {
 public:
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  struct Entry {
    Place place;
    bool marked = false;
  };

  RankedList() = default;
  /// Of entries in ascending order; none twice. O(n).
  explicit RankedList(std::span<const Entry> ascending);

  /// Returns how many places stand before it.
  std::uint64_t insert(Place place, bool marked = false);
  void erase(Place place);   ///< It must be there.
  void unmark(Place place);  ///< It must be there.
  /// Takes the marks off all places but the first `rank`. O(n) for n marks.
  void unmark_from(std::uint64_t rank);

  /// How many places stand before it, whether it is in the list or not.
  [[nodiscard]] std::uint64_t rank_of(Place place) const noexcept;

  /// The place that `rank` others stand before; rank is below size().
  [[nodiscard]] Place nth(std::uint64_t rank) const noexcept;

  struct Marked {
    Place place;
    std::uint64_t rank = 0;
  };
  /// The first place that carries a mark.
  [[nodiscard]] std::optional<Marked> first_marked() const noexcept;

  /// Calls `visit` with every place, in order. O(n).
  template <class Visit>
  void for_each(Visit visit) const {
    if (size_ > 0) {
      for_each_below(root_, height_, visit);
    }
  }

 private:
  static constexpr std::uint32_t leaf_width = 48;
  static constexpr std::uint32_t inner_width = 64;

  /// Scores are spelled as numbers that order like them; what is not in use is NaN, which is neither less
  /// than nor equal to anything, so that searches run over whole arrays.
  struct alignas(64) Leaf {
    Leaf() noexcept;

    std::uint64_t marks = 0;                     // Bit r: the place that r others of this leaf stand before.
    std::uint8_t size = 0;                       // Slots 0 … size-1 are in use.
    std::array<std::uint8_t, leaf_width> order;  // Slots by rank.
    std::array<double, leaf_width> scores;       // By slot.
    std::array<std::uint32_t, leaf_width> ties;  // Likewise.
  };
  /// The first child has no lower bound: what is less than every other child belongs to it.
  struct alignas(64) Inner {
    Inner() noexcept;

    std::array<double, inner_width> scores;           // Lower bounds of the children, which
    std::array<std::uint32_t, inner_width> ties;      // stay when what they were taken from leaves.
    std::array<std::uint32_t, inner_width> before;    // Places in the children before this one.
    std::array<std::uint32_t, inner_width> children;  // Leaves, or inner nodes one level below.
    std::uint64_t marks = 0;                          // Children with a mark somewhere below.
    std::uint32_t size = 0;
  };
  /// Nodes by number; those given back are used again.
  template <class Node>
  struct Pool {
    engine::ChunkedVector<Node> nodes;
    std::vector<std::uint32_t> spare;

    [[nodiscard]] std::uint32_t take();
    [[nodiscard]] Node& operator[](std::uint32_t number) noexcept { return nodes[number]; }
    [[nodiscard]] const Node& operator[](std::uint32_t number) const noexcept { return nodes[number]; }
  };
  /// The way from the root to a leaf: which child of which inner node.
  struct Step {
    std::uint32_t node = 0;
    std::uint32_t child = 0;
  };
  // A split leaves at least half in one of the two, so 2^32 places need fewer levels than this.
  static constexpr std::size_t most_levels = 16;
  struct Way {
    std::array<Step, most_levels> steps;  // steps[level] for level 1 … height_.
    std::uint32_t leaf = 0;
  };

  [[nodiscard]] Way way_to(Place place) const noexcept;
  [[nodiscard]] static std::uint32_t position_of(const Leaf& leaf, Place place) noexcept;
  static void append(Leaf& leaf, double score, std::uint32_t tie) noexcept;
  [[nodiscard]] bool is_full(std::uint32_t node, std::uint32_t level) const noexcept;
  void split_root();
  void split_child(std::uint32_t parent, std::uint32_t child, std::uint32_t level, Place coming);
  [[nodiscard]] std::pair<std::uint32_t, Place> split_leaf(std::uint32_t node, Place coming);
  [[nodiscard]] std::pair<std::uint32_t, Place> split_inner(std::uint32_t node, Place coming);
  [[nodiscard]] std::uint32_t places_below(std::uint32_t node, std::uint32_t level) const noexcept;
  [[nodiscard]] bool has_marks(std::uint32_t node, std::uint32_t level) const noexcept;
  void clear_marks(const Way& way) noexcept;
  void unmark_from_below(std::uint32_t node, std::uint32_t level, std::uint64_t rank) noexcept;

  template <class Visit>
  void for_each_below(std::uint32_t node, std::uint32_t level, Visit& visit) const {
    if (level == 0) {
      const Leaf& leaf = leaves_[node];
      for (std::uint32_t i = 0; i < leaf.size; ++i) {
        visit(place_at(leaf, leaf.order[i]));
      }
      return;
    }
    for (std::uint32_t i = 0; i < inners_[node].size; ++i) {
      for_each_below(inners_[node].children[i], level - 1, visit);
    }
  }
  template <class Node>
  [[nodiscard]] static Place place_at(const Node& node, std::uint32_t index) noexcept {
    return Place{engine::Score::from_metric(node.scores[index], engine::Goal::minimize), node.ties[index]};
  }

  Pool<Leaf> leaves_;
  Pool<Inner> inners_;
  std::uint32_t root_ = 0;
  std::uint32_t height_ = 0;  // 0: the root is a leaf.
  std::uint64_t size_ = 0;
};

}  // namespace hpsearch::searchers
