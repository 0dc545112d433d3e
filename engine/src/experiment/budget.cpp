#include "experiment/budget.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hpsearch/engine/base/quoted.hpp"

namespace hpsearch::engine {
namespace {

// More is as good as no limit: 100,000 years of a slot.
constexpr double most_hours = 1e9;
// Clocks can wait for no more than some hundred years.
constexpr std::int64_t longest_wait = 1'000'000'000'000'000;

/// At least one: a budget is above 0, and is not used up before anything has run.
std::int64_t micros_of_hours(double hours) {
  return std::max(std::int64_t{1},
                  static_cast<std::int64_t>(std::llround(std::min(hours, most_hours) * 3'600e6)));
}

std::optional<Instant> end_of_max_time(const ExperimentRecord& record, const BudgetConfig& budget) {
  const std::optional<Duration>& max_time = budget.max_time;
  return max_time && record.first_lease_at != Instant{}
             ? std::optional(record.first_lease_at + record.uncounted + *max_time)
             : std::nullopt;
}

}  // namespace

std::optional<std::string> spent_budget(const ExperimentRecord& record, Instant now) {
  return spent_of(record.config.budget, record, now);
}

std::optional<std::string> spent_of(const BudgetConfig& budget, const ExperimentRecord& record, Instant now) {
  if (budget.target && record.best) {
    const double best = record.trials[record.best->number()].best->metric;
    if (record.config.searcher.smaller_is_better ? best <= *budget.target : best >= *budget.target) {
      return "trial " + std::to_string(record.best->number()) + " reached budget.target with " +
             record.config.searcher.metric + " " + quoted(Value(best));
    }
  }
  if (budget.max_failed_trials) {
    const std::uint64_t failed = record.by_state[static_cast<std::size_t>(TrialState::failed)];
    if (failed >= *budget.max_failed_trials) {
      return std::to_string(failed) + (failed == 1 ? " trial has" : " trials have") +
             " failed (budget.max_failed_trials " + std::to_string(*budget.max_failed_trials) + ")";
    }
  }
  if (budget.max_slot_hours &&
      record.slot_time.until(now).in_micros() >= micros_of_hours(*budget.max_slot_hours)) {
    return "budget.max_slot_hours " + quoted(Value(*budget.max_slot_hours)) + " is used up";
  }
  if (const auto end = end_of_max_time(record, budget); end && now >= *end) {
    return "budget.max_time of " + quoted(Value(budget.max_time->in_seconds())) + " s is over";
  }
  return std::nullopt;
}

std::optional<Instant> next_deadline(const ExperimentRecord& record) {
  const BudgetConfig& budget = record.config.budget;
  std::optional<Instant> deadline = end_of_max_time(record, budget);
  if (budget.max_slot_hours && record.slot_time.slots() > 0) {
    const std::int64_t slots = record.slot_time.slots();
    const std::int64_t left =
        std::max<std::int64_t>(0, micros_of_hours(*budget.max_slot_hours) -
                                      record.slot_time.until(record.slot_time.since()).in_micros());
    if (const std::int64_t wait = (left + slots - 1) / slots; wait <= longest_wait) {
      const Instant at = record.slot_time.since() + Duration::micros(wait);
      deadline = deadline ? std::min(*deadline, at) : at;
    }
  }
  return deadline;
}

}  // namespace hpsearch::engine
