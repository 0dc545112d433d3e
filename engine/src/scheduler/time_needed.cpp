// How long trials take, by what their experiment measured, and where there is enough time for them.

#include "scheduler/time_needed.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "hpsearch/engine/searcher.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::size_t most_values = 64;
constexpr std::size_t enough_values = 5;

/// The time that the attempt took so far.
void measure(Pace& pace, const LiveAttempt& live) {
  if (!live.first_step || live.first_report_at == Instant{} || live.external) {
    return;
  }
  const double until_first = (live.first_report_at - live.leased_at).in_seconds();
  const double first =
      static_cast<double>(count(*live.first_step)) - static_cast<double>(count(live.began_at));
  const double after =
      static_cast<double>(count(live.reached)) - static_cast<double>(count(*live.first_step));
  const double time_after = (live.last_report_at - live.first_report_at).in_seconds();
  if (after > 0) {
    const double unit = time_after / after;
    pace.units.add(unit);
    pace.starts.add(std::max(0.0, until_first - unit * std::max(0.0, first)));
  } else if (first > 0) {
    pace.units.add(until_first / first);
    pace.starts.add(0);
  }
}

/// With the attempts that run, while few have ended.
Pace pace_of(const ExperimentRecord& record) {
  Pace pace = record.pace;
  for (auto at = record.running.begin(); at != record.running.end() && pace.units.count() < enough_values;
       ++at) {
    if (const auto& live = record.trials[at->number()].live) {
      measure(pace, *live);
    }
  }
  return pace;
}

}  // namespace

void RecentValues::add(double value) {
  if (!std::isfinite(value)) {
    return;
  }
  if (values_.size() < most_values) {
    values_.push_back(value);
  } else {
    values_[oldest_] = value;
    oldest_ = (oldest_ + 1) % most_values;
  }
}

double RecentValues::high() const {
  if (values_.empty()) {
    return 0;
  }
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  return sorted.size() < enough_values ? sorted[sorted.size() / 2] * 1.5
                                       : sorted[(sorted.size() * 9 - 1) / 10];
}

void note_pace(ExperimentRecord& record, const LiveAttempt& live) {
  measure(record.pace, live);
}

TimeEstimate::TimeEstimate(const ExperimentRecord& record) : request_(record.config.resources.time_request) {
  const Pace pace = pace_of(record);
  attempts_ = pace.units.count();
  start_ = pace.starts.high();
  unit_ = pace.units.high();
  if (pace.strides.count() > 0) {
    stride_ = std::max(1.0, pace.strides.high());
  }
}

TimeNeeded TimeEstimate::needed_for(Units units) const {
  if (attempts_ == 0) {
    return {request_};
  }
  constexpr double longest = 1e9;
  const double training = std::min(static_cast<double>(count(units)), stride_.value_or(INFINITY));
  const double seconds = std::min(start_ + training * unit_, longest);
  return {Duration::micros(static_cast<std::int64_t>(seconds * 1e6)), attempts_};
}

Units units_left(const TrialRecord& trial, Units length) noexcept {
  const bool resumes = trial.checkpoints && !trial.checkpoints->latest.empty();
  const Units from = resumes ? trial.checkpoints->latest_step : Units{};
  return length > from ? Units{count(length) - count(from)} : Units{};
}

std::optional<Units> least_units_left(const ExperimentRecord& record) {
  std::optional<Units> least;
  const auto take = [&least](Units units) { least = least ? std::min(*least, units) : units; };
  std::size_t looked_at = 0;
  for (const TrialNumber number : record.pending) {
    const TrialRecord& trial = record.trials[number.number()];
    if (!trial.live && !record.delayed.contains(number)) {
      take(units_left(trial, trial.length));
    }
    if (++looked_at == most_looked_at) {
      break;
    }
  }
  const Next next = record.searcher->next();
  if (const auto* create = std::get_if<CreateTrial>(&next)) {
    take(create->length);
  } else if (const auto* promote = std::get_if<PromoteTrial>(&next)) {
    take(units_left(record.trials[promote->trial.number()], promote->length));
  }
  return least;
}

Duration time_on(const WorkerRecord& worker, const TimeNeeded& needed) noexcept {
  return needed.on(worker.end ? worker.end->at - worker.end->since : Duration{});
}

bool lasts(const WorkerRecord& worker, const TimeNeeded& needed, Instant now) noexcept {
  return !worker.end || now + time_on(worker, needed) <= worker.end->gives_back_at;
}

}  // namespace hpsearch::engine
