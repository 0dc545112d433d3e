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

/// A value of a metric in a report.
struct CurveValue {
  engine::AttemptNumber attempt;
  engine::Units step{};
  engine::Instant at;
  double value = 0;  ///< May be NaN or infinite.
};

/// One trial's learning curve, as it was reported, and what happened to the trial.
struct Curve {
  struct Event {
    engine::Units step{};  ///< How far it was.
    engine::Instant at;
    std::string_view what;  ///< "promoted", "paused", "stopped", "restarted" or "finished".
  };
  engine::TrialNumber trial;
  engine::TrialState state = engine::TrialState::pending;
  double rung = 0;                 ///< Longest length of a rung that it reached, from 0; NaN for none.
  std::vector<CurveValue> values;  ///< In the order of (attempt, report).
  std::vector<Event> events;
};

/// Curves of an experiment at about one moment.
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

/// The trials whose curves are shown if nobody names any: the best 20, those that run, and of the others some
/// of each rung, `count` in all. In order of their numbers, the same each time. O(trials log trials).
[[nodiscard]] std::vector<engine::TrialNumber> shown_trials(const engine::ExperimentRecord& experiment,
                                                            std::size_t count = 60);

/// Of several values at one step, the one of the latest attempt. In order of steps.
[[nodiscard]] std::vector<CurveValue> joined(std::vector<CurveValue> values);

/// What the events of a trial, in order, say on a curve.
[[nodiscard]] std::vector<Curve::Event> curve_events(const std::vector<engine::Event>& history);

/// metric, group, unit, lsn, trials [{trial, rung, state, step, time, min, max, last, nonfinite [[step,
/// "nan"]], events [{step, time, what}]}], rungs [{bracket, rung, length, cut_off}]. A curve of more than
/// `points` values is cut into as many parts of equal length: each has the least, the greatest and the last
/// finite value.
[[nodiscard]] std::string to_json(const Curves& curves, std::size_t points);

/// How many values of all trials lie where: steps × values.
class CurveDensity {
 public:
  /// `range`: of the values that are counted apart; nothing: from their 1 % to their 99 % quantile.
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
