#include "posterior.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers::model {

namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double least_variance = 1e-10;
constexpr double least_pivot = 1e-8;

Index index(std::size_t number) noexcept {
  return static_cast<Index>(number);
}

// Room that only grows, so that proposals of the same size ask for no memory. Every column begins at a
// multiple of 64 bytes (numbers.hpp): how the room grew must not show in last bits.
void make_room(Matrix& matrix, Index rows, Index columns) {
  if (matrix.rows() < rows || matrix.cols() < columns) {
    const Index wanted = matrix.rows() < rows ? (rows + rows / 2 + 7) / 8 * 8 : matrix.rows();
    matrix.conservativeResize(wanted, std::max(matrix.cols(), columns + columns / 2));
  }
}

}  // namespace

struct Posterior::State {
  std::optional<Kernel> kernel;
  double jitter = 0;
  Index rows = 0;
  Index believers = 0;
  Matrix scaled;  // Features × rows, believers behind.
  std::vector<double> fidelity;
  Vector norms;
  Vector diagonal;             // Of K.
  Matrix factor;               // Its lower half.
  Vector weights;              // α, of the rows.
  std::vector<double> levels;  // Fidelities of the rows, each once.
  std::vector<std::size_t> level;

  Matrix candidates;  // Scaled.
  Vector candidate_norms;
  Vector candidate_variances;
  Matrix cross;  // Rows × candidates.
  Matrix solved;
  Eigen::ArrayXd length_factors;
  Eigen::ArrayXd curve_parts;
  Eigen::ArrayXd distances;
  std::uint64_t kernel_values = 0;

  [[nodiscard]] Index all() const noexcept { return rows + believers; }
  [[nodiscard]] Index features() const noexcept { return index(kernel->features()); }

  template <class Column>
  double scale(std::span<const double> x, Column&& into) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      into(index(i)) = (x[i] - 0.5) * kernel->inverse_scales()[i];
    }
    return into.squaredNorm();
  }

  void add_point(std::span<const double> x, double s) {
    const Index at = index(fidelity.size());
    make_room(scaled, features(), at + 1);
    if (norms.size() <= at) {
      norms.conservativeResize(at + 1 + at / 2);
      diagonal.conservativeResize(norms.size());
    }
    norms(at) = scale(x, scaled.col(at).head(features()));
    fidelity.push_back(s);
    const auto found = std::find(levels.begin(), levels.end(), s);
    level.push_back(static_cast<std::size_t>(found - levels.begin()));
    if (found == levels.end()) {
      levels.push_back(s);
    }
    diagonal(at) = kernel->variance(x, s) + kernel->noise_variance() + jitter;
  }

  // F and T of the first `count` rows with fidelity s.
  void meet(double s, Index count) {
    std::vector<std::pair<double, double>> by_level;
    by_level.reserve(levels.size());
    for (const double other : levels) {
      by_level.emplace_back(kernel->length_factor(other, s), kernel->curve_part(other, s));
    }
    if (length_factors.size() < count) {
      length_factors.resize(count + count / 2);
      curve_parts.resize(length_factors.size());
      distances.resize(length_factors.size());
    }
    for (Index i = 0; i < count; ++i) {
      const auto& [factor_of, curve_of] = by_level[level[static_cast<std::size_t>(i)]];
      length_factors(i) = factor_of;
      curve_parts(i) = curve_of;
    }
  }

  // Turns a column of inner products into one of covariances, with the lengths last met.
  template <class Column>
  void finish(Column&& q, double norm, Index count) {
    auto r = distances.head(count);
    r = std::sqrt(5.0) * (norms.head(count).array() + norm - 2 * q).max(1e-14).sqrt();
    q = ((1 + r + r * r / 3) * (-r).exp() + kernel->trend_variance() * (q + q * q)) *
            length_factors.head(count) +
        curve_parts.head(count);
    kernel_values += static_cast<std::uint64_t>(count);
  }

  // One more row of the factor, for the point that was added last.
  void grow_factor() {
    const Index at = index(fidelity.size()) - 1;
    make_room(factor, at + 1, at + 1);
    Vector column = scaled.topLeftCorner(features(), at).transpose() * scaled.col(at).head(features());
    meet(fidelity.back(), at);
    finish(column.array(), norms(at), at);
    factor.topLeftCorner(at, at).triangularView<Eigen::Lower>().solveInPlace(column);
    factor.row(at).head(at) = column.transpose();
    factor(at, at) = std::sqrt(std::max(diagonal(at) - column.squaredNorm(), least_pivot));
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
  const Index m = index(rows.size());
  state.rows = m;
  const auto scaled = state.scaled.topLeftCorner(state.features(), m);
  Matrix covariance = scaled.transpose() * scaled;
  for (std::size_t a = 0; a < state.levels.size(); ++a) {
    state.meet(state.levels[a], m);
    for (Index j = 0; j < m; ++j) {
      if (state.level[static_cast<std::size_t>(j)] == a) {
        state.finish(covariance.col(j).array(), state.norms(j), m);
      }
    }
  }
  make_room(state.factor, m, m);
  for (double jitter = 0; jitter <= 1e-2; jitter = jitter > 0 ? jitter * 10 : 1e-6) {
    auto factor = state.factor.topLeftCorner(m, m);
    factor = covariance;
    factor.diagonal() = state.diagonal.head(m).array() + jitter;
    Eigen::Ref<Matrix> place(factor);
    const Eigen::LLT<Eigen::Ref<Matrix>> cholesky(place);  // In place.
    if (cholesky.info() == Eigen::Success && factor.diagonal().allFinite()) {
      state.jitter = jitter;
      state.diagonal.head(m).array() += jitter;
      return true;
    }
  }
  return false;
}

