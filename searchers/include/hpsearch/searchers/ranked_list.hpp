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
/// A counted B+ tree: nodes of at most 64 places or children, so that the marks of a node are one word. An
/// inner node knows how many places stand before each child; a leaf is read as one burst of neighbouring
/// lines, because from a million places on the wait for memory is what everything costs.
///
/// Cost: O(log n) per call; memory 12 bytes per place plus what its leaf has spare, about 18 in all; an
///       insertion allocates nothing but, once in tens of thousands, a chunk of nodes.
class RankedList {
 public:
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

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
  static constexpr std::uint32_t width = 64;
  using Key = std::array<double, width>;
  using Number = std::array<std::uint32_t, width>;

  struct Leaf {
    std::uint64_t marks = 0;
    std::uint32_t size = 0;
    Key scores;  // Score is spelled as a number that orders like it.
    Number ties;
  };
  /// The first child has no lower bound: what is less than every other child belongs to it.
  struct Inner {
    std::uint64_t marks = 0;  // Children with a mark somewhere below.
    std::uint32_t size = 0;
    Key scores;       // Lower bounds of the children, which
    Number ties;      // stay when what they were taken from leaves.
    Number before;    // Places in the children before this one.
    Number children;  // Leaves, or inner nodes one level below.
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
  // Splits leave at least 32 in either half except at runs, where they leave 63, so 2^32 places need fewer
  // levels than this.
  static constexpr std::size_t most_levels = 16;
  struct Way {
    std::array<Step, most_levels> steps;  // steps[level] for level 1 … height_.
    std::uint32_t leaf = 0;
  };

  [[nodiscard]] Way way_to(Place place) const noexcept;
  [[nodiscard]] std::uint32_t position_of(const Leaf& leaf, Place place) const noexcept;
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
        visit(place_at(leaf, i));
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
