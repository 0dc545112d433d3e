#include "hpsearch/searchers/ranked_list.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <tuple>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers {

namespace {

constexpr double unused = std::numeric_limits<double>::quiet_NaN();

constexpr std::uint64_t bit(std::uint32_t index) noexcept {
  return std::uint64_t{1} << index;
}

/// The lowest `count` bits.
constexpr std::uint64_t lowest(std::uint32_t count) noexcept {
  return count == 64 ? ~std::uint64_t{0} : bit(count) - 1;
}

double spelled(engine::Score score) noexcept {
  return score.metric(engine::Goal::minimize).value_or(std::numeric_limits<double>::infinity());
}

struct Counts {
  std::uint32_t less = 0;
  std::uint32_t equal = 0;
};

// Compilers keep away from vectors where a comparison of NaNs might trap, unless they are told in so many
// words. Both gcc and clang spell these so; where a machine has no such vectors they become scalars.
typedef double Scores __attribute__((vector_size(16)));
typedef std::int64_t Found __attribute__((vector_size(16)));  // All bits set where a comparison holds.

/// Without a branch, and no line waits for another.
template <std::size_t n>
Counts count(const std::array<double, n>& scores, double score) noexcept {
  static_assert(n % 2 == 0);
  const Scores wanted = {score, score};
  Found less = {};
  Found equal = {};
  for (std::size_t i = 0; i < n; i += 2) {
    Scores two;
    std::memcpy(&two, &scores[i], sizeof two);
    less -= two < wanted;
    equal -= two == wanted;
  }
  return {static_cast<std::uint32_t>(less[0] + less[1]), static_cast<std::uint32_t>(equal[0] + equal[1])};
}

/// How many stand before (score, tie), or at it.
template <std::size_t n, class Stands>
std::uint32_t count_before(const std::array<double, n>& scores, const std::array<std::uint32_t, n>& ties,
                           double score, Stands stands) noexcept {
  Counts counts = count(scores, score);
  if (counts.equal > 0) {
    for (std::size_t i = 0; i < n; ++i) {
      counts.less += scores[i] == score && stands(ties[i]) ? 1U : 0U;
    }
  }
  return counts.less;
}

/// The last child whose lower bound is not behind the place. The first has none: what stands as its bound is
/// of the past, and is not looked at.
template <class Inner>
std::uint32_t child_for(const Inner& inner, double score, std::uint32_t tie) noexcept {
  // Bounds ascend: every eighth says which eight to look through, all without a branch.
  constexpr std::uint32_t stride = 8;
  constexpr auto width = static_cast<std::uint32_t>(std::tuple_size_v<decltype(inner.scores)>);
  static_assert(width % stride == 0);
  std::uint32_t child = 0;
  for (std::uint32_t i = stride; i < width; i += stride) {
    child += inner.scores[i] < score ? stride : 0U;
  }
  const double* some = &inner.scores[child];
  for (std::uint32_t i = 1; i < stride; ++i) {
    child += some[i] < score ? 1U : 0U;
  }
  while (child + 1 < width && inner.scores[child + 1] == score && inner.ties[child + 1] <= tie) {
    ++child;
  }
  return child;
}

template <class Array>
void open_gap(Array& array, std::uint32_t at, std::uint32_t size) noexcept {
  for (std::uint32_t i = size; i > at; --i) {
    array[i] = array[i - 1];
  }
}

template <class Array>
void close_gap(Array& array, std::uint32_t at, std::uint32_t size) noexcept {
  for (std::uint32_t i = at + 1; i < size; ++i) {
    array[i - 1] = array[i];
  }
}

template <class Array>
void move_rest(Array& from, std::uint32_t kept, std::uint32_t size, Array& to) noexcept {
  for (std::uint32_t i = kept; i < size; ++i) {
    to[i - kept] = from[i];
  }
}

constexpr std::uint64_t bits_with_gap(std::uint64_t bits, std::uint32_t at) noexcept {
  return (bits & lowest(at)) | ((bits & ~lowest(at)) << 1U);
}

constexpr std::uint64_t bits_without(std::uint64_t bits, std::uint32_t at) noexcept {
  return (bits & lowest(at)) | ((bits >> 1U) & ~lowest(at));
}

/// What a search in the node reads, as one wait for memory instead of several.
template <class Node>
void fetch(const Node& node) noexcept {
  const char* bytes = reinterpret_cast<const char*>(&node);
  for (std::size_t line = 0; line < offsetof(Node, ties); line += 64) {
    __builtin_prefetch(bytes + line);
  }
}

}  // namespace

