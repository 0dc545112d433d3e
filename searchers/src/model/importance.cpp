#include "importance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace hpsearch::searchers::model {

std::vector<engine::Learnt::Importance> importance_of(const Axes& axes, const Kernel& kernel) {
  std::vector<engine::Learnt::Importance> out;
  std::size_t next = 0;
  double sum = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::size_t features = axes.features(axis);
    double squares = 0;  // The sum of the squares of the factors of distances.
    for (std::size_t i = 0; i < features; ++i, ++next) {
      squares += kernel.inverse_scales()[next] * kernel.inverse_scales()[next];
    }
    squares /= static_cast<double>(features);
    out.push_back({axes.name(axis), axes.spread(axis) * squares, 1 / std::sqrt(squares)});
    sum += out.back().share;
  }
  for (engine::Learnt::Importance& importance : out) {
    importance.share = sum > 0 ? importance.share / sum : 0;
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return out;
}

}  // namespace hpsearch::searchers::model
