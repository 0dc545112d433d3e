#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "candidates.hpp"
#include "posterior.hpp"

namespace hpsearch::searchers::model {

/// ln of the mean improvement over `best` of a metric that is expected so.
[[nodiscard]] double log_improvement(const Posterior::Prediction& expected, double best) noexcept;

/// A candidate whose improvement was computed exactly.
struct Pick {
  double score = 0;  ///< ln of its expected improvement.
  Posterior::Prediction expected;
  std::vector<double> place;
};

/// The candidates that promise most, best first.
class Picks {
 public:
  /// Improvements are over `best`.
  explicit Picks(double best) noexcept : best_(best) {}

  /// Takes what is better among these; keeps `keep` in all. The result is that of computing every candidate's
  /// variance; but a triangular solve for each is most of a proposal's cost, and the variance given the
  /// single most informative row bounds the improvement from above: so it goes by the bound, and ends when
  /// no candidate can come in any more. With `prune` false it does compute all.
  void take(Posterior& posterior, const Candidates& candidates, std::size_t keep, bool prune = true);

  [[nodiscard]] const std::vector<Pick>& best_first() const noexcept { return picks_; }
  [[nodiscard]] std::uint64_t computed() const noexcept { return computed_; }  ///< Exact variances so far.

 private:
  double best_;
  std::uint64_t computed_ = 0;
  std::vector<Pick> picks_;
};

}  // namespace hpsearch::searchers::model
