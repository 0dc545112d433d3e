#include "daemon/metrics/event_counts.hpp"

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

/// Those of one experiment.
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
    take(event.report);
  } else if constexpr (std::is_same_v<Event, ExperimentCreated>) {
    searchers_[event.experiment] = &decisions[searcher_of(event.config)];
  } else if constexpr (std::is_same_v<Event, ExperimentEnded>) {
    forget_all(ready_, event.experiment);
    forget_all(leased_, event.experiment);
  } else if constexpr (std::is_same_v<Event, ExperimentDeleted>) {
    searchers_.erase(event.experiment);
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
    }
    forget({event.experiment, event.trial});
  } else if constexpr (std::is_same_v<Event, LeaseGranted>) {
    const Trial trial{event.experiment, event.trial};
    if (const auto since = ready_.find(trial); since != ready_.end()) {
      schedule_wait.add((at - since->second).in_seconds());
      ready_.erase(since);
    }
    leased_[trial] = at;
  } else if constexpr (std::is_same_v<Event, AttemptStarted>) {
    const Trial trial{event.key.experiment, event.key.trial};
    if (const auto since = leased_.find(trial); since != leased_.end()) {
      ++attempts_started;
      lease_to_start.add((at - since->second).in_seconds());
      leased_.erase(since);
    }
  } else if constexpr (std::is_same_v<Event, AttemptLost>) {
    ++attempts_ended["lost"];
    leased_.erase({event.key.experiment, event.key.trial});
  } else if constexpr (std::is_same_v<Event, CheckpointsDeleted>) {
    checkpoints_deleted += event.paths.size();
  }
}

void EventCounts::take(const engine::Report& report) {
  ++reports;
  if (const auto* measured = std::get_if<engine::MetricsReport>(&report)) {
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
  }
}

void EventCounts::begin_wait(engine::ExperimentId experiment, engine::TrialNumber trial, engine::Instant at) {
  ready_.insert_or_assign({experiment, trial}, at);
}

void EventCounts::forget(const Trial& trial) {
  ready_.erase(trial);
  leased_.erase(trial);
}

EventCounts::Decisions& EventCounts::of_searcher(engine::ExperimentId experiment) {
  const auto found = searchers_.find(experiment);
  return found == searchers_.end() ? decisions[""] : *found->second;
}

}  // namespace hpsearch::daemon
