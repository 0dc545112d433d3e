#include "hpsearch/searchers/stopping_rules.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/searchers/stopping_policy.hpp"

namespace hpsearch::searchers {

using engine::Reason;
using engine::Score;
using engine::StoppingConfig;
using engine::TrialNumber;
using engine::Units;

namespace {

/// As it is ranked: smaller is better. Nothing: it is no number.
std::optional<double> ranked_value(Score score) {
  return score.metric(engine::Goal::minimize);
}

std::uint64_t tenth_of(Units max_length) noexcept {
  return std::max<std::uint64_t>(engine::count(max_length) / 10, 1);
}

std::uint64_t interval_of(const StoppingConfig& rules, Units max_length) noexcept {
  return rules.every.value_or(tenth_of(max_length));
}

Place place_of(Score score, TrialNumber trial) {
  HPSEARCH_CHECK(trial.number() <= UINT32_MAX, "results of more trials fit in no memory");
  return {score, static_cast<std::uint32_t>(trial.number())};
}

}  // namespace

std::uint64_t StoppingRules::first_length(const StoppingConfig& rules, Units max_length) noexcept {
  return rules.after.value_or(tenth_of(max_length));
}

std::uint64_t StoppingRules::comparisons(const StoppingConfig& rules, Units max_length) noexcept {
  const std::uint64_t first = first_length(rules, max_length);
  if (rules.percent() == 0 || first >= engine::count(max_length)) {
    return 0;
  }
  return (engine::count(max_length) - 1 - first) / interval_of(rules, max_length) + 1;
}

StoppingRules::StoppingRules(const StoppingConfig& rules, Units max_length, engine::Goal goal)
    : rules_(rules),
      goal_(goal),
      after_(first_length(rules, max_length)),
      every_(interval_of(rules, max_length)),
      results_(comparisons(rules, max_length)) {
}

void StoppingRules::on_reported(TrialNumber trial, Units step, Score score) {
  const auto [found, is_new] = courses_.try_emplace(trial);
  Course& course = found->second;
  if (is_new) {
    course.better_at = engine::count(step);
  }
  course.best = std::min(course.best, score);
  note_progress(course, engine::count(step), score);
  course.stop = compared(course, trial, engine::count(step));
  if (!course.stop) {
    course.stop = out_of_patience(course, engine::count(step));
  }
}

void StoppingRules::on_exited(TrialNumber trial, engine::ExitReason reason) {
  const auto found = courses_.find(trial);
  if (found == courses_.end() || reason == engine::ExitReason::errored) {
    return;
  }
  if (reason == engine::ExitReason::invalid_hp) {
    for (const Entry& entry : found->second.entries) {
      results_[entry.comparison].erase(place_of(entry.score, trial));
    }
  }
  courses_.erase(found);
}

void StoppingRules::on_closed(TrialNumber trial) {
  courses_.erase(trial);
}

std::optional<Reason> StoppingRules::early_stop(TrialNumber trial) const {
  const auto found = courses_.find(trial);
  return found != courses_.end() ? found->second.stop : std::nullopt;
}

void StoppingRules::note_progress(Course& course, std::uint64_t step, Score score) const {
  const std::optional<double> value = ranked_value(score);
  const std::optional<double> reference = ranked_value(course.reference);
  if (value && (!reference || *value < *reference - rules_.min_delta)) {
    course.reference = score;
    course.better_at = step;
  }
}

std::optional<Reason> StoppingRules::compared(Course& course, TrialNumber trial, std::uint64_t step) {
  if (results_.empty() || step < after_) {
    return std::nullopt;
  }
  const auto comparison =
      static_cast<std::size_t>(std::min<std::uint64_t>((step - after_) / every_, results_.size() - 1));
  if (!course.entries.empty() && course.entries.back().comparison >= comparison) {
    return std::nullopt;
  }
  RankedList& results = results_[comparison];
  const std::uint64_t others = results.size();
  const std::uint64_t better = results.rank_of({course.best, 0});
  const std::uint64_t keep = others / 100 * rules_.percent() + (others % 100 * rules_.percent() + 99) / 100;
  std::optional<Reason> stop;
  if (others >= rules_.least_trials && better >= keep) {
    stop = because(Reason::Why::worse_than_others);
    stop->rank = better;
    stop->size = others + 1;
    stop->keep = keep;
    stop->cutoff = results.nth(keep - 1).score.metric(goal_);
    stop->detail = std::to_string(rules_.percent());
    stop->at = Units{after_ + comparison * every_};
    stop->value = course.best.metric(goal_);
  }
  results.insert(place_of(course.best, trial));
  course.entries.push_back({comparison, course.best});
  return stop;
}

std::optional<Reason> StoppingRules::out_of_patience(const Course& course, std::uint64_t step) const {
  if (!rules_.patience || step < after_ || step < course.better_at ||
      step - course.better_at < *rules_.patience) {
    return std::nullopt;
  }
  Reason reason = because(Reason::Why::no_improvement);
  reason.detail = std::to_string(*rules_.patience);
  reason.at = Units{course.better_at};
  reason.value = course.reference.metric(goal_);
  if (reason.value) {
    reason.cutoff =
        goal_ == engine::Goal::minimize ? *reason.value - rules_.min_delta : *reason.value + rules_.min_delta;
  }
  return reason;
}

std::optional<StoppingRules> make_stopping_rules(const engine::ExperimentConfig& config) {
  const engine::SearcherConfig& searcher = config.searcher;
  if (!searcher.stopping.stops_trials()) {
    return std::nullopt;
  }
  return StoppingRules(searcher.stopping, searcher.max_length, searcher.goal());
}

}  // namespace hpsearch::searchers