void Posterior::append(std::span<const double> x, double s) {
  HPSEARCH_CHECK(state_->believers == 0, "rows come before believers");
  state_->add_point(x, s);
  state_->grow_factor();
  ++state_->rows;
}

void Posterior::believe(std::span<const double> x, double s) {
  state_->add_point(x, s);
  state_->grow_factor();
  ++state_->believers;
}

void Posterior::forget_believers() {
  state_->believers = 0;
  state_->fidelity.resize(static_cast<std::size_t>(state_->rows));
  state_->level.resize(static_cast<std::size_t>(state_->rows));
}

std::size_t Posterior::rows() const noexcept {
  return static_cast<std::size_t>(state_->rows);
}

bool Posterior::set_targets(std::span<const double> targets) {
  State& state = *state_;
  HPSEARCH_CHECK(index(targets.size()) == state.rows, "a target for each row");
  const auto factor = state.factor.topLeftCorner(state.rows, state.rows).triangularView<Eigen::Lower>();
  state.weights = Eigen::Map<const Vector>(targets.data(), state.rows);
  factor.solveInPlace(state.weights);
  factor.transpose().solveInPlace(state.weights);
  return state.weights.allFinite();
}

Posterior::Prediction Posterior::predict(std::span<const double> x, double s) const {
  State& state = *state_;
  Vector place(state.features());
  const double norm = state.scale(x, place);
  Vector column = state.scaled.topLeftCorner(state.features(), state.all()).transpose() * place;
  state.meet(s, state.all());
  state.finish(column.array(), norm, state.all());
  Prediction prediction;
  prediction.mean = column.head(state.rows).dot(state.weights);
  state.factor.topLeftCorner(state.all(), state.all()).triangularView<Eigen::Lower>().solveInPlace(column);
  prediction.variance = std::max(state.kernel->variance(x, s) - column.squaredNorm(), least_variance);
  return prediction;
}

void Posterior::squared_distances(std::span<const double> x, std::span<double> out) const {
  Vector place(state_->features());
  state_->scale(x, place);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = (state_->scaled.col(index(i)).head(state_->features()) - place).squaredNorm();
  }
}

void Posterior::consider(const Points& candidates, std::vector<double>& means, std::vector<double>& bounds) {
  State& state = *state_;
  const Index count = index(candidates.size());
  const Index all = state.all();
  make_room(state.candidates, state.features(), count);
  make_room(state.cross, all, count);
  if (state.candidate_norms.size() < count) {
    state.candidate_norms.resize(count);
    state.candidate_variances.resize(count);
  }
  for (Index j = 0; j < count; ++j) {
    const auto x = candidates.at(static_cast<std::size_t>(j));
    const auto s = candidates.fidelity[static_cast<std::size_t>(j)];
    state.candidate_norms(j) = state.scale(x, state.candidates.col(j).head(state.features()));
    state.candidate_variances(j) = state.kernel->variance(x, s);
  }
  auto cross = state.cross.topLeftCorner(all, count);
  cross.noalias() = state.scaled.topLeftCorner(state.features(), all).transpose() *
                    state.candidates.topLeftCorner(state.features(), count);
  state.meet(1, all);
  means.resize(candidates.size());
  bounds.resize(candidates.size());
  for (Index j = 0; j < count; ++j) {
    auto column = cross.col(j);
    state.finish(column.array(), state.candidate_norms(j), all);
    const double explained = (column.array().square() / state.diagonal.head(all).array()).maxCoeff();
    means[static_cast<std::size_t>(j)] = column.head(state.rows).dot(state.weights);
    bounds[static_cast<std::size_t>(j)] = std::max(state.candidate_variances(j) - explained, least_variance);
  }
}

void Posterior::variances(std::span<const std::size_t> which, std::span<double> out) {
  State& state = *state_;
  const Index all = state.all();
  make_room(state.solved, all, index(which.size()));
  auto solved = state.solved.topLeftCorner(all, index(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i) {
    solved.col(index(i)) = state.cross.col(index(which[i])).head(all);
  }
  state.factor.topLeftCorner(all, all).triangularView<Eigen::Lower>().solveInPlace(solved);
  for (std::size_t i = 0; i < which.size(); ++i) {
    out[i] = std::max(state.candidate_variances(index(which[i])) - solved.col(index(i)).squaredNorm(),
                      least_variance);
  }
}

std::uint64_t Posterior::kernel_values() const noexcept {
  return state_->kernel_values;
}

}  // namespace hpsearch::searchers::model
