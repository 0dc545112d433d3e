#include "cli/surrogates/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::surrogates {

using engine::Draw;
using engine::TrialNumber;
using engine::Units;
using engine::sim::Training;

namespace {
constexpr double cliff = 0.7;
constexpr double best_step_size = 0.65;
constexpr SyntheticCurves::Kind kinds[] = {SyntheticCurves::Kind::power, SyntheticCurves::Kind::crossing,
                                           SyntheticCurves::Kind::diverging};
}  // namespace

SyntheticCurves::SyntheticCurves(Kind kind, engine::Space space, Units max_length, engine::Goal goal,
                                 std::uint64_t seed)
    : kind_(kind),
      space_(std::move(space)),
      max_length_(engine::count(max_length)),
      goal_(goal),
      seed_(seed) {
  const std::size_t coordinates = space_.to_unit(space_.sample(0, TrialNumber(0))).size();
  Draw draw(seed_, TrialNumber(0), "synthetic optimum");
  for (std::size_t i = 0; i < coordinates; ++i) {
    const double place = draw.unit();
    optimum_.push_back(kind_ == Kind::diverging && i == 0 ? best_step_size : place);
  }
}

double SyntheticCurves::distance(const std::vector<double>& x) const noexcept {
  double sum = 0;
  double most = 0;
  for (std::size_t i = 0; i < optimum_.size(); ++i) {
    const double away = x[i] - optimum_[i];
    const double furthest = std::max(optimum_[i], 1 - optimum_[i]);
    sum += away * away;
    most += furthest * furthest;
  }
  return most > 0 ? sum / most : 0;
}

double SyntheticCurves::loss(double q, double length) const noexcept {
  const double a = 0.05 + 0.6 * q;
  const double c = kind_ == Kind::crossing ? 0.25 + 0.75 * std::sqrt(q) : 0.5;
  return a + (1 - a) * std::pow(length, -c);
}

double SyntheticCurves::noise(TrialNumber trial, std::uint64_t length) const noexcept {
  Draw draw(seed_, trial, "synthetic noise " + std::to_string(length));
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    sum += draw.unit();
  }
  return 0.01 * sum * std::pow(static_cast<double>(length), -0.25);
}

double SyntheticCurves::metric_of(double loss) const noexcept {
  return goal_ == engine::Goal::minimize ? loss : 1 - loss;
}

double SyntheticCurves::metric(const Training& training, Units length) {
  const std::uint64_t at = engine::count(length);
  const std::vector<double> x = space_.to_unit(training.hparams);
  if (at == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (kind_ == Kind::diverging && !x.empty() && x[0] > cliff) {
    const double fine_until = std::floor(static_cast<double>(max_length_) * (1 - x[0]) / (1 - cliff));
    if (static_cast<double>(at) >= std::max(1.0, fine_until)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
  return metric_of(loss(distance(x), static_cast<double>(at)) + noise(training.trial, at));
}

double SyntheticCurves::seconds(const Training& training, Units from, Units to) {
  Draw draw(seed_, training.trial, "synthetic time");
  return static_cast<double>(engine::count(to) - engine::count(from)) * (0.5 + draw.unit());
}

std::optional<double> SyntheticCurves::best() const {
  // Where curves cross, the nearest configuration need not be the best at a finite length: search along q.
  double lowest = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= 1000; ++i) {
    lowest = std::min(lowest, loss(i / 1000.0, static_cast<double>(max_length_)));
  }
  return metric_of(lowest);
}

std::optional<SyntheticCurves::Kind> synthetic_named(std::string_view name) noexcept {
  for (const SyntheticCurves::Kind kind : kinds) {
    if (name_of(kind) == name) {
      return kind;
    }
  }
  return std::nullopt;
}

std::string_view name_of(SyntheticCurves::Kind kind) noexcept {
  switch (kind) {
    case SyntheticCurves::Kind::power:
      return "power";
    case SyntheticCurves::Kind::crossing:
      return "crossing";
    case SyntheticCurves::Kind::diverging:
      return "diverging";
  }
  return "";
}

}  // namespace hpsearch::surrogates
