#pragma once

#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

/// How long a trial runs until that was of use: to its end, or to its next checkpoint if its experiment has
/// saved any.
struct TimeNeeded {
  std::optional<Duration> time;  ///< Nothing: nothing is known.
  std::uint64_t attempts = 0;    ///< Measured on so many; 0: resources.time_request.

  /// On workers that last for `whole`.
  [[nodiscard]] Duration on(Duration whole) const noexcept {
    return time.value_or(Duration::micros(whole.in_micros() / 10));
  }
};

/// What the attempts of an experiment took, as far as it is known now.
class TimeEstimate {
 public:
  explicit TimeEstimate(const ExperimentRecord& record);
  /// For a trial that still has to train `units`.
  [[nodiscard]] TimeNeeded needed_for(Units units) const;

 private:
  std::optional<Duration> request_;
  std::uint64_t attempts_;
  double start_;
  double unit_;
  std::optional<double> stride_;
};

/// The units that the trial still has to train up to `length`.
[[nodiscard]] Units units_left(const TrialRecord& trial, Units length) noexcept;

/// So many trials that wait are looked at for one that is short enough.
inline constexpr std::size_t most_looked_at = 64;

/// The least that the trials that wait, and the next one of the searcher, have to train; nothing: there is
/// none.
[[nodiscard]] std::optional<Units> least_units_left(const ExperimentRecord& record);

/// The time that the worker needs for a trial that needs so much.
[[nodiscard]] Duration time_on(const WorkerRecord& worker, const TimeNeeded& needed) noexcept;

/// The worker lasts long enough for that.
[[nodiscard]] bool lasts(const WorkerRecord& worker, const TimeNeeded& needed, Instant now) noexcept;

}  // namespace hpsearch::engine
