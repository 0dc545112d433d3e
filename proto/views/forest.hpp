#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::views {

/// A forest of regression trees (Breiman, "Random Forests", Machine Learning 45, 2001): what is expected
/// where nothing was measured.
class Forest {
 public:
  /// What trees split by: a number, at a threshold; or one of some categories, against all others. A value
  /// that is NaN is a category of its own.
  struct Feature {
    bool is_category = false;
    std::vector<double> values;  ///< By row.
  };

  /// Grows `trees` trees, each on as many rows as there are, drawn with repeats. The same draw gives the same
  /// forest. Cost: O(trees × features × rows × log² rows).
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
    std::size_t yes = 0;  ///< Values at most the threshold, of the category, or NaN where the threshold is.
    std::size_t no = 0;
  };
  struct Split;

  std::size_t grow(const std::vector<double>& targets, std::vector<std::size_t> rows, std::size_t depth);
  [[nodiscard]] Split best_split(const std::vector<double>& targets, std::vector<std::size_t>& rows) const;
  [[nodiscard]] static bool goes_left(bool is_category, double value, double threshold) noexcept;

  const std::vector<Feature>* features_ = nullptr;  // While it grows.
  std::vector<bool> is_category_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;
};

}  // namespace hpsearch::views
