#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// The places that the leaves of a space can take together, numbered without gaps or repeats. A leaf has a
/// place only in combinations in which it is active.
///
/// The first leaf of grid_order() varies slowest. Memory grows with the number of different outcomes that
/// conditions can have at once, and with the number of values that they name; not with the number of
/// combinations.
class Combinations {
 public:
  /// The places of a leaf, ascending, at which it has one of these values.
  using PlacesOf =
      std::function<std::vector<std::uint64_t>(std::size_t leaf, const std::vector<Value>& values)>;
  /// One leaf's; nothing: it is inactive.
  using Place = std::optional<std::uint64_t>;

  /// `sizes`: how many places each leaf has, at least 1 and at most 2^64. Nothing when conditions have so
  /// many outcomes at once that following them takes too long.
  [[nodiscard]] static std::optional<Combinations> of(std::span<const Space::Leaf> leaves,
                                                      std::span<const Cardinality> sizes,
                                                      const PlacesOf& places_of);

  /// The same where the places are the different values of a leaf: its Levels, or those of vals in their
  /// order. A leaf whose values cannot be listed has a single place.
  [[nodiscard]] static std::optional<Combinations> of_values(std::span<const Space::Leaf> leaves);

  /// Nothing when there are more than 2^127 - 1.
  [[nodiscard]] std::optional<Cardinality> size() const noexcept;

  /// By leaf. size() is not nothing, and `number` is below it.
  [[nodiscard]] std::vector<Place> at(Cardinality number) const;
  /// The inverse; nothing for what is no combination.
  [[nodiscard]] std::optional<Cardinality> number_of(std::span<const Place> places) const;

  /// By leaf: whether some combination has it.
  [[nodiscard]] const std::vector<bool>& reachable() const noexcept { return reachable_; }

 private:
  /// Neighbouring places after which the same combinations of the later leaves remain.
  struct Run {
    std::uint64_t first = 0;
    Cardinality places = 1;
    std::uint32_t next = 0;  // The node of the following layer.
  };
  /// What may follow, once the leaves before this one have their places.
  struct Node {
    bool active = true;
    std::vector<Run> runs;  // Ascending; a single one when inactive.
    Cardinality below = 0;  // Combinations from here on; too_many if there are more than fit.
  };
  class Builder;

  static constexpr Cardinality too_many = ~Cardinality{0};

  std::vector<std::size_t> order_;
  std::vector<std::vector<Node>> layers_;  // For each leaf of order_; the first has one node.
  std::vector<bool> reachable_;
};

}  // namespace hpsearch::engine
