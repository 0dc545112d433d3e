#include "parzen.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/numeric/normal.hpp"

namespace hpsearch::searchers::tpe {

using engine::Draw;
using model::Axes;
using model::normal_below;
using model::normal_quantile;

namespace {

constexpr double log_root_two_pi = 0.91893853320467274178;

/// The width in Optuna's multivariate TPE: a fifth of the range, less as centres come, and never less than a
/// hundredth.
double kernel_width(std::size_t centres, std::size_t axes) {
  const double count = std::max<double>(1, static_cast<double>(centres));
  const double scott = 0.2 * std::pow(count, -1 / (static_cast<double>(axes) + 4));
  return std::max(scott, 1 / std::min(100.0, 1 + count));
}

double inside(double centre, double width) {
  return normal_below((1 - centre) / width) - normal_below(-centre / width);
}

}  // namespace

Parzen::Parzen(const Axes& axes, std::vector<double> centres)
    : axes_(axes),
      centres_(std::move(centres)),
      count_(axes.size() == 0 ? 0 : centres_.size() / axes.size()),
      width_(kernel_width(count_, axes.size())) {
  log_inside_.reserve(centres_.size());
  for (const double centre : centres_) {
    log_inside_.push_back(centre == Axes::inactive ? 0 : std::log(inside(centre, width_)));
  }
}

double Parzen::log_of_kernel(std::size_t centre, std::span<const double> place) const {
  const double count = static_cast<double>(count_);
  double sum = 0;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const std::size_t at = centre * axes_.size() + axis;
    const double middle = centres_[at];
    const double here = place[axis];
    const double levels = axes_.levels(axis);
    if (here == Axes::inactive) {
      continue;
    }
    if (middle == Axes::inactive) {
      if (levels > 0) {
        const auto [begin, end] = axes_.cell(axis, here);
        sum += std::log(end - begin);
      }
    } else if (!axes_.has_order(axis)) {
      // The share of one more centre is spread over all values.
      const bool own = std::abs(middle - here) < 0.5 / levels;
      sum += std::log((own ? count + 1 : 1) / (count + levels));
    } else if (levels > 0) {
      const auto [begin, end] = axes_.cell(axis, here);
      const double mass = normal_below((end - middle) / width_) - normal_below((begin - middle) / width_);
      sum += std::log(std::max(mass, 1e-300)) - log_inside_[at];
    } else {
      const double z = (here - middle) / width_;
      sum += -z * z / 2 - log_root_two_pi - std::log(width_) - log_inside_[at];
    }
  }
  return sum;
}

double Parzen::log_density(std::span<const double> place) const {
  double uniform = 0;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    if (axes_.levels(axis) > 0 && place[axis] != Axes::inactive) {
      const auto [begin, end] = axes_.cell(axis, place[axis]);
      uniform += std::log(end - begin);
    }
  }
  std::vector<double> logs{uniform};
  for (std::size_t centre = 0; centre < count_; ++centre) {
    logs.push_back(log_of_kernel(centre, place));
  }
  const double greatest = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double one : logs) {
    sum += std::exp(one - greatest);
  }
  return greatest + std::log(sum / static_cast<double>(logs.size()));
}

Parzen::Drawn Parzen::draw(Draw& draw) const {
  Drawn drawn;
  const std::size_t component = draw.below(count_ + 1);
  if (component < count_) {
    drawn.centre = component;
  }
  const double count = static_cast<double>(count_);
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const double unit = draw.unit();
    if (!drawn.centre) {
      drawn.place.push_back(axes_.snapped(axis, unit));
      continue;
    }
    const double middle = centres_[component * axes_.size() + axis];
    if (middle == Axes::inactive) {
      drawn.place.push_back(Axes::inactive);
      continue;
    }
    if (!axes_.has_order(axis)) {
      const double levels = axes_.levels(axis);
      const double kept = count / (count + levels);
      drawn.place.push_back(unit < kept ? middle : axes_.snapped(axis, (unit - kept) / (1 - kept)));
      continue;
    }
    const double below = normal_below(-middle / width_);
    const double z = normal_quantile(below + unit * inside(middle, width_));
    drawn.place.push_back(axes_.snapped(axis, middle + width_ * z));
  }
  axes_.settle(drawn.place, draw);
  return drawn;
}

}  // namespace hpsearch::searchers::tpe
