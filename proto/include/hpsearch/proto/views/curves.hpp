#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/proto/views/rung_ladder.hpp"

namespace hpsearch::views {

/// A reported value of a metric.
struct CurveValue {
  engine::AttemptNumber attempt;
  engine::Units step{};
  engine::Instant at;
  double value = 0;  ///< May be NaN or infinite.
};

/// The learning curve of one trial, as it was reported, with the trial's events.
struct Curve {
  struct Event {
    engine::Units step{};  ///< The step at that time.
    engine::Instant at;
    std::string_view what;  ///< "promoted", "paused", "stopped", "restarted" or "finished".
  };
  engine::TrialNumber trial;
  engine::TrialState state = engine::TrialState::pending;
  double rung = 0;  ///< The longest length of a rung that the trial reached, from 0; NaN for none.
  std::vector<CurveValue> values;  ///< Ordered by (attempt, report).
  std::vector<Event> events;
};

/// The curves of an experiment, read at nearly the same moment.
struct Curves {
  std::string metric;
  std::string group;
  std::string unit;
  engine::Lsn lsn;
  std::vector<Curve> curves;
  RungLadder ladder;  ///< Without its results.
};

inline constexpr std::size_t most_curves = 200;
inline constexpr std::uint64_t most_curve_points = 2'000;

/// The trials that are shown by default: the best 20, those that run, and some others of each rung,
/// `count` in all. Ordered by number, and the same for each call. O(trials log trials).
[[nodiscard]] std::vector<engine::TrialNumber> shown_trials(const engine::ExperimentRecord& experiment,
                                                            std::size_t count = 60);

/// One value for each step, which is the one of the latest attempt. Ordered by step.
[[nodiscard]] std::vector<CurveValue> joined(std::vector<CurveValue> values);

/// The events of a trial, in order, that a curve shows.
[[nodiscard]] std::vector<Curve::Event> curve_events(const std::vector<engine::Event>& history);

/// metric, group, unit, lsn, trials [{trial, rung, state, step, time, min, max, last, nonfinite [[step,
/// "nan"]], events [{step, time, what}]}], rungs [{bracket, rung, length, cut_off}]. A curve with more than
/// `points` values is divided into as many parts of equal length: each has the least, the greatest and the
/// last finite value.
[[nodiscard]] std::string to_json(const Curves& curves, std::size_t points);

/// Counts the values of all trials in a grid of steps × values.
class CurveDensity {
 public:
  /// `range`: the values of the grid; by default from their 1 % to their 99 % quantile.
  CurveDensity(std::size_t bins, std::optional<std::pair<double, double>> range)
      : bins_(bins), range_(range) {}

  /// All values of one trial.
  void add(std::vector<CurveValue> values);
  /// metric, steps (edges), values (edges), counts (a list of values for each step), below, above, nonfinite,
  /// trials.
  [[nodiscard]] std::string json(const std::string& metric) const;

 private:
  struct Point {
    float step = 0;
    float value = 0;
  };
  std::size_t bins_;
  std::optional<std::pair<double, double>> range_;
  std::vector<Point> points_;
  std::uint64_t nonfinite_ = 0;
  std::uint64_t trials_ = 0;
};

inline constexpr std::uint64_t most_density_bins = 256;

}  // namespace hpsearch::views
