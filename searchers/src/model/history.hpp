#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"

namespace hpsearch::searchers::model {

/// The events of a search in order: which configurations train and their results.
///
/// Cost: O(log n) per call that hears; memory O(axes) per trial and O(1) per result.
class History {
 public:
  struct Result {
    engine::TrialNumber trial;
    engine::Units length{};
    double goal_score = 0;  ///< Larger is better; not finite when the trial failed there.
  };
  struct Pending {
    engine::TrialNumber trial;
    engine::Units target{};
  };

  explicit History(std::size_t axes) : axes_(axes) {}

  /// A training of an earlier search. It has the next number, as a trial has, but was not started here.
  void earlier(std::span<const double> place);
  /// The number of the newest one.
  void earlier_result(engine::Units length, double goal_score);
  /// The next trial. `fingerprint`: of its place.
  void created(std::span<const double> place, std::uint64_t fingerprint, engine::Units target);
  void promoted(engine::TrialNumber trial, engine::Units target);
  // For a trial that does not train, these change nothing.
  void result(engine::TrialNumber trial, engine::Units length, double goal_score);
  void failed(engine::TrialNumber trial);
  void gone(engine::TrialNumber trial);
  /// It is none of the best any more, also when it does not train; its results stay.
  void invalid(engine::TrialNumber trial);

  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }  ///< Changes with every change.
  [[nodiscard]] const std::vector<Result>& results() const noexcept { return results_; }
  [[nodiscard]] const std::vector<Pending>& pending() const noexcept { return pending_; }
  [[nodiscard]] std::size_t trials() const noexcept { return latest_.size(); }  ///< Earlier ones included.
  [[nodiscard]] std::span<const double> place(engine::TrialNumber trial) const {
    return std::span(places_).subspan(trial.number() * axes_, axes_);
  }
  [[nodiscard]] bool was_started(std::uint64_t fingerprint) const { return started_.contains(fingerprint); }

  /// Finite goal scores of the first `count` results, ascending; valid until the next call. For all results
  /// O(new ones · log + n), else O(count log count).
  [[nodiscard]] std::span<const double> ascending(std::size_t count) const;

  /// Trials whose latest results are the best, best first; ties go to the older. O(count).
  [[nodiscard]] std::vector<engine::TrialNumber> best(std::size_t count) const;

  /// By trial, its latest goal score among the first `count` results; −∞ where it failed or there is none.
  [[nodiscard]] std::vector<double> latest(std::size_t count) const;

 private:
  static constexpr double none = -std::numeric_limits<double>::infinity();

  [[nodiscard]] bool ends_pending(engine::TrialNumber trial, engine::Units* target);
  void record(engine::TrialNumber trial, engine::Units length, double goal_score);

  std::size_t axes_;
  std::uint64_t version_ = 0;
  std::vector<double> places_;                            // `axes_` numbers per trial.
  std::vector<double> latest_;                            // By trial.
  std::vector<Result> results_;                           // In the order heard.
  std::vector<Pending> pending_;                          // In the order in which they began.
  std::set<std::pair<double, std::uint64_t>> by_latest_;  // Minus the score, trial.
  std::unordered_set<std::uint64_t> started_;             // For looking up only.
  mutable std::vector<double> sorted_;  // Finite scores of the first `sorted_count_` results.
  mutable std::size_t sorted_count_ = 0;
  mutable std::vector<double> prefix_;
};

}  // namespace hpsearch::searchers::model
