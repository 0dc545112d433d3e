#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/bool_style.hpp"
#include "hpsearch/engine/space/parameter.hpp"

namespace hpsearch::engine {

class Formula;

/// Sizes of grids and finite spaces: a product of counts may need more than 64 bits.
__extension__ typedef unsigned __int128 Cardinality;

[[nodiscard]] std::string to_text(Cardinality number);

class Combinations;

/// Everything a trial's hyperparameters can be: a tree of named parameters, flattened to its leaves.
///
/// Leaves stand in byte-wise order of their keys at every nesting level. A configuration is a Value map of
/// the same shape as the space, with one value per leaf that is active in it; a group without an active leaf
/// is absent.
///
/// Threads: const calls may run together. Cost: O(leaves) per call.
class Space {
 public:
  /// One of the conditions of a leaf: its parent is active and has one of these values.
  struct Condition {
    std::size_t parent = 0;     ///< Its place in leaves(): a constant, a categorical or one with Levels.
    std::vector<Value> values;  ///< As the parent's draws give them; each once, at least one.

    /// Whether it holds where the parent is active and has this value.
    [[nodiscard]] bool holds(const Value& value) const noexcept;
  };
  struct Leaf {
    std::vector<std::string> keys;  ///< {"optimizer", "lr"}
    std::string path;               ///< "optimizer.lr", the one flat name
    Parameter parameter;
    std::optional<BoolStyle> bool_style = {};  ///< When the file says one.
    std::vector<Condition> when = {};  ///< The leaf is active where all hold; none: in every configuration.
  };

  Space() = default;

  /// Reads the `hyperparameters` of an experiment. Whatever is wrong is appended to `problems`, each path
  /// below `at`; what was accepted though spelled oddly (`val` for `vals`) goes to `notes`. The result is
  /// usable only when no problem was added.
  [[nodiscard]] static Space parse(const Value& hyperparameters, std::string_view at, Problems& problems,
                                   Problems& notes);

  [[nodiscard]] std::span<const Leaf> leaves() const noexcept { return leaves_; }

  /// Conditions that every configuration must satisfy (`where`), instead of those of before; in the language
  /// of Formula. Whatever is wrong is appended to `problems`, each path below `at`; the space is usable only
  /// when no problem was added.
  void constrain(std::span<const std::string> conditions, std::string_view at, Problems& problems);
  [[nodiscard]] bool is_constrained() const noexcept { return !conditions_.empty(); }
  /// True when the configuration satisfies every condition. A condition on a parameter that the configuration
  /// does not have says nothing about it. Cost: O(conditions).
  [[nodiscard]] bool allows(const Value& configuration) const;
  /// How many random configurations satisfy the conditions. The same for every call; O(drawn).
  struct AllowedShare {
    std::uint64_t allowed = 0;
    std::uint64_t drawn = 0;
  };
  [[nodiscard]] AllowedShare allowed_share() const;

  /// True when some leaf has conditions.
  [[nodiscard]] bool is_conditional() const noexcept { return !parents_first_.empty(); }
  /// All leaves, each after its parents, where some leaf has conditions; else none.
  [[nodiscard]] std::span<const std::size_t> parents_first() const noexcept { return parents_first_; }
  /// Which leaves are active, by leaf, where leaf i has values[i]; those of leaves without children are not
  /// looked at.
  [[nodiscard]] std::vector<bool> active_among(std::span<const Value> values) const;
  /// The same for a configuration of this space. A leaf whose parent has no value in it is inactive.
  [[nodiscard]] std::vector<bool> active_in(const Value& configuration) const;
  /// The configuration in which leaf i has values[i], if it is active.
  [[nodiscard]] Value configuration_of(std::vector<Value> values) const;
  /// "optimizer is sgd or nesterov, and layers is 2": the conditions of this leaf; "" when it has none.
  [[nodiscard]] std::string when_text(std::size_t leaf) const;

  /// Trial `trial`'s random configuration. A leaf's value is a function of (seed, trial, leaf path) alone;
  /// whether it is active follows from the values. With conditions of `where` it is a function of the number
  /// of the try, too: the first of at most 20,000 draws that satisfies them, or else the last.
  [[nodiscard]] Value sample(std::uint64_t seed, TrialNumber trial) const;

  /// Number of grid points, those included that `where` leaves out, those that differ in inactive leaves only
  /// being one; an error naming the first int, double or log leaf that lacks `count` (or a step), or when
  /// there are more than fit 127 bits.
  [[nodiscard]] Result<Cardinality> grid_size() const;

  /// Grid point `index` in 0 … grid_size()-1; the first leaf varies slowest. A leaf with conditions varies as
  /// if it stood right after the last of its parents. Nothing is materialised.
  [[nodiscard]] Value grid_point(Cardinality index) const;

  /// The number of different configurations that `sample` can give without conditions, at most 2^127-1;
  /// nothing when a leaf is continuous.
  [[nodiscard]] std::optional<Cardinality> cardinality() const;

  /// Checks that `configuration` lies in the space, has the active leaves alone and satisfies the conditions
  /// of `where`; appends problems below `at`.
  void check(const Value& configuration, std::string_view at, Problems& problems) const;

  /// A configuration as a person wrote it, made what `sample` would give: active constants that were left out
  /// are filled in, and numbers get their leaf's type (1e3 for an int is 1000). What does not fit stays for
  /// check().
  [[nodiscard]] Value complete(const Value& configuration) const;

  /// One coordinate in [0, 1] per numeric leaf on its own scale, one per category of a categorical leaf
  /// (one-hot), none for constants; leaf order. An inactive leaf is in the middle: 1/2, and 0 for each
  /// category. For model-based searchers.
  [[nodiscard]] std::vector<double> to_unit(const Value& configuration) const;
  /// The inverse: nearest integer, highest category (first of equals). Coordinates of leaves that are
  /// inactive then are not looked at. Exact for ints (of ranges up to 2^51 wide) and categories.
  [[nodiscard]] Value from_unit(std::span<const double> coordinates) const;
  /// The value of one leaf from its coordinates alone.
  [[nodiscard]] Value value_from_unit(std::size_t leaf, std::span<const double> coordinates) const;

 private:
  [[nodiscard]] Value draw(std::uint64_t seed, TrialNumber trial) const;

  std::vector<Leaf> leaves_;
  std::vector<std::shared_ptr<const Formula>> conditions_;
  std::vector<std::size_t> parents_first_;    // Where leaves have conditions: all, as a grid varies them.
  std::shared_ptr<const Combinations> grid_;  // Where leaves have conditions and a grid has a size.
};

}  // namespace hpsearch::engine