RankedList::Leaf::Leaf() noexcept {
  order.fill(0);
  scores.fill(unused);
  ties.fill(0);
}

RankedList::Inner::Inner() noexcept {
  scores.fill(unused);
  ties.fill(0);
  before.fill(0);
  children.fill(0);
}

template <class Node>
std::uint32_t RankedList::Pool<Node>::take() {
  if (!spare.empty()) {
    const std::uint32_t number = spare.back();
    spare.pop_back();
    nodes[number] = Node();
    return number;
  }
  nodes.push_back(Node());
  return static_cast<std::uint32_t>(nodes.size() - 1);
}

// Three quarters full: what comes later finds room, and what never comes costs little.
RankedList::RankedList(std::span<const Entry> ascending) : size_(ascending.size()) {
  constexpr std::size_t in_leaf = leaf_width / 4 * 3;
  constexpr std::size_t in_inner = inner_width / 4 * 3;
  struct Child {
    std::uint32_t node;
    Place first;
    std::uint32_t places;
    bool marked;
  };
  std::vector<Child> children;
  for (std::size_t from = 0; from < ascending.size(); from += in_leaf) {
    const auto some = ascending.subspan(from, std::min(in_leaf, ascending.size() - from));
    const std::uint32_t node = leaves_.take();
    Leaf& leaf = leaves_[node];
    for (const Entry& entry : some) {
      leaf.marks |= entry.marked ? bit(leaf.size) : 0;
      append(leaf, spelled(entry.place.score), entry.place.tie);
    }
    children.push_back({node, some.front().place, leaf.size, leaf.marks != 0});
  }
  for (; children.size() > 1; ++height_) {
    std::vector<Child> parents;
    for (std::size_t from = 0; from < children.size(); from += in_inner) {
      const std::uint32_t node = inners_.take();
      Inner& inner = inners_[node];
      Child parent{node, children[from].first, 0, false};
      for (std::size_t i = from; i < std::min(from + in_inner, children.size()); ++i) {
        inner.scores[inner.size] = spelled(children[i].first.score);
        inner.ties[inner.size] = children[i].first.tie;
        inner.before[inner.size] = parent.places;
        inner.children[inner.size] = children[i].node;
        inner.marks |= children[i].marked ? bit(inner.size) : 0;
        parent.places += children[i].places;
        parent.marked = parent.marked || children[i].marked;
        ++inner.size;
      }
      parents.push_back(parent);
    }
    children = std::move(parents);
  }
  if (!children.empty()) {
    root_ = children.front().node;
  }
}

std::uint32_t RankedList::position_of(const Leaf& leaf, Place place) noexcept {
  return count_before(leaf.scores, leaf.ties, spelled(place.score),
                      [tie = place.tie](std::uint32_t other) { return other < tie; });
}

/// Behind all others; which it must stand behind.
void RankedList::append(Leaf& leaf, double score, std::uint32_t tie) noexcept {
  leaf.order[leaf.size] = leaf.size;
  leaf.scores[leaf.size] = score;
  leaf.ties[leaf.size] = tie;
  ++leaf.size;
}

