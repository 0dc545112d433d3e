#include "model/numeric/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace hpsearch::searchers::model {

namespace {

constexpr std::size_t most_iterations = 20;
constexpr std::size_t remembered = 8;
constexpr std::size_t most_trials = 10;
constexpr double armijo = 1e-4;
constexpr double backtracking = 0.4;
constexpr double longest_step = 2;  // In any coordinate: θ are logarithms.
constexpr double flat_gradient = 1e-2;
constexpr double small_fall = 1e-3;

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

struct Pair {
  Vector step;
  Vector change;  // The change of the gradient.
};

// −H g by the two loops over what is remembered.
Vector descent(const std::deque<Pair>& pairs, const Vector& gradient) {
  Vector direction = gradient;
  Vector weights(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    const Pair& pair = pairs[i];
    weights[i] = dot(pair.step, direction) / dot(pair.step, pair.change);
    for (std::size_t j = 0; j < direction.size(); ++j) {
      direction[j] -= weights[i] * pair.change[j];
    }
  }
  double scale = 1;
  if (pairs.empty()) {
    scale = std::min(1.0, 1 / std::max(std::sqrt(dot(gradient, gradient)), 1e-300));
  } else {
    scale = dot(pairs.back().step, pairs.back().change) / dot(pairs.back().change, pairs.back().change);
  }
  for (double& number : direction) {
    number *= scale;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    const double weight = weights[i] - dot(pair.change, direction) / dot(pair.step, pair.change);
    for (std::size_t j = 0; j < direction.size(); ++j) {
      direction[j] += weight * pair.step[j];
    }
  }
  for (double& number : direction) {
    number = -number;
  }
  return direction;
}

}  // namespace

Minimum minimise(Objective& objective, std::span<const double> start, std::span<const double> lower,
                 std::span<const double> upper) {
  Minimum best{Vector(start.begin(), start.end()), 0, 1};
  best.value = objective.value(best.at);
  const std::size_t size = start.size();
  Vector gradient(size);
  objective.gradient(gradient);
  std::deque<Pair> pairs;
  for (std::size_t iteration = 0; iteration < most_iterations; ++iteration) {
    Vector projected = gradient;
    double steepest = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if ((best.at[i] <= lower[i] && gradient[i] > 0) || (best.at[i] >= upper[i] && gradient[i] < 0)) {
        projected[i] = 0;
      }
      steepest = std::max(steepest, std::abs(projected[i]));
    }
    if (!(steepest >= flat_gradient)) {
      break;
    }
    Vector direction = descent(pairs, projected);
    for (std::size_t i = 0; i < size; ++i) {
      direction[i] = projected[i] == 0 ? 0 : direction[i];
    }
    if (!(dot(direction, projected) < 0)) {
      pairs.clear();
      direction = descent(pairs, projected);
    }
    double longest = 0;
    for (const double number : direction) {
      longest = std::max(longest, std::abs(number));
    }
    double factor = std::min(1.0, longest_step / longest);
    Vector next(size);
    double value = 0;
    bool accepted = false;
    for (std::size_t trial = 0; trial < most_trials && !accepted; ++trial, factor *= backtracking) {
      double slope = 0;
      for (std::size_t i = 0; i < size; ++i) {
        next[i] = std::clamp(best.at[i] + factor * direction[i], lower[i], upper[i]);
        slope += gradient[i] * (next[i] - best.at[i]);
      }
      value = objective.value(next);
      ++best.evaluations;
      accepted = value <= best.value + armijo * slope;
    }
    if (!accepted) {
      break;
    }
    Vector next_gradient(size);
    objective.gradient(next_gradient);
    Pair pair{Vector(size), Vector(size)};
    for (std::size_t i = 0; i < size; ++i) {
      pair.step[i] = next[i] - best.at[i];
      pair.change[i] = next_gradient[i] - gradient[i];
    }
    if (dot(pair.step, pair.change) > 1e-10) {
      pairs.push_back(std::move(pair));
      if (pairs.size() > remembered) {
        pairs.pop_front();
      }
    }
    const double fall = best.value - value;
    best.at = std::move(next);
    best.value = value;
    gradient = std::move(next_gradient);
    if (fall < small_fall) {
      break;
    }
  }
  return best;
}

}  // namespace hpsearch::searchers::model
