#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

namespace hpsearch::engine {

enum class Goal : std::uint8_t { minimize, maximize };

/// A metric as searchers rank it: smaller is always better. The sign is turned once, at this door.
///
/// A metric that is missing, NaN or infinite becomes `worst()`, whichever the goal: it ranks behind every
/// number and moves no cut-off for others (spec: searchers, "NaN and infinities").
class Score {
 public:
  [[nodiscard]] static constexpr Score worst() noexcept {
    return Score(std::numeric_limits<double>::infinity());
  }
  [[nodiscard]] static constexpr Score from_metric(std::optional<double> metric, Goal goal) noexcept {
    if (!metric || !(*metric - *metric == 0.0)) {  // Infinities and NaN minus themselves are NaN.
      return worst();
    }
    return Score(goal == Goal::minimize ? *metric : -*metric);
  }

  [[nodiscard]] constexpr bool is_worst() const noexcept {
    return value_ == std::numeric_limits<double>::infinity();
  }

  /// The metric this score was made from; nothing for `worst()`.
  [[nodiscard]] constexpr std::optional<double> metric(Goal goal) const noexcept {
    if (is_worst()) {
      return std::nullopt;
    }
    return goal == Goal::minimize ? value_ : -value_;
  }

  friend constexpr bool operator==(Score a, Score b) noexcept { return a.value_ == b.value_; }
  friend constexpr bool operator<(Score a, Score b) noexcept {
    return a.value_ < b.value_;
  }  ///< a is better.
  friend constexpr bool operator>(Score a, Score b) noexcept { return b < a; }
  friend constexpr bool operator<=(Score a, Score b) noexcept { return !(b < a); }
  friend constexpr bool operator>=(Score a, Score b) noexcept { return !(a < b); }

 private:
  constexpr explicit Score(double value) noexcept : value_(value) {}
  double value_;
};

}  // namespace hpsearch::engine
