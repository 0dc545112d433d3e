#include "fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers::model {

namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double impossible = 1e100;

Index index(std::size_t number) noexcept {
  return static_cast<Index>(number);
}

// The lower half of K⁻¹ from the Cholesky factor, a third of the work of solving for unit vectors.
void invert(const Matrix& factor, Matrix& inverse_factor, Matrix& inverse) {
  const Index n = factor.rows();
  constexpr Index width = 24;
  inverse_factor.setZero(n, n);
  for (Index j = 0; j < n; j += width) {
    const Index block = std::min(width, n - j);
    auto columns = inverse_factor.block(j, j, n - j, block);
    columns.topRows(block).setIdentity();
    factor.bottomRightCorner(n - j, n - j).triangularView<Eigen::Lower>().solveInPlace(columns);
  }
  for (Index j = 0; j < n; j += width) {
    const Index block = std::min(width, n - j);
    for (Index i = j; i < n; i += width) {
      const Index rows = std::min(width, n - i);
      inverse.block(i, j, rows, block).noalias() =
          inverse_factor.block(i, i, n - i, rows).transpose() * inverse_factor.block(i, j, n - i, block);
    }
  }
}

// Σ over all pairs of a symmetric matrix of which the lower half is there.
double sum_of_pairs(const Matrix& lower) {
  double below = 0;
  double diagonal = 0;
  for (Index j = 0; j < lower.cols(); ++j) {
    diagonal += lower(j, j);
    below += lower.col(j).tail(lower.rows() - j - 1).sum();
  }
  return 2 * below + diagonal;
}

}  // namespace

struct FitObjective::Workspace {
  const Points* points = nullptr;
  const Prior* prior = nullptr;
  Vector targets;
  std::vector<double> at;

  std::vector<double> levels;      // Fidelities, each once.
  std::vector<std::size_t> level;  // Of each point.

  // Of these only the lower halves are there.
  Matrix q;        // Inner products of scaled, centred points.
  Matrix shape;    // M + P
  Matrix slope;    // (5/3)(1 + √5 r) e^{−√5 r}: −∂M/∂r / r.
  Matrix lengths;  // F
  Matrix factor;
  Matrix inverse_factor;
  Matrix residual;  // Q = K⁻¹ − ααᵀ
  Matrix some;

  Matrix scaled;  // Features × points.
  Vector norms;
  Vector weights;  // α
  Matrix kappa;    // Per pair of levels.
  Matrix kappa_slope;
  Eigen::ArrayXd column;

  [[nodiscard]] Index size() const { return index(points->size()); }
  [[nodiscard]] Index features() const { return index(points->features); }
  [[nodiscard]] double other(Kernel::Other which) const { return std::exp(at[points->features + which]); }
  // fᵢ(level of point i, level of point j), summed over pairs of Q ∘ shape.
  [[nodiscard]] double sum_by_levels(const Matrix& table, const Matrix& pairs) const {
    double sum = 0;
    for (Index j = 0; j < size(); ++j) {
      double below = 0;
      for (Index i = j + 1; i < size(); ++i) {
        below += pairs(i, j) *
                 table(index(level[static_cast<std::size_t>(i)]), index(level[static_cast<std::size_t>(j)]));
      }
      const Index own = index(level[static_cast<std::size_t>(j)]);
      sum += 2 * below + pairs(j, j) * table(own, own);
    }
    return sum;
  }
};

FitObjective::FitObjective() : work_(std::make_unique<Workspace>()) {
}
FitObjective::~FitObjective() = default;

void FitObjective::explain(const Points& points, std::span<const double> targets, const Prior& prior) {
  HPSEARCH_CHECK(points.size() == targets.size() && points.size() > 0, "a target for each point");
  Workspace& work = *work_;
  work.points = &points;
  work.prior = &prior;
  work.targets = Eigen::Map<const Vector>(targets.data(), index(targets.size()));
  work.levels.clear();
  work.level.clear();
  for (const double s : points.fidelity) {
    const auto found = std::find(work.levels.begin(), work.levels.end(), s);
    work.level.push_back(static_cast<std::size_t>(found - work.levels.begin()));
    if (found == work.levels.end()) {
      work.levels.push_back(s);
    }
  }
  const Index n = work.size();
  for (Matrix* matrix : {&work.q, &work.shape, &work.slope, &work.lengths, &work.factor, &work.inverse_factor,
                         &work.residual, &work.some}) {
    matrix->resize(n, n);
  }
  work.scaled.resize(work.features(), n);
  work.column.resize(n);
  work.kappa.resize(index(work.levels.size()), index(work.levels.size()));
  work.kappa_slope.resizeLike(work.kappa);
}

