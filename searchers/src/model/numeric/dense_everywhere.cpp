// Compiled once more by dense_avx2.cpp: so no standard containers here, and nothing else whose templates
// other sources have too.

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <limits>

#include "model/numeric/dense.hpp"

#if !defined(HPSEARCH_DENSE)
#define HPSEARCH_DENSE dense_everywhere
#endif

namespace hpsearch::searchers::model {
namespace {

using Eigen::Index;
using Square = Eigen::Map<Eigen::MatrixXd, Eigen::Unaligned, Eigen::OuterStride<>>;
using ConstSquare = Eigen::Map<const Eigen::MatrixXd, Eigen::Unaligned, Eigen::OuterStride<>>;
using Row = Eigen::Map<Eigen::VectorXd>;
using ConstRow = Eigen::Map<const Eigen::VectorXd>;

constexpr double root_five = 2.23606797749978969641;

Index index(std::size_t number) noexcept {
  return static_cast<Index>(number);
}
Square map(Matrix matrix, Index rows, Index columns) {
  return {matrix.data, rows, columns, Eigen::OuterStride<>(index(matrix.stride))};
}
ConstSquare map(ConstMatrix matrix, Index rows, Index columns) {
  return {matrix.data, rows, columns, Eigen::OuterStride<>(index(matrix.stride))};
}
ConstMatrix reading(Matrix matrix) {
  return {matrix.data, matrix.stride};
}

bool factorise_map(Square& lower) {
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> cholesky(lower);  // In place.
  return cholesky.info() == Eigen::Success;
}

bool factorise(Matrix covariance, std::size_t count) {
  Square lower = map(covariance, index(count), index(count));
  return factorise_map(lower) && lower.diagonal().allFinite();
}

void solve(ConstMatrix factor, std::size_t count, Matrix b, std::size_t columns) {
  Square right = map(b, index(count), index(columns));
  map(factor, index(count), index(count)).triangularView<Eigen::Lower>().solveInPlace(right);
}

void solve_transposed(ConstMatrix factor, std::size_t count, double* b) {
  Row right(b, index(count));
  map(factor, index(count), index(count)).transpose().triangularView<Eigen::Upper>().solveInPlace(right);
}

double squared(const double* vector, std::size_t count) {
  return ConstRow(vector, index(count)).squaredNorm();
}

double dot(const double* a, const double* b, std::size_t count) {
  return ConstRow(a, index(count)).dot(ConstRow(b, index(count)));
}

void covariances(const DenseRows& rows, ConstMatrix points, const double* point_norms, Matrix out,
                 std::size_t points_count) {
  const Index count = index(rows.count);
  Square covariance = map(out, count, index(points_count));
  covariance.noalias() = map(rows.scaled, index(rows.features), count).transpose() *
                         map(points, index(rows.features), index(points_count));
  const auto norms = ConstRow(rows.norms, count).array();
  const auto factors = ConstRow(rows.length_factors, count).array();
  const auto curves = ConstRow(rows.curve_parts, count).array();
  constexpr Index piece = 64;  // The part of a column that stays in the fastest memory.
  double room[piece];
  for (Index j = 0; j < covariance.cols(); ++j) {
    const double norm = point_norms[j];
    for (Index from = 0; from < count; from += piece) {
      const Index many = std::min(piece, count - from);
      auto q = covariance.col(j).segment(from, many).array();
      auto r = Row(room, many).array();
      r = root_five * (norms.segment(from, many) + norm - 2 * q).max(1e-14).sqrt();
      q = ((1 + r + r * r / 3) * (-r).exp() + rows.trend * (q + q * q)) * factors.segment(from, many) +
          curves.segment(from, many);
    }
  }
}

void glance(ConstMatrix covariance, std::size_t count, std::size_t columns, const double* diagonal,
            const double* weights, std::size_t weighted, double* means, double* explained) {
  const ConstSquare all = map(covariance, index(count), index(columns));
  const ConstRow own(diagonal, index(count));
  const ConstRow alpha(weights, index(weighted));
  for (Index j = 0; j < all.cols(); ++j) {
    explained[j] = (all.col(j).array().square() / own.array()).maxCoeff();
    means[j] = all.col(j).head(alpha.size()).dot(alpha);
  }
}

double fit_value(const DenseFit& fit) {
  const Index n = index(fit.count);
  const ConstSquare points = map(fit.scaled, n, index(fit.features));
  Square q = map(fit.q, n, n);
  Square shape = map(fit.shape, n, n);
  Square slope = map(fit.slope, n, n);
  Square factor = map(fit.factor, n, n);
  Row norms(fit.norms, n);
  Row weights(fit.weights, n);
  Row room(fit.some, n);

  q.noalias() = points * points.transpose();
  norms = q.diagonal();
  Index own = 0;
  for (Index j = 0; j < n; ++j) {
    while (index(fit.level_ends[own]) <= j) {
      ++own;
    }
    const Index below = n - j;
    const auto inner = q.col(j).tail(below).array();
    auto r = room.head(below).array();
    auto decay = slope.col(j).tail(below).array();
    r = root_five * (norms.tail(below).array() + norms(j) - 2 * inner).max(1e-14).sqrt();
    decay = (-r).exp();
    shape.col(j).tail(below).array() = (1 + r + r * r / 3) * decay + fit.trend * (inner + inner * inner);
    decay *= 5.0 / 3 * (1 + r);
    Index from = j;
    for (Index level = own; from < n; ++level) {
      const Index end = index(fit.level_ends[level]);
      const double length_factor = fit.shared + fit.specific * fit.kappa[own * index(fit.levels) + level];
      factor.col(j).segment(from, end - from).array() =
          shape.col(j).segment(from, end - from).array() * length_factor +
          fit.curve[own * index(fit.levels) + level];
      from = end;
    }
    factor(j, j) += fit.noise;
  }
  if (!factorise_map(factor)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const ConstRow targets(fit.targets, n);
  weights = targets;
  const auto triangle = factor.triangularView<Eigen::Lower>();
  triangle.solveInPlace(weights);
  const double explained = weights.squaredNorm() / 2;
  triangle.transpose().solveInPlace(weights);
  return explained + factor.diagonal().array().log().sum();
}

// The lower half of K⁻¹ from the Cholesky factor, a third of the work of solving for unit vectors.
void invert(const Square& factor, Square& inverse_factor, Square& inverse) {
  const Index n = factor.rows();
  constexpr Index width = 24;
  inverse_factor.setZero();
  for (Index j = 0; j < n; j += width) {
    const Index block = std::min(width, n - j);
    auto columns = inverse_factor.block(j, j, n - j, block);
    columns.topRows(block).setIdentity();
    factor.bottomRightCorner(n - j, n - j).triangularView<Eigen::Lower>().solveInPlace(columns);
  }
  for (Index j = 0; j < n; j += width) {
    const Index block = std::min(width, n - j);
    inverse.block(j, j, n - j, block).noalias() =
        inverse_factor.block(j, j, n - j, n - j).transpose() * inverse_factor.block(j, j, n - j, block);
  }
}

void fit_slopes(const DenseFit& fit, DenseSlopes& slopes) {
  const Index n = index(fit.count);
  const Index features = index(fit.features);
  const ConstSquare points = map(fit.scaled, n, features);
  const ConstSquare q = map(reading(fit.q), n, n);
  const ConstSquare shape = map(reading(fit.shape), n, n);
  const ConstSquare slope = map(reading(fit.slope), n, n);
  const Square factor = map(fit.factor, n, n);
  Square pairs = map(fit.inverse_factor, n, n);  // L⁻¹, and then what the length scales' sums are over.
  Square residual = map(fit.residual, n, n);
  const ConstRow weights(fit.weights, n);
  Row sums(fit.sums, n);
  Row room(fit.some, n);
  invert(factor, pairs, residual);

  // Length scales: Σ C_ik (c_ij − c_kj)² = 2 (Σ_i c_ij² (C1)_i − c_jᵀ C c_j), without n × n × p work. The
  // trend's sum is of the second form too, so both are one product.
  sums.setZero();
  double shared = 0;
  double specific = 0;
  double fidelity_scale = 0;
  double curve = 0;
  double trend = 0;
  double noise = 0;
  Index own = 0;
  for (Index j = 0; j < n; ++j) {
    while (index(fit.level_ends[own]) <= j) {
      ++own;
    }
    residual.col(j).tail(n - j) -= weights(j) * weights.tail(n - j);
    const auto table = own * index(fit.levels);
    const auto length_factor = [&](Index level) {
      return fit.shared + fit.specific * fit.kappa[table + level];
    };
    {  // Its own pair counts once, every other twice.
      const double here = residual(j, j);
      const double inner = q(j, j);
      noise += here;
      curve += here * fit.curve[table + own];
      const double shaped = here * shape(j, j);
      shared += shaped;
      specific += shaped * fit.kappa[table + own];
      trend += here * length_factor(own) * (inner + inner * inner);
      pairs(j, j) = fit.trend * here * length_factor(own) * (1 + 2 * inner);
    }
    Index from = j + 1;
    for (Index level = own; from < n; ++level) {
      const Index many = index(fit.level_ends[level]) - from;
      const auto here = residual.col(j).segment(from, many).array();
      const auto inner = q.col(j).segment(from, many).array();
      const double shaped = (here * shape.col(j).segment(from, many).array()).sum();
      shared += 2 * shaped;
      specific += 2 * shaped * fit.kappa[table + level];
      fidelity_scale += 2 * shaped * fit.kappa_slope[table + level];
      curve += 2 * here.sum() * fit.curve[table + level];
      trend += 2 * length_factor(level) * (here * (inner + inner * inner)).sum();
      auto near = room.segment(from, many).array();
      near = length_factor(level) * here * slope.col(j).segment(from, many).array();
      sums.segment(from, many).array() += near;
      sums(j) += near.sum();
      pairs.col(j).segment(from, many).array() =
          near + fit.trend * length_factor(level) * here * (1 + 2 * inner);
      from += many;
    }
  }
  Square product = map(fit.product, n, features);
  product.noalias() = pairs.selfadjointView<Eigen::Lower>() * points;
  for (Index j = 0; j < features; ++j) {
    const auto c = points.col(j).array();
    slopes.scales[j] = (c * c * sums.array()).sum() - (c * product.col(j).array()).sum();
  }
  slopes.shared = fit.shared * shared / 2;
  slopes.specific = fit.specific * specific / 2;
  slopes.fidelity_scale = fit.specific * fidelity_scale / 2;
  slopes.curve = curve / 2;
  slopes.noise = noise / 2;
  slopes.trend = fit.trend * trend / 2;
}

}  // namespace

#define HPSEARCH_TEXT_OF(name) #name
#define HPSEARCH_NAME_OF(name) HPSEARCH_TEXT_OF(name)
constexpr Dense HPSEARCH_DENSE = {HPSEARCH_NAME_OF(HPSEARCH_DENSE),
                                  factorise,
                                  solve,
                                  solve_transposed,
                                  squared,
                                  dot,
                                  covariances,
                                  glance,
                                  fit_value,
                                  fit_slopes};

}  // namespace hpsearch::searchers::model
