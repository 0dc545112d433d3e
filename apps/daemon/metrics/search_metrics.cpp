#include "daemon/metrics/search_metrics.hpp"

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/metrics/event_counts.hpp"

namespace hpsearch::daemon {
namespace {

using engine::ExperimentRecord;
using engine::ExperimentState;
using engine::TrialState;
using enum proto::MetricType;
using proto::PrometheusText;

constexpr std::array trial_states{TrialState::pending,   TrialState::running, TrialState::paused,
                                  TrialState::completed, TrialState::stopped, TrialState::failed,
                                  TrialState::canceled};
constexpr std::array experiment_states{ExperimentState::active,   ExperimentState::paused,
                                       ExperimentState::stopping, ExperimentState::completed,
                                       ExperimentState::canceled, ExperimentState::failed};
constexpr std::string_view others = "other";

double count(std::uint64_t number) {
  return static_cast<double>(number);
}

using ByState = std::array<std::uint64_t, experiment_states.size()>;  ///< By ExperimentState.

/// Sums over all experiments.
struct Sums {
  std::array<std::uint64_t, trial_states.size()> trials{};
  std::map<std::string_view, ByState> experiments;  ///< By workspace.
  std::map<std::string_view, double> slot_seconds;  ///< By pool.
  std::vector<const ExperimentRecord*> unended;     ///< By number.
};

Sums sums_of(const Runtime* runtime, const PoolNames& pools, const WorkspaceNames& names) {
  Sums sums;
  sums.slot_seconds["default"] = 0;
  if (runtime == nullptr) {
    return sums;
  }
  const engine::Instant now = runtime->now();
  const engine::Workspaces& workspaces = runtime->engine().workspaces();
  std::map<const engine::WorkspaceRecord*, ByState*> of_workspace;
  for (const auto& [name, workspace] : workspaces) {
    of_workspace[&workspace] = &sums.experiments[names.shown(name)];
  }
  const engine::WorkspaceRecord* last_workspace = nullptr;  // Usually the next experiment is in the same one.
  ByState* states = nullptr;
  std::string last_pool;
  double* slot_seconds = &sums.slot_seconds["default"];
  for (const auto& [id, record] : runtime->engine().experiments()) {
    if (record.workspace != last_workspace) {
      last_workspace = record.workspace;
      states = of_workspace.at(last_workspace);
    }
    if (record.config.resources.resource_pool != last_pool) {
      last_pool = record.config.resources.resource_pool;
      slot_seconds = &sums.slot_seconds[pools.shown(last_pool)];
    }
    ++states->at(static_cast<std::size_t>(record.state));
    for (std::size_t state = 0; state < sums.trials.size(); ++state) {
      sums.trials.at(state) += record.by_state.at(state);
    }
    *slot_seconds += record.slot_time.until(now).in_seconds();
    if (!engine::is_ended(record.state)) {
      sums.unended.push_back(&record);
    }
  }
  for (const auto& [id, deleted] : runtime->engine().deleted()) {
    sums.slot_seconds[pools.shown(runtime->event_counts().pool_of(id))] +=
        deleted.slot_time.until(now).in_seconds();
  }
  return sums;
}

/// The newest experiments that have not ended, by number.
void add_experiments(PrometheusText& text, const Sums& sums, std::size_t named) {
  struct Shown {
    std::string experiment;
    double progress = 0;
    std::optional<double> best;
    double slots = 0;
    double waiting = 0;
  };
  std::vector<Shown> shown;
  Shown other{std::string(others), 0, {}, 0, 0};
  bool has_others = false;
  for (auto entry = sums.unended.rbegin(); entry != sums.unended.rend(); ++entry) {
    const ExperimentRecord& record = **entry;
    const double slots = static_cast<double>(record.slot_time.slots());
    const double waiting = count(record.pending.size());
    if (shown.size() == named) {
      has_others = true;
      other.slots += slots;
      other.waiting += waiting;
      continue;
    }
    Shown one{std::to_string(record.id.number()), record.searcher->progress(), {}, slots, waiting};
    if (record.best && record.trials[record.best->number()].best) {
      one.best = record.trials[record.best->number()].best->metric;
    }
    shown.push_back(std::move(one));
  }
  text.family("experiment_progress_ratio", gauge,
              "Progress of the newest experiments that have not ended, from 0 to 1.", {"experiment"});
  for (const Shown& one : shown) {
    text.sample(one.progress, {one.experiment});
  }
  text.family("experiment_best_metric", gauge, "Their best value of the searcher's metric so far.",
              {"experiment"});
  for (const Shown& one : shown) {
    if (one.best) {
      text.sample(*one.best, {one.experiment});
    }
  }
  text.family("experiment_slots", gauge,
              "Slots that they hold now; `other` is the sum of all older experiments that have not ended.",
              {"experiment"});
  for (const Shown& one : shown) {
    text.sample(one.slots, {one.experiment});
  }
  if (has_others) {
    text.sample(other.slots, {other.experiment});
  }
  text.family("experiment_waiting_trials", gauge, "Their trials that wait for a slot; `other` as above.",
              {"experiment"});
  for (const Shown& one : shown) {
    text.sample(one.waiting, {one.experiment});
  }
  if (has_others) {
    text.sample(other.waiting, {other.experiment});
  }
}

void add_waits(PrometheusText& text, const EventCounts& events, const Sums& sums, const PoolNames& pools) {
  std::map<std::string_view, EventCounts::OfPool> shown{{"default", {}}};
  for (const auto& [name, pool] : events.pools) {
    EventCounts::OfPool& sum = shown[pools.shown(name)];
    sum.slot_seconds_saved += pool.slot_seconds_saved;
    sum.schedule_wait.sum += pool.schedule_wait.sum;
    for (std::size_t i = 0; i < sum.schedule_wait.counts.size(); ++i) {
      sum.schedule_wait.counts.at(i) += pool.schedule_wait.counts.at(i);
    }
  }
  text.family("slot_seconds_total", counter, "Slots times the seconds that they were leased, by pool.",
              {"pool"});
  for (const auto& [pool, seconds] : sums.slot_seconds) {
    text.sample(seconds, {pool});
  }
  text.family("slot_seconds_saved_total", counter,
              "Slot seconds of training that was not done because trials were stopped before the maximum "
              "length, at the speed of each trial.",
              {"pool"});
  for (const auto& [pool, sum] : shown) {
    text.sample(sum.slot_seconds_saved, {pool});
  }
  text.family("schedule_wait_seconds", histogram, "Time that trials waited for a slot.", {"pool"});
  for (const auto& [pool, sum] : shown) {
    text.sample(sum.schedule_wait, {pool});
  }
  text.family("lease_to_start_seconds", histogram, "Time from a lease to the start of its program.");
  text.sample(events.lease_to_start);
}

}  // namespace

void add_search_metrics(PrometheusText& text, const Runtime* runtime, const PoolNames& pools,
                        const WorkspaceNames& workspaces, std::size_t named) {
  const EventCounts none;
  const EventCounts& events = runtime == nullptr ? none : runtime->event_counts();
  const Sums sums = sums_of(runtime, pools, workspaces);
  text.family("experiments", gauge, "Experiments by state and workspace.", {"state", "workspace"});
  for (const auto& [workspace, by_state] : sums.experiments) {
    for (const ExperimentState state : experiment_states) {
      text.sample(count(by_state.at(static_cast<std::size_t>(state))), {engine::name_of(state), workspace});
    }
  }
  add_experiments(text, sums, named);
  text.family("trials", gauge, "Trials by state.", {"state"});
  for (std::size_t state = 0; state < trial_states.size(); ++state) {
    text.sample(count(sums.trials.at(state)), {engine::name_of(trial_states.at(state))});
  }
  text.counter("trials_created_total", "Trials created.", count(events.trials_created));
  text.family("trials_ended_total", counter, "Trials that ended, by their state at the end.", {"outcome"});
  for (const TrialState state : trial_states) {
    if (engine::is_closed(state)) {
      const auto found = events.trials_ended.find(state);
      text.sample(found == events.trials_ended.end() ? 0 : count(found->second), {engine::name_of(state)});
    }
  }
  text.counter("attempts_started_total", "Attempts whose program started.", count(events.attempts_started));
  text.family("attempts_ended_total", counter, "Attempts that ended, by cause.", {"cause"});
  for (const std::string_view cause : attempt_end_causes()) {
    const auto found = events.attempts_ended.find(cause);
    text.sample(found == events.attempts_ended.end() ? 0 : count(found->second), {cause});
  }
  using Decisions = EventCounts::Decisions;
  for (const auto& [name, help, member] :
       {std::tuple{"promotions_total", "Trials promoted to a longer training, by searcher.",
                   &Decisions::promoted},
        std::tuple{"pauses_total", "Trials paused at a rung or by a user, by searcher.", &Decisions::paused},
        std::tuple{"stops_total", "Trials stopped before the maximum length, by searcher.",
                   &Decisions::stopped}}) {
    text.family(name, counter, help, {"searcher"});
    for (const auto& [searcher, decisions] : events.decisions) {
      text.sample(count(decisions.*member), {searcher});
    }
  }
  text.counter("experiments_self_paused_total",
               "How often an experiment paused itself, as after failures of its trials.",
               count(events.self_pauses));
  text.family("engine_step_seconds", histogram,
              "Time of one step of the engine: one report, request or timer with all decisions that follow.");
  text.sample(runtime == nullptr ? Histogram<decision_bounds.size()>{decision_bounds}
                                 : runtime->step_seconds());
  text.counter("reports_total", "Reports of programs that were stored.", count(events.reports));
  text.counter("reports_nonfinite_total", "Reports with a metric that is NaN or infinite.",
               count(events.nonfinite_reports));
  text.counter("checkpoint_bytes_total", "Bytes of checkpoints that programs saved.",
               count(events.checkpoint_bytes));
  text.counter("checkpoints_deleted_total", "Checkpoints deleted.", count(events.checkpoints_deleted));
  text.counter("retention_removed_experiments_total", "Ended experiments that the retention removed.",
               count(events.experiments_removed));
  text.counter("retention_removed_logs_total", "Trials whose kept logs were removed to make room.",
               count(events.logs_removed));
  text.counter("retention_thinned_curves_total", "Stopped trials whose curves lost reports by the retention.",
               count(events.curves_thinned));
  add_waits(text, events, sums, pools);
}

}  // namespace hpsearch::daemon