double FitObjective::value(std::span<const double> theta) {
  Workspace& work = *work_;
  work.at.assign(theta.begin(), theta.end());
  const Index n = work.size();
  const Index features = work.features();
  const Kernel kernel(theta);

  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < features; ++j) {
      work.scaled(j, i) = (work.points->x[static_cast<std::size_t>(i * features + j)] - 0.5) *
                          kernel.inverse_scales()[static_cast<std::size_t>(j)];
    }
  }
  work.q.triangularView<Eigen::Lower>() = work.scaled.transpose() * work.scaled;
  work.norms = work.q.diagonal();

  const double fidelity_scale = work.other(Kernel::fidelity_scale);
  const double specific = work.other(Kernel::specific);
  const double shared = work.other(Kernel::shared);
  const double trend = kernel.trend_variance();
  for (std::size_t a = 0; a < work.levels.size(); ++a) {
    for (std::size_t b = 0; b < work.levels.size(); ++b) {
      const double u = std::abs(work.levels[a] - work.levels[b]) / fidelity_scale;
      work.kappa(index(a), index(b)) = matern(u);
      work.kappa_slope(index(a), index(b)) =
          5.0 / 3 * u * u * (1 + std::sqrt(5.0) * u) * std::exp(-std::sqrt(5.0) * u);
    }
  }
  for (Index j = 0; j < n; ++j) {
    const Index below = n - j;
    auto r = work.column.head(below);
    const auto q = work.q.col(j).tail(below).array();
    r = std::sqrt(5.0) * (work.norms.tail(below).array() + work.norms(j) - 2 * q).max(1e-14).sqrt();
    auto slope = work.slope.col(j).tail(below).array();
    slope = (-r).exp();
    work.shape.col(j).tail(below).array() = (1 + r + r * r / 3) * slope + trend * (q + q * q);
    slope *= 5.0 / 3 * (1 + r);
    const std::size_t own = work.level[static_cast<std::size_t>(j)];
    for (Index i = j; i < n; ++i) {
      const std::size_t other = work.level[static_cast<std::size_t>(i)];
      work.lengths(i, j) = shared + specific * work.kappa(index(other), index(own));
      work.factor(i, j) =
          work.shape(i, j) * work.lengths(i, j) + kernel.curve_part(work.levels[other], work.levels[own]);
    }
    work.factor(j, j) += kernel.noise_variance();
  }
  const Eigen::LLT<Eigen::Ref<Matrix>> cholesky(work.factor);  // In place.
  if (cholesky.info() != Eigen::Success) {
    return impossible;
  }
  work.weights = work.targets;
  cholesky.solveInPlace(work.weights);
  double value = work.targets.dot(work.weights) / 2 + work.factor.diagonal().array().log().sum();
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const double off = (theta[i] - work.prior->mean[i]) / work.prior->deviation[i];
    value += off * off / 2;
  }
  return value - value == 0 ? value : impossible;
}

void FitObjective::gradient(std::span<double> out) {
  Workspace& work = *work_;
  const Index n = work.size();
  const Index features = work.features();
  const Kernel kernel(work.at);
  invert(work.factor, work.inverse_factor, work.residual);
  for (Index j = 0; j < n; ++j) {
    work.residual.col(j).tail(n - j) -= work.weights(j) * work.weights.tail(n - j);
  }
  const auto lower_product = [&](Matrix& into, const Matrix& with) {
    for (Index j = 0; j < n; ++j) {
      into.col(j).tail(n - j) = work.residual.col(j).tail(n - j).cwiseProduct(with.col(j).tail(n - j));
    }
  };

  // Length scales: Σ C_ik (c_ij − c_kj)² = 2 (Σ_i c_ij² (C1)_i − c_jᵀ C c_j), without n × n × p work.
  const Matrix points = work.scaled.transpose();
  lower_product(work.some, work.lengths);
  Matrix pairs = Matrix::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    pairs.col(j).tail(n - j) = work.some.col(j).tail(n - j).cwiseProduct(work.slope.col(j).tail(n - j));
  }
  const Vector rows = pairs.selfadjointView<Eigen::Lower>() * Vector::Ones(n);
  const Matrix near = pairs.selfadjointView<Eigen::Lower>() * points;
  for (Index j = 0; j < n; ++j) {
    const auto q = work.q.col(j).tail(n - j).array();
    pairs.col(j).tail(n - j).array() = work.some.col(j).tail(n - j).array() * (1 + 2 * q);
  }
  const Matrix along = pairs.selfadjointView<Eigen::Lower>() * points;
  const double trend = kernel.trend_variance();
  for (Index j = 0; j < features; ++j) {
    const auto c = points.col(j).array();
    out[static_cast<std::size_t>(j)] = (c * c * rows.array()).sum() - (c * near.col(j).array()).sum() -
                                       trend * (c * along.col(j).array()).sum();
  }
  const auto other = [&](Kernel::Other which) -> double& {
    return out[static_cast<std::size_t>(features) + which];
  };
  // F P: the trend's part of Q ∘ F ∘ (M + P).
  for (Index j = 0; j < n; ++j) {
    const auto q = work.q.col(j).tail(n - j).array();
    pairs.col(j).tail(n - j).array() = work.some.col(j).tail(n - j).array() * (q + q * q);
  }
  other(Kernel::trend) = trend * sum_of_pairs(pairs) / 2;

  lower_product(pairs, work.shape);
  const double specific = work.other(Kernel::specific);
  other(Kernel::shared) = work.other(Kernel::shared) * sum_of_pairs(pairs) / 2;
  other(Kernel::specific) = specific * work.sum_by_levels(work.kappa, pairs) / 2;
  other(Kernel::fidelity_scale) = specific * work.sum_by_levels(work.kappa_slope, pairs) / 2;

  Matrix curve(work.kappa.rows(), work.kappa.cols());
  for (std::size_t a = 0; a < work.levels.size(); ++a) {
    for (std::size_t b = 0; b < work.levels.size(); ++b) {
      curve(index(a), index(b)) = kernel.curve_part(work.levels[a], work.levels[b]);
    }
  }
  other(Kernel::curve) = work.sum_by_levels(curve, work.residual) / 2;
  other(Kernel::noise) = work.other(Kernel::noise) * work.residual.diagonal().sum() / 2;

  for (std::size_t i = 0; i < out.size(); ++i) {
    const double deviation = work.prior->deviation[i];
    out[i] += (work.at[i] - work.prior->mean[i]) / (deviation * deviation);
  }
}

}  // namespace hpsearch::searchers::model
