#pragma once

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

/// Everything a trial's hyperparameters can be: a tree of named parameters, flattened to its leaves.
///
/// Leaves stand in byte-wise order of their keys at every nesting level; that order fixes grids and draws.
/// A configuration is a Value map of the same shape as the space, one value per leaf.
///
/// Threads: const calls may run together. Cost: O(leaves) per call.
class Space {
 public:
  struct Leaf {
    std::vector<std::string> keys;  ///< {"optimizer", "lr"}
    std::string path;               ///< "optimizer.lr", the one flat name
    Parameter parameter;
    std::optional<BoolStyle> bool_style = {};  ///< When the file says one.
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

  /// Trial `trial`'s random configuration: a function of (seed, trial, leaf path) alone. With conditions also
  /// of the number of the try: it is the first of at most 20,000 draws that satisfies them, or else the last.
  [[nodiscard]] Value sample(std::uint64_t seed, TrialNumber trial) const;

  /// Number of grid points, those included that the conditions leave out; an error naming the first int,
  /// double or log leaf that lacks `count` (or a step), or when the product does not fit 127 bits.
  [[nodiscard]] Result<Cardinality> grid_size() const;

  /// Grid point `index` in 0 … grid_size()-1; the first leaf varies slowest. Nothing is materialised.
  [[nodiscard]] Value grid_point(Cardinality index) const;

  /// How many different configurations `sample` can give without conditions, at most 2^127-1 being told;
  /// nothing when a leaf is continuous.
  [[nodiscard]] std::optional<Cardinality> cardinality() const;

  /// Checks that `configuration` lies in the space, is complete and satisfies the conditions; appends
  /// problems below `at`.
  void check(const Value& configuration, std::string_view at, Problems& problems) const;

  /// A configuration as a person wrote it, made what `sample` would give: constants that were left out are
  /// filled in, and numbers get their leaf's type (1e3 for an int is 1000). What does not fit stays for
  /// check().
  [[nodiscard]] Value complete(const Value& configuration) const;

  /// One coordinate in [0, 1] per numeric leaf on its own scale, one per category of a categorical leaf
  /// (one-hot), none for constants; leaf order. For model-based searchers.
  [[nodiscard]] std::vector<double> to_unit(const Value& configuration) const;
  /// The inverse: nearest integer, highest category (first of equals). Exact for ints (of ranges up to 2^51
  /// wide) and categories.
  [[nodiscard]] Value from_unit(std::span<const double> coordinates) const;

 private:
  [[nodiscard]] Value draw(std::uint64_t seed, TrialNumber trial) const;

  std::vector<Leaf> leaves_;
  std::vector<std::shared_ptr<const Formula>> conditions_;
};

}  // namespace hpsearch::engine
