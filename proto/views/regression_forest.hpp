#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::views {

/// A forest of regression trees (Breiman, "Random Forests", Machine Learning 45, 2001), which predicts
/// values that weren't measured.
class Forest {
 public:
  /// A property that trees split on: a number, at a threshold; or a category, against all others. NaN
  /// is a category of its own.
  struct Feature {
    bool is_category = false;
    std::vector<double> values;  ///< By row.
  };

  /// Grows `trees` trees, each from as many rows as there are, drawn with replacement. The same draw gives
  /// the same forest. Cost: O(trees × features × rows × log² rows).
  Forest(const std::vector<Feature>& features, const std::vector<double>& targets, std::size_t trees,
         engine::Draw& draw);

  /// The mean of all trees. O(trees × depth).
  [[nodiscard]] double at(const std::vector<double>& values) const;

 private:
  struct Node {
    std::size_t feature = 0;
    double threshold = 0;
    bool is_leaf = true;
    double mean = 0;
    std::size_t yes = 0;  ///< For values up to the threshold, of the category, or NaN if that is NaN.
    std::size_t no = 0;
  };
  struct Split;

  std::size_t grow(const std::vector<double>& targets, std::vector<std::size_t> rows, std::size_t depth);
  [[nodiscard]] Split best_split(const std::vector<double>& targets, std::vector<std::size_t>& rows) const;
  [[nodiscard]] static bool goes_left(bool is_category, double value, double threshold) noexcept;

  const std::vector<Feature>* features_ = nullptr;  // Set while it grows.
  std::vector<bool> is_category_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;
};

}  // namespace hpsearch::views
