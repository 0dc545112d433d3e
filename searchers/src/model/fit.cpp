#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/check.hpp"
#include "model/numeric/dense.hpp"
#include "room.hpp"

namespace hpsearch::searchers::model {

namespace {

constexpr double impossible = 1e100;

}  // namespace

struct FitObjective::Workspace {
  const Prior* prior = nullptr;
  std::size_t features = 0;
  std::vector<double> at;

  // Rows in the order of their levels: whatever depends on two lengths alone is then one number per block.
  Numbers x;  // Rows × features.
  Numbers targets;
  std::vector<double> levels;  // Fidelities, each once.
  std::vector<std::size_t> level_ends;

  Room scaled;  // Rows × features.
  Numbers kappa;
  Numbers kappa_slope;
  Numbers curve;
  Room q;
  Room shape;
  Room slope;
  Room factor;
  Room inverse_factor;
  Room residual;
  Room product;
  Numbers norms;
  Numbers weights;
  Numbers sums;
  Numbers some;

  DenseFit fit;

  [[nodiscard]] double other(Kernel::Other which) const { return std::exp(at[features + which]); }
};

FitObjective::FitObjective() : work_(std::make_unique<Workspace>()) {
}
FitObjective::~FitObjective() = default;

void FitObjective::explain(const Points& points, std::span<const double> targets, const Prior& prior) {
  HPSEARCH_CHECK(points.size() == targets.size() && points.size() > 0, "a target for each point");
  Workspace& work = *work_;
  const std::size_t n = points.size();
  const std::size_t features = points.features;
  work.prior = &prior;
  work.features = features;

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&points](std::size_t a, std::size_t b) {
    return points.fidelity[a] < points.fidelity[b];
  });
  work.x.resize(n * features);
  work.targets.resize(n);
  work.levels.clear();
  work.level_ends.clear();
  for (std::size_t row = 0; row < n; ++row) {
    const std::size_t point = order[row];
    for (std::size_t j = 0; j < features; ++j) {
      work.x[j * n + row] = points.at(point)[j] - 0.5;
    }
    work.targets[row] = targets[point];
    if (work.levels.empty() || work.levels.back() != points.fidelity[point]) {
      work.levels.push_back(points.fidelity[point]);
      work.level_ends.push_back(row);
    }
    work.level_ends.back() = row + 1;
  }

  const std::size_t pairs_of_levels = work.levels.size() * work.levels.size();
  for (Numbers* table : {&work.kappa, &work.kappa_slope, &work.curve}) {
    table->resize(pairs_of_levels);
  }
  for (Room* square :
       {&work.q, &work.shape, &work.slope, &work.factor, &work.inverse_factor, &work.residual}) {
    square->make(n, n);
  }
  work.scaled.make(n, features);
  work.product.make(n, features);
  for (Numbers* vector : {&work.norms, &work.weights, &work.sums, &work.some}) {
    vector->resize(n);
  }
  DenseFit& fit = work.fit;
  fit.count = n;
  fit.features = features;
  fit.levels = work.levels.size();
  fit.level_ends = work.level_ends.data();
  fit.targets = work.targets.data();
  fit.scaled = std::as_const(work.scaled).all();
  fit.kappa = work.kappa.data();
  fit.kappa_slope = work.kappa_slope.data();
  fit.curve = work.curve.data();
  fit.q = work.q.all();
  fit.shape = work.shape.all();
  fit.slope = work.slope.all();
  fit.factor = work.factor.all();
  fit.inverse_factor = work.inverse_factor.all();
  fit.residual = work.residual.all();
  fit.product = work.product.all();
  fit.norms = work.norms.data();
  fit.weights = work.weights.data();
  fit.sums = work.sums.data();
  fit.some = work.some.data();
}

double FitObjective::value(std::span<const double> theta) {
  Workspace& work = *work_;
  work.at.assign(theta.begin(), theta.end());
  const Kernel kernel(theta);
  DenseFit& fit = work.fit;
  for (std::size_t j = 0; j < work.features; ++j) {
    const double inverse_scale = kernel.inverse_scales()[j];
    double* column = work.scaled.column(j);
    for (std::size_t row = 0; row < fit.count; ++row) {
      column[row] = work.x[j * fit.count + row] * inverse_scale;
    }
  }
  fit.shared = work.other(Kernel::shared);
  fit.specific = work.other(Kernel::specific);
  fit.trend = kernel.trend_variance();
  fit.noise = kernel.noise_variance();
  const double fidelity_scale = work.other(Kernel::fidelity_scale);
  for (std::size_t a = 0; a < work.levels.size(); ++a) {
    for (std::size_t b = 0; b < work.levels.size(); ++b) {
      const std::size_t pair = a * work.levels.size() + b;
      const double u = std::abs(work.levels[a] - work.levels[b]) / fidelity_scale;
      work.kappa[pair] = matern(u);
      work.kappa_slope[pair] = 5.0 / 3 * u * u * (1 + std::sqrt(5.0) * u) * std::exp(-std::sqrt(5.0) * u);
      work.curve[pair] = kernel.curve_part(work.levels[a], work.levels[b]);
    }
  }
  double value = dense().fit_value(fit);
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const double off = (theta[i] - work.prior->mean[i]) / work.prior->deviation[i];
    value += off * off / 2;
  }
  return std::isfinite(value) ? value : impossible;
}

void FitObjective::gradient(std::span<double> out) {
  Workspace& work = *work_;
  DenseSlopes slopes;
  slopes.scales = out.data();
  dense().fit_slopes(work.fit, slopes);
  const auto other = [&](Kernel::Other which) -> double& { return out[work.features + which]; };
  other(Kernel::shared) = slopes.shared;
  other(Kernel::specific) = slopes.specific;
  other(Kernel::fidelity_scale) = slopes.fidelity_scale;
  other(Kernel::curve) = slopes.curve;
  other(Kernel::noise) = work.other(Kernel::noise) * slopes.noise;
  other(Kernel::trend) = slopes.trend;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double deviation = work.prior->deviation[i];
    out[i] += (work.at[i] - work.prior->mean[i]) / (deviation * deviation);
  }
}

}  // namespace hpsearch::searchers::model
