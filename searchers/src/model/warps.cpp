#include "warps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "model/numeric/normal.hpp"

namespace hpsearch::searchers::model {

namespace {

constexpr std::size_t enough_for_moments = 1000;

double median_of(std::span<const double> ascending) noexcept {
  const std::size_t middle = ascending.size() / 2;
  if (ascending.size() % 2 == 1) {
    return ascending[middle];
  }
  return ascending[middle - 1] + (ascending[middle] / 2 - ascending[middle - 1] / 2);
}

}  // namespace

Warp::Warp(WarpKind kind, std::span<const double> ascending) : kind_(kind), ascending_(ascending) {
  if (ascending.empty()) {
    return;
  }
  if (kind == WarpKind::win) {
    middle_ = median_of(ascending);
    const double top = ascending.back() / 2 - middle_ / 2;
    const double range = top > 0 ? top : ascending.back() / 2 - ascending.front() / 2;
    scale_ = range > 0 ? std::ldexp(1.0, std::ilogb(range) + 1) : 1.0;
    floor_ = -2 * std::max(placed(ascending.back()), 1e-9);
  }
  const std::size_t n = ascending.size();
  const std::size_t taken = std::min(n, enough_for_moments);
  std::vector<double> some;
  some.reserve(taken);
  double sum = 0;
  for (std::size_t i = 0; i < taken; ++i) {
    some.push_back(warped(ascending[n == taken ? i : (2 * i + 1) * n / (2 * taken)]));
    sum += some.back();
  }
  mean_ = sum / static_cast<double>(taken);
  double squares = 0;
  for (const double value : some) {
    squares += (value - mean_) * (value - mean_);
  }
  deviation_ = std::sqrt(squares / static_cast<double>(taken));
  if (!(deviation_ >= 1e-9)) {
    deviation_ = 1;  // All equal.
  }
  failed_ = std::max(target(ascending.front()), -3.0);
  best_ = target(ascending.back());
}

double Warp::placed(double goal_score) const noexcept {
  return goal_score / scale_ - middle_ / scale_;
}

double Warp::warped(double goal_score) const {
  if (kind_ == WarpKind::win) {
    return std::max(placed(goal_score), floor_);
  }
  const auto [first, last] = std::equal_range(ascending_.begin(), ascending_.end(), goal_score);
  const auto both = static_cast<double>((first - ascending_.begin()) + (last - ascending_.begin()));
  const double n = static_cast<double>(ascending_.size());
  return normal_quantile(std::clamp(both / (2 * n), 1 / (4 * n), 1 - 1 / (4 * n)));
}

double Warp::target(double goal_score) const {
  return (warped(goal_score) - mean_) / deviation_;
}

}  // namespace hpsearch::searchers::model