RankedList::Way RankedList::way_to(Place place) const noexcept {
  const double score = spelled(place.score);
  Way way;
  std::uint32_t node = root_;
  for (std::uint32_t level = height_; level > 0; --level) {
    const Inner& inner = inners_[node];
    const std::uint32_t child = child_for(inner, score, place.tie);
    way.steps[level] = {node, child};
    node = inner.children[child];
    if (level == 1) {
      fetch(leaves_[node]);
    }
  }
  way.leaf = node;
  return way;
}

bool RankedList::is_full(std::uint32_t node, std::uint32_t level) const noexcept {
  return level == 0 ? leaves_[node].size == leaf_width : inners_[node].size == inner_width;
}

std::uint32_t RankedList::places_below(std::uint32_t node, std::uint32_t level) const noexcept {
  std::uint32_t sum = 0;
  for (; level > 0; --level) {
    const Inner& inner = inners_[node];
    sum += inner.before[inner.size - 1];
    node = inner.children[inner.size - 1];
  }
  return sum + leaves_[node].size;
}

bool RankedList::has_marks(std::uint32_t node, std::uint32_t level) const noexcept {
  return (level == 0 ? leaves_[node].marks : inners_[node].marks) != 0;
}

std::uint64_t RankedList::insert(Place place, bool marked) {
  const double score = spelled(place.score);
  if (leaves_.nodes.empty()) {
    root_ = leaves_.take();
  }
  if (is_full(root_, height_)) {
    split_root();
    split_child(root_, 0, height_, place);
  }
  std::uint64_t rank = 0;
  std::uint32_t node = root_;
  for (std::uint32_t level = height_; level > 0; --level) {
    std::uint32_t child = child_for(inners_[node], score, place.tie);
    if (level == 1) {
      fetch(leaves_[inners_[node].children[child]]);
    }
    if (is_full(inners_[node].children[child], level - 1)) {
      split_child(node, child, level, place);
      child = child_for(inners_[node], score, place.tie);
    }
    Inner& inner = inners_[node];
    rank += inner.before[child];
    for (std::uint32_t i = 0; i < inner_width; ++i) {  // Of constant length: vectors again.
      inner.before[i] += i > child ? 1U : 0U;
    }
    inner.marks |= marked ? bit(child) : 0;
    node = inner.children[child];
  }
  Leaf& leaf = leaves_[node];
  const std::uint32_t at = position_of(leaf, place);
  open_gap(leaf.order, at, leaf.size);
  leaf.order[at] = leaf.size;
  leaf.scores[leaf.size] = score;
  leaf.ties[leaf.size] = place.tie;
  leaf.marks = bits_with_gap(leaf.marks, at) | (marked ? bit(at) : 0);
  ++leaf.size;
  ++size_;
  return rank + at;
}

void RankedList::split_root() {
  const std::uint32_t above = inners_.take();
  Inner& inner = inners_[above];
  inner.size = 1;
  inner.scores[0] = -std::numeric_limits<double>::infinity();
  inner.ties[0] = 0;
  inner.before[0] = 0;
  inner.children[0] = root_;
  inner.marks = has_marks(root_, height_) ? 1 : 0;
  root_ = above;
  ++height_;
  HPSEARCH_CHECK(height_ < most_levels, "no list of 2^32 places is that high");
}

/// The parent, at `level`, has room for one more child.
void RankedList::split_child(std::uint32_t parent, std::uint32_t child, std::uint32_t level, Place coming) {
  const std::uint32_t left = inners_[parent].children[child];
  const auto [right, bound] = level == 1 ? split_leaf(left, coming) : split_inner(left, coming);
  Inner& inner = inners_[parent];
  const std::uint32_t at = child + 1;
  open_gap(inner.scores, at, inner.size);
  open_gap(inner.ties, at, inner.size);
  open_gap(inner.before, at, inner.size);
  open_gap(inner.children, at, inner.size);
  inner.scores[at] = spelled(bound.score);
  inner.ties[at] = bound.tie;
  inner.before[at] = inner.before[child] + places_below(left, level - 1);
  inner.children[at] = right;
  inner.marks = bits_with_gap(inner.marks, at) & ~bit(child);
  inner.marks |= has_marks(left, level - 1) ? bit(child) : 0;
  inner.marks |= has_marks(right, level - 1) ? bit(at) : 0;
  ++inner.size;
}

