#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "model/numeric/kernel.hpp"

namespace hpsearch::searchers::model {

/// The posterior of a Gaussian process after some results: rows, each a configuration at a length with a
/// target. Rows may be appended; believers are rows whose metric is still to come: they take what the model
/// itself expects, so they change no mean and make the model surer there.
///
/// Cost: reset O(m³), append and believe O(m²), set_targets O(m²) for m rows; memory O(m²).
class Posterior {
 public:
  struct Prediction {
    double mean = 0;
    double variance = 0;  ///< The variance of the metric without noise; at least 1e-10.
  };

  Posterior();
  ~Posterior();
  Posterior(const Posterior&) = delete;
  Posterior& operator=(const Posterior&) = delete;

  /// Forgets everything and takes these rows. False when no factor is to be had, whatever is added to the
  /// diagonal; then there is no posterior.
  [[nodiscard]] bool reset(const Kernel& kernel, const Points& rows);
  void append(std::span<const double> x, double s);
  void believe(std::span<const double> x, double s);
  void forget_believers();

  [[nodiscard]] std::size_t rows() const noexcept;  ///< Believers apart.
  /// One for each row. False when they give weights that are no numbers.
  [[nodiscard]] bool set_targets(std::span<const double> targets);

  [[nodiscard]] Prediction predict(std::span<const double> x, double s) const;
  /// The derivative of the distance of x to each row.
  void squared_distances(std::span<const double> x, std::span<double> out) const;

  /// Considers candidates at full length, all at once; fills what is known before any triangular solve:
  /// means, and the variances given the single most informative row, which are upper bounds.
  void consider(const Points& candidates, std::vector<double>& means, std::vector<double>& bounds);
  /// Exact variances of some of the candidates considered last.
  void variances(std::span<const std::size_t> which, std::span<double> out);

  /// Values of the kernel computed so far, for who wants to know what a proposal costs.
  [[nodiscard]] std::uint64_t kernel_values() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hpsearch::searchers::model
