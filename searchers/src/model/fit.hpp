#pragma once

#include <memory>
#include <span>

#include "model/numeric/kernel.hpp"
#include "model/numeric/lbfgs.hpp"

namespace hpsearch::searchers::model {

/// How badly θ explains some targets: minus the logarithm of their probability times that of θ beforehand,
/// constants apart. Buffers stay from fit to fit.
///
/// Cost: O(n³) per value and per gradient.
class FitObjective final : public Objective {
 public:
  FitObjective();
  ~FitObjective() override;

  /// Sets the data to explain; `points` and `prior` are kept by reference until the next call.
  void explain(const Points& points, std::span<const double> targets, const Prior& prior);

  [[nodiscard]] double value(std::span<const double> at) override;
  void gradient(std::span<double> out) override;

 private:
  struct Workspace;
  std::unique_ptr<Workspace> work_;
};

}  // namespace hpsearch::searchers::model