/// Half of it moves on; all but one stay when the place that is coming goes to the very end: runs of equal or
/// ever worse scores leave full leaves behind.
std::pair<std::uint32_t, Place> RankedList::split_leaf(std::uint32_t node, Place coming) {
  const std::uint32_t added = leaves_.take();  // First: it may move the others.
  Leaf& left = leaves_[node];
  Leaf& right = leaves_[added];
  const std::uint32_t kept =
      position_of(left, coming) == left.size ? left.size - std::uint32_t{1} : left.size / std::uint32_t{2};
  const Leaf whole = left;
  left = Leaf();
  for (std::uint32_t rank = 0; rank < whole.size; ++rank) {
    const std::uint8_t slot = whole.order[rank];
    append(rank < kept ? left : right, whole.scores[slot], whole.ties[slot]);
  }
  left.marks = whole.marks & lowest(kept);
  right.marks = whole.marks >> kept;
  return {added, place_at(right, 0)};
}

std::pair<std::uint32_t, Place> RankedList::split_inner(std::uint32_t node, Place coming) {
  const std::uint32_t added = inners_.take();
  Inner& left = inners_[node];
  Inner& right = inners_[added];
  const bool at_the_end = child_for(left, spelled(coming.score), coming.tie) + 1 == left.size;
  const std::uint32_t kept = at_the_end ? left.size - 1 : left.size / 2;
  move_rest(left.scores, kept, left.size, right.scores);
  move_rest(left.ties, kept, left.size, right.ties);
  move_rest(left.before, kept, left.size, right.before);
  move_rest(left.children, kept, left.size, right.children);
  right.size = left.size - kept;
  right.marks = left.marks >> kept;
  std::fill(left.scores.begin() + kept, left.scores.end(), unused);
  left.size = kept;
  left.marks &= lowest(kept);
  const std::uint32_t before = right.before[0];
  for (std::uint32_t i = 0; i < right.size; ++i) {
    right.before[i] -= before;
  }
  return {added, place_at(right, 0)};
}

void RankedList::erase(Place place) {
  HPSEARCH_CHECK(size_ > 0, "only what is in the list is taken out of it");
  const Way way = way_to(place);
  Leaf& leaf = leaves_[way.leaf];
  const std::uint32_t at = position_of(leaf, place);
  HPSEARCH_CHECK(at < leaf.size && place_at(leaf, leaf.order[at]) == place,
                 "only what is in the list is taken out of it");
  leaf.marks &= ~bit(at);
  clear_marks(way);
  const std::uint8_t slot = leaf.order[at];
  close_gap(leaf.order, at, leaf.size);
  leaf.marks = bits_without(leaf.marks, at);
  --leaf.size;
  --size_;
  if (slot != leaf.size) {  // The last slot moves into the hole.
    *std::find(leaf.order.begin(), leaf.order.begin() + leaf.size, leaf.size) = slot;
    leaf.scores[slot] = leaf.scores[leaf.size];
    leaf.ties[slot] = leaf.ties[leaf.size];
  }
  leaf.scores[leaf.size] = unused;

  bool is_empty = leaf.size == 0;
  if (is_empty && height_ > 0) {
    leaves_.spare.push_back(way.leaf);
  }
  for (std::uint32_t level = 1; level <= height_; ++level) {
    const auto [node, child] = way.steps[level];
    Inner& inner = inners_[node];
    for (std::uint32_t i = child + 1; i < inner.size; ++i) {
      --inner.before[i];
    }
    if (is_empty) {
      close_gap(inner.scores, child, inner.size);
      inner.scores[inner.size - 1] = unused;
      close_gap(inner.ties, child, inner.size);
      close_gap(inner.before, child, inner.size);
      close_gap(inner.children, child, inner.size);
      inner.marks = bits_without(inner.marks, child);
      --inner.size;
      is_empty = inner.size == 0;
      if (is_empty) {
        inners_.spare.push_back(node);
      }
    }
  }
  if (is_empty && height_ > 0) {  // Not even a root is left.
    root_ = leaves_.take();
    height_ = 0;
  }
}

