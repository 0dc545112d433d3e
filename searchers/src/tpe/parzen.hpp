#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "../model/axes.hpp"
#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::searchers::tpe {

/// A density over places (Axes): the mean of a kernel around each centre and of the uniform density, so it is
/// nowhere 0.
///
/// A kernel is a product over the axes: a normal density that is cut off at the ends of the range and, where
/// there are levels, summed over a level's cell; for values without order, a greater probability of the
/// centre's own; uniform where the centre has no value. An axis without a value in a place counts for
/// nothing. All get narrower as centres come (Watanabe: "Tree-Structured Parzen Estimator", 2023,
/// arXiv:2304.11127, sections 3.3 and 3.4).
///
/// Cost: O(centres · axes), a log_density or a new Parzen.
class Parzen {
 public:
  /// `centres`: the places, one after the other.
  Parzen(const model::Axes& axes, std::vector<double> centres);

  struct Drawn {
    std::vector<double> place;
    std::optional<std::size_t>
        centre;  ///< The centre whose kernel it comes from; nothing for the uniform density.
  };
  [[nodiscard]] Drawn draw(engine::Draw& draw) const;

  [[nodiscard]] double log_density(std::span<const double> place) const;

 private:
  [[nodiscard]] double log_of_kernel(std::size_t centre, std::span<const double> place) const;

  const model::Axes& axes_;
  std::vector<double> centres_;
  std::size_t count_;
  double width_;                    // The width of the normal kernels, as part of the range.
  std::vector<double> log_inside_;  // By centre and axis: ln of what the cut-off normal has inside.
};

}  // namespace hpsearch::searchers::tpe
