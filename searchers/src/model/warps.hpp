#pragma once

#include <cstdint>
#include <span>

namespace hpsearch::searchers::model {

/// How goal scores become targets of the model. Each is good at one end of a search, the first early, the
/// second late; a mixture of both is never the worst.
enum class WarpKind : std::uint8_t {
  win,     ///< Cut off as far below the median as twice the best is above it: resolves the best.
  copula,  ///< Normal scores of the ranks: blind to the metric's scale.
};

/// Goal scores (larger is better) to targets of mean 0 and deviation 1. Affine changes of the metric change
/// no target; for `copula` no monotone ones do.
class Warp {
 public:
  /// `ascending` are all finite goal scores so far; it is kept by reference. Beyond a thousand, mean and
  /// deviation are those of a thousand of them, evenly spaced in rank. O(1000 log n).
  Warp(WarpKind kind, std::span<const double> ascending);

  /// The target of one of these scores. O(log n).
  [[nodiscard]] double target(double goal_score) const;
  /// The target of a failed trial: below all others or three deviations below the mean, whichever is higher.
  /// A region where trials fail is avoided, and one failure does not stretch the scale.
  [[nodiscard]] WarpKind kind() const noexcept { return kind_; }
  [[nodiscard]] double failed() const noexcept { return failed_; }
  [[nodiscard]] double best() const noexcept { return best_; }  ///< The highest target.

  /// A target as the goal score it stands for; only for `win`, whose targets are linear in the score where it
  /// matters.
  [[nodiscard]] double score_of(double target) const noexcept {
    return middle_ + (target * deviation_ + mean_) * scale_;
  }
  [[nodiscard]] double score_width_of(double targets) const noexcept { return targets * deviation_ * scale_; }

 private:
  [[nodiscard]] double placed(double goal_score) const noexcept;
  [[nodiscard]] double warped(double goal_score) const;

  WarpKind kind_;
  std::span<const double> ascending_;
  double floor_ = 0;
  double middle_ = 0;
  double scale_ = 1;  // A power of two: metrics of 1e300 would overflow their variance.
  double mean_ = 0;
  double deviation_ = 1;
  double failed_ = -3;
  double best_ = -3;
};

}  // namespace hpsearch::searchers::model