void RankedList::unmark(Place place) {
  const Way way = way_to(place);
  Leaf& leaf = leaves_[way.leaf];
  const std::uint32_t at = position_of(leaf, place);
  HPSEARCH_CHECK(at < leaf.size && place_at(leaf, leaf.order[at]) == place,
                 "only what is in the list has a mark");
  leaf.marks &= ~bit(at);
  clear_marks(way);
}

/// The leaf may have lost its last mark: those above then say so.
void RankedList::clear_marks(const Way& way) noexcept {
  bool none = leaves_[way.leaf].marks == 0;
  for (std::uint32_t level = 1; level <= height_ && none; ++level) {
    Inner& inner = inners_[way.steps[level].node];
    inner.marks &= ~bit(way.steps[level].child);
    none = inner.marks == 0;
  }
}

void RankedList::unmark_from(std::uint64_t rank) {
  if (size_ > rank) {
    unmark_from_below(root_, height_, rank);
  }
}

void RankedList::unmark_from_below(std::uint32_t node, std::uint32_t level, std::uint64_t rank) noexcept {
  if (level == 0) {
    leaves_[node].marks &= rank < leaf_width ? lowest(static_cast<std::uint32_t>(rank)) : ~std::uint64_t{0};
    return;
  }
  Inner& inner = inners_[node];
  for (std::uint64_t left = inner.marks; left != 0; left &= left - 1) {
    const auto child = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t before = inner.before[child];
    unmark_from_below(inner.children[child], level - 1, rank > before ? rank - before : 0);
    if (!has_marks(inner.children[child], level - 1)) {
      inner.marks &= ~bit(child);
    }
  }
}

std::uint64_t RankedList::rank_of(Place place) const noexcept {
  if (size_ == 0) {
    return 0;
  }
  const Way way = way_to(place);
  std::uint64_t rank = position_of(leaves_[way.leaf], place);
  for (std::uint32_t level = 1; level <= height_; ++level) {
    rank += inners_[way.steps[level].node].before[way.steps[level].child];
  }
  return rank;
}

Place RankedList::nth(std::uint64_t rank) const noexcept {
  HPSEARCH_CHECK(rank < size_, "a rank is below the size");
  auto left = static_cast<std::uint32_t>(rank);
  std::uint32_t node = root_;
  for (std::uint32_t level = height_; level > 0; --level) {
    const Inner& inner = inners_[node];
    std::uint32_t child = 0;
    for (std::uint32_t size = inner.size; size > 1;) {
      const std::uint32_t half = size / 2;
      child = inner.before[child + half] <= left ? child + half : child;
      size -= half;
    }
    left -= inner.before[child];
    node = inner.children[child];
  }
  return place_at(leaves_[node], leaves_[node].order[left]);
}

std::optional<RankedList::Marked> RankedList::first_marked() const noexcept {
  if (size_ == 0 || !has_marks(root_, height_)) {
    return std::nullopt;
  }
  std::uint64_t rank = 0;
  std::uint32_t node = root_;
  for (std::uint32_t level = height_; level > 0; --level) {
    const Inner& inner = inners_[node];
    const auto child = static_cast<std::uint32_t>(std::countr_zero(inner.marks));
    rank += inner.before[child];
    node = inner.children[child];
  }
  const auto at = static_cast<std::uint32_t>(std::countr_zero(leaves_[node].marks));
  return Marked{place_at(leaves_[node], leaves_[node].order[at]), rank + at};
}

}  // namespace hpsearch::searchers
