#include "posterior.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "model/numeric/dense.hpp"
#include "room.hpp"

namespace hpsearch::searchers::model {

namespace {

constexpr double least_variance = 1e-10;
constexpr double least_pivot = 1e-8;

}  // namespace

struct Posterior::State {
  std::optional<Kernel> kernel;
  std::size_t rows = 0;
  std::size_t believers = 0;
  double jitter = 0;
  Room scaled;  // Features × rows, believers behind.
  std::vector<double> fidelity;
  Numbers norms;
  Numbers diagonal;            // The diagonal of K.
  Room factor;                 // Its lower half.
  Numbers weights;             // α, of the rows.
  std::vector<double> levels;  // Fidelities of the rows, each once.
  std::vector<std::size_t> level;

  Room candidates;  // Scaled.
  Numbers candidate_norms;
  Numbers candidate_variances;
  Room cross;  // Rows × candidates.
  Room solved;
  Room place;  // A single candidate, and its covariances.
  Room column;
  Numbers length_factors;
  Numbers curve_parts;
  std::uint64_t kernel_values = 0;

  [[nodiscard]] std::size_t all() const noexcept { return rows + believers; }
  [[nodiscard]] std::size_t features() const noexcept { return kernel->features(); }

  double scale(std::span<const double> x, double* into) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      into[i] = (x[i] - 0.5) * kernel->inverse_scales()[i];
    }
    return dense().squared(into, x.size());
  }

  void add_point(std::span<const double> x, double s) {
    const std::size_t at = fidelity.size();
    scaled.make(features(), at + 1);
    norms.resize(at);
    diagonal.resize(at);
    norms.push_back(scale(x, scaled.column(at)));
    fidelity.push_back(s);
    const auto found = std::find(levels.begin(), levels.end(), s);
    level.push_back(static_cast<std::size_t>(found - levels.begin()));
    if (found == levels.end()) {
      levels.push_back(s);
    }
    diagonal.push_back(kernel->variance(x, s) + kernel->noise_variance() + jitter);
  }

  // The first `count` rows as a point of fidelity s sees them.
  [[nodiscard]] DenseRows seen_from(double s, std::size_t count) {
    std::vector<std::pair<double, double>> by_level;
    by_level.reserve(levels.size());
    for (const double other : levels) {
      by_level.emplace_back(kernel->length_factor(other, s), kernel->curve_part(other, s));
    }
    length_factors.resize(std::max(length_factors.size(), count));
    curve_parts.resize(length_factors.size());
    for (std::size_t i = 0; i < count; ++i) {
      length_factors[i] = by_level[level[i]].first;
      curve_parts[i] = by_level[level[i]].second;
    }
    kernel_values += count;
    return {features(),
            count,
            std::as_const(scaled).all(),
            norms.data(),
            length_factors.data(),
            curve_parts.data(),
            kernel->trend_variance()};
  }

  // The covariances of a point with the first `count` rows.
  [[nodiscard]] Matrix meet(std::span<const double> x, double s, std::size_t count) {
    place.make(features(), 1);
    column.make(count, 1);
    const double norm = scale(x, place.column(0));
    dense().covariances(seen_from(s, count), std::as_const(place).all(), &norm, column.all(), 1);
    return column.all();
  }

  // One more row of the factor, for the point that was added last.
  void grow_factor(std::span<const double> x) {
    const std::size_t at = fidelity.size() - 1;
    factor.make(at + 1, at + 1);
    const Matrix row = meet(x, fidelity.back(), at);
    dense().solve(std::as_const(factor).all(), at, row, 1);
    for (std::size_t j = 0; j < at; ++j) {
      factor.column(j)[at] = row.data[j];
    }
    factor.column(at)[at] = std::sqrt(std::max(diagonal[at] - dense().squared(row.data, at), least_pivot));
  }
};

Posterior::Posterior() : state_(std::make_unique<State>()) {
}
Posterior::~Posterior() = default;

bool Posterior::reset(const Kernel& kernel, const Points& rows) {
  State& state = *state_;
  state.kernel = kernel;
  state.jitter = 0;
  state.fidelity.clear();
  state.levels.clear();
  state.level.clear();
  state.believers = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    state.add_point(rows.at(i), rows.fidelity[i]);
  }
  const std::size_t m = rows.size();
  state.rows = m;
  state.factor.make(m, m);
  const auto fill = [&] {
    for (std::size_t a = 0; a < state.levels.size(); ++a) {
      const DenseRows as_seen = state.seen_from(state.levels[a], m);
      for (std::size_t j = 0; j < m; ++j) {
        if (state.level[j] == a) {
          dense().covariances(as_seen, {state.scaled.column(j), state.scaled.all().stride}, &state.norms[j],
                              {state.factor.column(j), state.factor.all().stride}, 1);
        }
      }
    }
  };
  for (double jitter = 0; jitter <= 1e-2; jitter = jitter > 0 ? jitter * 10 : 1e-6) {
    fill();
    for (std::size_t j = 0; j < m; ++j) {
      state.factor.column(j)[j] = state.diagonal[j] + jitter;
    }
    if (dense().factorise(state.factor.all(), m)) {
      state.jitter = jitter;
      for (double& number : state.diagonal) {
        number += jitter;
      }
      return true;
    }
  }
  return false;
}

