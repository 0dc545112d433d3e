#include "daemon/metrics/event_counts.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

namespace hpsearch::daemon {
namespace {

using engine::ExitReport;

/// In the order of ExitReport::Cause.
constexpr std::array<std::string_view, 8> causes{"exited",          "signaled",       "ended_by_agent",
                                                 "could_not_start", "out_of_memory",  "lost",
                                                 "no_progress",     "checkpoint_gone"};

const engine::Value* member(const engine::Value* value, std::string_view name) {
  return value == nullptr || value->as_map() == nullptr ? nullptr : value->as_map()->find(name);
}

std::string searcher_of(const engine::Value& config) {
  const engine::Value* name = member(member(&config, "searcher"), "name");
  return name == nullptr || name->as_text() == nullptr ? "" : *name->as_text();
}

/// From an effective config: {"epochs": 9}.
std::uint64_t max_length_of(const engine::Value& config) {
  const engine::Value* length = member(member(&config, "searcher"), "max_length");
  const engine::Value::Map* map = length == nullptr ? nullptr : length->as_map();
  if (map == nullptr || map->begin() == map->end()) {
    return 0;
  }
  const std::int64_t* number = map->begin()->second.as_integer();
  return number != nullptr && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

constexpr std::string_view default_pool = "default";

std::string pool_of_config(const engine::Value& config) {
  const engine::Value* name = member(member(&config, "resources"), "resource_pool");
  return name == nullptr || name->as_text() == nullptr || name->as_text()->empty() ? std::string(default_pool)
                                                                                   : *name->as_text();
}

/// Durations of one experiment.
template <class Times>
void forget_all(Times& times, engine::ExperimentId experiment) {
  auto first = times.lower_bound({experiment, engine::TrialNumber(0)});
  while (first != times.end() && first->first.first == experiment) {
    first = times.erase(first);
  }
}

}  // namespace

std::span<const std::string_view> attempt_end_causes() noexcept {
  return causes;
}

void EventCounts::note(const engine::Event& event) {
  std::visit([&](const auto& body) { count(body, event.at); }, event.body);
}

template <class Event>
void EventCounts::count(const Event& event, engine::Instant at) {
  using namespace engine;
  if constexpr (std::is_same_v<Event, ReportTaken>) {
    take(event, at);
  } else if constexpr (std::is_same_v<Event, ExperimentCreated>) {
    create(event);
  } else if constexpr (std::is_same_v<Event, ExperimentEnded>) {
    forget_all(ready_, event.experiment);
    forget_all(leased_, event.experiment);
    forget_all(running_, event.experiment);
  } else if constexpr (std::is_same_v<Event, ExperimentDeleted>) {
    experiments_[event.experiment].trials = {};
    experiments_removed += event.kept_for == Duration{} ? 0U : 1U;
  } else if constexpr (std::is_same_v<Event, LogsRemoved>) {
    ++logs_removed;
  } else if constexpr (std::is_same_v<Event, CurveThinned>) {
    ++curves_thinned;
  } else if constexpr (std::is_same_v<Event, TrialCreated>) {
    ++trials_created;
    begin_wait(event.experiment, event.trial, at);
  } else if constexpr (std::is_same_v<Event, TrialQueued> || std::is_same_v<Event, TrialRetried>) {
    begin_wait(event.experiment, event.trial, at);
  } else if constexpr (std::is_same_v<Event, TrialPromoted>) {
    ++of_searcher(event.experiment).promoted;
    if (!event.in_place) {
      begin_wait(event.experiment, event.trial, at);
    }
  } else if constexpr (std::is_same_v<Event, TrialPaused>) {
    ++of_searcher(event.experiment).paused;
    forget({event.experiment, event.trial});
  } else if constexpr (std::is_same_v<Event, TrialEnded>) {
    ++trials_ended[event.state];
    if (event.state == TrialState::stopped) {
      ++of_searcher(event.experiment).stopped;
      save({event.experiment, event.trial});
    }
    forget({event.experiment, event.trial});
  } else if constexpr (std::is_same_v<Event, LeaseGranted>) {
    const Trial trial{event.experiment, event.trial};
    if (const auto since = ready_.find(trial); since != ready_.end()) {
      pools.try_emplace(std::string(pool_of(event.experiment)))
          .first->second.schedule_wait.add((at - since->second).in_seconds());
      ready_.erase(since);
    }
    std::size_t slots = event.slots.size();
    for (const Place& other : event.others) {
      slots += other.slots.size();
    }
    leased_[trial] = Lease{at, slots};
  } else if constexpr (std::is_same_v<Event, AttemptStarted>) {
    const Trial trial{event.key.experiment, event.key.trial};
    if (const auto since = leased_.find(trial); since != leased_.end()) {
      ++attempts_started;
      lease_to_start.add((at - since->second.at).in_seconds());
      running_[trial] = Lease{at, since->second.slots};
      leased_.erase(since);
    }
  } else if constexpr (std::is_same_v<Event, AttemptAdopted>) {
    running_[{event.key.experiment, event.key.trial}] = Lease{at, event.slots.size()};
  } else if constexpr (std::is_same_v<Event, AttemptLost>) {
    ++attempts_ended["lost"];
    leased_.erase({event.key.experiment, event.key.trial});
    running_.erase({event.key.experiment, event.key.trial});
  } else if constexpr (std::is_same_v<Event, CheckpointsDeleted>) {
    checkpoints_deleted += event.paths.size();
  } else if constexpr (std::is_same_v<Event, ExperimentPaused>) {
    self_pauses += event.reason.empty() ? 0U : 1U;
  } else if constexpr (std::is_same_v<Event, WorkerQuarantined>) {
    ++(event.probation_after == Duration() ? operator_quarantines : failure_quarantines);
  } else if constexpr (std::is_same_v<Event, SlotsQuarantined>) {
    slots_quarantined += event.slots.size();
  } else if constexpr (std::is_same_v<Event, SlotWithdrawn>) {
    ++slots_withdrawn;
  }
}

void EventCounts::create(const engine::ExperimentCreated& event) {
  Experiment& experiment = experiments_[event.experiment];
  experiment.decisions = &decisions[searcher_of(event.config)];
  experiment.pool = &*pools.try_emplace(pool_of_config(event.config)).first;
  experiment.max_length = max_length_of(event.config);
}

std::string_view EventCounts::pool_of(engine::ExperimentId experiment) const {
  const auto found = experiments_.find(experiment);
  return found == experiments_.end() || found->second.pool == nullptr ? default_pool
                                                                      : found->second.pool->first;
}

void EventCounts::measure(const Trial& trial, engine::Units step, engine::Instant at) {
  const auto run = running_.find(trial);
  const auto experiment = experiments_.find(trial.first);
  if (run == running_.end() || experiment == experiments_.end()) {
    return;
  }
  std::vector<Training>& trials = experiment->second.trials;
  if (trials.size() <= trial.second.number()) {
    trials.resize(trial.second.number() + 1);
  }
  Training& training = trials[trial.second.number()];
  training.slot_seconds += (at - run->second.at).in_seconds() * static_cast<double>(run->second.slots);
  training.reached = std::max(training.reached, engine::count(step));
  run->second.at = at;
}

void EventCounts::save(const Trial& trial) {
  const auto found = experiments_.find(trial.first);
  if (found == experiments_.end() || trial.second.number() >= found->second.trials.size()) {
    return;
  }
  const Experiment& experiment = found->second;
  const Training& training = experiment.trials[trial.second.number()];
  if (training.reached > 0 && training.reached < experiment.max_length) {
    experiment.pool->second.slot_seconds_saved +=
        training.slot_seconds / static_cast<double>(training.reached) *
        static_cast<double>(experiment.max_length - training.reached);
  }
}

void EventCounts::take(const engine::ReportTaken& event, engine::Instant at) {
  const engine::Report& report = event.report;
  const Trial trial{event.key.experiment, event.key.trial};
  ++reports;
  if (const auto* measured = std::get_if<engine::MetricsReport>(&report)) {
    measure(trial, measured->step, at);
    for (const auto& [name, value] : measured->metrics) {
      if (!std::isfinite(value)) {
        ++nonfinite_reports;
        break;
      }
    }
  } else if (const auto* checkpoint = std::get_if<engine::CheckpointReport>(&report)) {
    checkpoint_bytes += checkpoint->bytes;
  } else if (const auto* exit = std::get_if<ExitReport>(&report)) {
    ++attempts_ended[causes.at(static_cast<std::size_t>(exit->cause))];
    running_.erase(trial);
  }
}

void EventCounts::begin_wait(engine::ExperimentId experiment, engine::TrialNumber trial, engine::Instant at) {
  ready_.insert_or_assign({experiment, trial}, at);
}

void EventCounts::forget(const Trial& trial) {
  ready_.erase(trial);
  leased_.erase(trial);
  running_.erase(trial);
}

EventCounts::Decisions& EventCounts::of_searcher(engine::ExperimentId experiment) {
  const auto found = experiments_.find(experiment);
  return found == experiments_.end() || found->second.decisions == nullptr ? decisions[""]
                                                                           : *found->second.decisions;
}

}  // namespace hpsearch::daemon
