#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/sim/curves.hpp"

namespace hpsearch::engine::sim {

/// Recorded learning curves: what was measured of which trial, or of which configuration, after how much
/// training.
///
/// Trials of the simulation take the curve of their own number or, in a table of configurations, that of
/// their own hyperparameters. Between two recorded lengths the value of the shorter one holds, after the last
/// one the last, before the first one NaN: nothing had been measured. Time runs evenly between recorded
/// lengths, and after the last one at the curve's mean rate.
class CurveTable final : public Curves {
 public:
  struct Point {
    std::uint64_t trial = 0;
    Units length{};
    double metric = 0;
    std::optional<double> seconds;  ///< Time of training up to `length`, from the trial's start.
  };

  /// The treatment of a trial whose number no curve has.
  enum class Missing : std::uint8_t {
    refuse,  ///< The simulation ends with an error that names it.
    cycle,   ///< Trial n takes the one at place n mod (number of curves), in order of their numbers.
  };

  /// bad_request: a trial's length that stands twice, times for some points only, or a time that is
  /// negative or runs backwards.
  [[nodiscard]] static Result<std::unique_ptr<CurveTable>> from_points(std::vector<Point> points,
                                                                       Missing missing);

  /// Reads comma-separated values with a header that names the columns trial, length, metric and, optionally,
  /// seconds, in any order; other columns are ignored. Instead of trial it may have a column "hparams.NAME"
  /// for each hyperparameter that tells curves apart, as `hpsearch export` names them; numbers are compared
  /// as numbers. A metric may be nan, inf, -inf or empty (nan). A cell may stand in double quotes (RFC 4180),
  /// but not on several lines. bad_request: "line 3: …".
  [[nodiscard]] static Result<std::unique_ptr<CurveTable>> parse(std::string_view csv, Missing missing);

  [[nodiscard]] Status covers(const Training& training) override;
  [[nodiscard]] double metric(const Training& training, Units length) override;
  [[nodiscard]] bool has_times() const noexcept override { return has_times_; }
  [[nodiscard]] double seconds(const Training& training, Units from, Units to) override;

 private:
  using Curve = std::vector<Point>;  // Ascending lengths.
  CurveTable() = default;
  [[nodiscard]] const Curve* curve_of(const Training& training) const;
  [[nodiscard]] const Curve* curve_of(std::uint64_t trial) const;
  [[nodiscard]] static double seconds_until(const Curve& curve, Units length);

  std::vector<Curve> curves_;       // By trial number, or in the order of by_configuration_'s numbers.
  std::vector<std::string> names_;  // Names of the hyperparameters that select a curve; none: the trial does.
  std::map<std::vector<std::string>, std::uint64_t> by_configuration_;  // Their values → trial number.
  Missing missing_ = Missing::refuse;
  bool has_times_ = false;
};

}  // namespace hpsearch::engine::sim