void Posterior::append(std::span<const double> x, double s) {
  HPSEARCH_CHECK(state_->believers == 0, "rows come before believers");
  state_->add_point(x, s);
  state_->grow_factor(x);
  ++state_->rows;
}

void Posterior::believe(std::span<const double> x, double s) {
  state_->add_point(x, s);
  state_->grow_factor(x);
  ++state_->believers;
}

void Posterior::forget_believers() {
  state_->believers = 0;
  state_->fidelity.resize(state_->rows);
  state_->level.resize(state_->rows);
}

std::size_t Posterior::rows() const noexcept {
  return state_->rows;
}

bool Posterior::set_targets(std::span<const double> targets) {
  State& state = *state_;
  HPSEARCH_CHECK(targets.size() == state.rows, "a target for each row");
  state.weights.assign(targets.begin(), targets.end());
  const ConstMatrix factor = std::as_const(state.factor).all();
  dense().solve(factor, state.rows, {state.weights.data(), (state.rows + 7) / 8 * 8}, 1);
  dense().solve_transposed(factor, state.rows, state.weights.data());
  return std::all_of(state.weights.begin(), state.weights.end(),
                     [](double weight) { return std::isfinite(weight); });
}

Posterior::Prediction Posterior::predict(std::span<const double> x, double s) const {
  State& state = *state_;
  const Matrix column = state.meet(x, s, state.all());
  Prediction prediction;
  prediction.mean = dense().dot(column.data, state.weights.data(), state.rows);
  dense().solve(std::as_const(state.factor).all(), state.all(), column, 1);
  prediction.variance =
      std::max(state.kernel->variance(x, s) - dense().squared(column.data, state.all()), least_variance);
  return prediction;
}

void Posterior::squared_distances(std::span<const double> x, std::span<double> out) const {
  State& state = *state_;
  state.place.make(state.features(), 1);
  const double* place = state.place.column(0);
  state.scale(x, state.place.column(0));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double* row = state.scaled.column(i);
    double squared = 0;
    for (std::size_t j = 0; j < state.features(); ++j) {
      squared += (row[j] - place[j]) * (row[j] - place[j]);
    }
    out[i] = squared;
  }
}

void Posterior::consider(const Points& candidates, std::vector<double>& means, std::vector<double>& bounds) {
  State& state = *state_;
  const std::size_t count = candidates.size();
  const std::size_t all = state.all();
  state.candidates.make(state.features(), count);
  state.cross.make(all, count);
  state.candidate_norms.resize(count);
  state.candidate_variances.resize(count);
  for (std::size_t j = 0; j < count; ++j) {
    state.candidate_norms[j] = state.scale(candidates.at(j), state.candidates.column(j));
    state.candidate_variances[j] =
        state.kernel->variance_at(state.candidate_norms[j], candidates.fidelity[j]);
  }
  means.resize(count);
  bounds.resize(count);
  if (count == 0) {
    return;
  }
  state.kernel_values += (count - 1) * all;
  dense().covariances(state.seen_from(1, all), std::as_const(state.candidates).all(),
                      state.candidate_norms.data(), state.cross.all(), count);
  dense().glance(std::as_const(state.cross).all(), all, count, state.diagonal.data(), state.weights.data(),
                 state.rows, means.data(), bounds.data());
  for (std::size_t j = 0; j < count; ++j) {
    bounds[j] = std::max(state.candidate_variances[j] - bounds[j], least_variance);
  }
}

void Posterior::variances(std::span<const std::size_t> which, std::span<double> out) {
  State& state = *state_;
  const std::size_t all = state.all();
  state.solved.make(all, which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    std::copy_n(state.cross.column(which[i]), all, state.solved.column(i));
  }
  dense().solve(std::as_const(state.factor).all(), all, state.solved.all(), which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    out[i] = std::max(state.candidate_variances[which[i]] - dense().squared(state.solved.column(i), all),
                      least_variance);
  }
}

std::uint64_t Posterior::kernel_values() const noexcept {
  return state_->kernel_values;
}

}  // namespace hpsearch::searchers::model
