#include "daemon/metrics/daemon_metrics.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/metrics/event_counts.hpp"
#include "daemon/metrics/process_metrics.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/net/log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::ExperimentRecord;
using engine::ExperimentState;
using engine::Instant;
using engine::TrialState;
using enum MetricType;

constexpr std::array trial_states{TrialState::pending,   TrialState::running, TrialState::paused,
                                  TrialState::completed, TrialState::stopped, TrialState::failed,
                                  TrialState::canceled};
constexpr std::array experiment_states{ExperimentState::active,   ExperimentState::paused,
                                       ExperimentState::stopping, ExperimentState::completed,
                                       ExperimentState::canceled, ExperimentState::failed};
// More of them would make a family whose size nobody expects.
constexpr std::size_t most_named_experiments = 50;
constexpr std::string_view other_experiments = "other";

double count(std::uint64_t number) {
  return static_cast<double>(number);
}

/// What is summed over all experiments.
struct Sums {
  std::array<std::uint64_t, trial_states.size()> trials{};
  std::map<ExperimentState, std::uint64_t> experiments;
  double slot_seconds = 0;
};

Sums sums_of(const Runtime* runtime) {
  Sums sums;
  if (runtime == nullptr) {
    return sums;
  }
  for (const auto& [id, record] : runtime->engine().experiments()) {
    ++sums.experiments[record.state];
    for (std::size_t state = 0; state < sums.trials.size(); ++state) {
      sums.trials.at(state) += record.by_state.at(state);
    }
    sums.slot_seconds += record.slot_time.until(runtime->now()).in_seconds();
  }
  for (const auto& [id, deleted] : runtime->engine().deleted()) {
    sums.slot_seconds += deleted.slot_time.until(runtime->now()).in_seconds();
  }
  return sums;
}

/// The newest experiments that have not ended, by number.
void add_experiments(PrometheusText& text, const Runtime* runtime) {
  struct Shown {
    std::string experiment;
    double progress = 0;
    std::optional<double> best;
    double slots = 0;
    double waiting = 0;
  };
  std::vector<Shown> shown;
  Shown other{std::string(other_experiments), 0, {}, 0, 0};
  bool has_others = false;
  if (runtime != nullptr) {
    const auto& all = runtime->engine().experiments();
    for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
      const ExperimentRecord& record = entry->second;
      if (engine::is_ended(record.state)) {
        continue;
      }
      const double slots = static_cast<double>(record.slot_time.slots());
      const double waiting = count(record.pending.size());
      if (shown.size() == most_named_experiments) {
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
  }
  text.family("experiment_progress_ratio", gauge,
              "Progress of the 50 newest experiments that have not ended, from 0 to 1.", {"experiment"});
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

void add_searches(PrometheusText& text, const Runtime* runtime) {
  const EventCounts none;
  const EventCounts& events = runtime == nullptr ? none : runtime->event_counts();
  const Sums sums = sums_of(runtime);
  text.family("experiments", gauge, "Experiments by state.", {"state"});
  for (const ExperimentState state : experiment_states) {
    const auto found = sums.experiments.find(state);
    text.sample(found == sums.experiments.end() ? 0 : count(found->second), {engine::name_of(state)});
  }
  add_experiments(text, runtime);
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
  text.counter("slot_seconds_total", "Slots times the seconds that they were leased.", sums.slot_seconds);
  text.family("schedule_wait_seconds", histogram, "Time that trials waited for a slot.");
  text.sample(events.schedule_wait);
  text.family("lease_to_start_seconds", histogram, "Time from a lease to the start of its program.");
  text.sample(events.lease_to_start);
}

void add_store(PrometheusText& text, const Runtime* runtime) {
  const Committer::Counters store = runtime == nullptr ? Committer::Counters{} : runtime->store_counters();
  text.family("store_commit_seconds", histogram, "Time of one commit of the store, its disk sync included.");
  text.sample(store.commit_seconds);
  text.family("store_commit_events", histogram, "Events per commit.");
  text.sample(store.commit_events);
  text.gauge("store_lsn", "Number of the engine's last event.",
             runtime == nullptr ? 0 : count(runtime->engine().last_lsn().number()));
  text.gauge("store_durable_lsn", "Number of the last event committed since the daemon started.",
             count(store.durable.number()));
  const Storage storage = runtime == nullptr ? Storage{} : runtime->storage();
  text.gauge("store_free_bytes", "Free bytes on the store's disk.", count(storage.free_bytes));
  text.family("store_state", gauge,
              "1 for the present state of the store's disk: ample, low, scarce, exhausted or full.",
              {"state"});
  for (const std::string_view state : {"ample", "low", "scarce", "exhausted", "full"}) {
    text.sample(storage.state == state ? 1 : 0, {state});
  }
}

void add_workers(PrometheusText& text, const Runtime* runtime, const WorkerSessions* sessions) {
  struct Slots {
    double busy = 0;
    double idle = 0;
    double withdrawn = 0;
  };
  std::map<std::pair<std::string, std::string>, Slots> slots;  // By kind and pool.
  double connected = 0;
  double suspect = 0;
  double lost = 0;
  double quarantined = 0;
  double draining = 0;
  double resting = 0;
  if (runtime != nullptr) {
    for (const auto& [id, worker] : runtime->engine().workers()) {
      if (engine::is_external(worker)) {
        continue;
      }
      if (!worker.present) {
        ++lost;
        continue;
      }
      ++(runtime->suspect(id)                  ? suspect
         : !worker.quarantined.empty()         ? quarantined
         : worker.draining                     ? draining
         : runtime->now() < worker.rests_until ? resting
                                               : connected);
      const std::string kind = worker.slot_kind;
      Slots& sum = slots[{kind, worker.pool.empty() ? "default" : worker.pool}];
      const double busy = count(worker.slots.held());
      const double idle = count(worker.slots.free());
      sum.busy += busy;
      sum.idle += idle;
      sum.withdrawn += count(worker.slots.total()) - busy - idle;
    }
  }
  text.family(
      "workers", gauge,
      "Workers by state: connected, suspect (silent or not connected), quarantined, draining, resting, "
      "lost.",
      {"state"});
  for (const auto& [state, number] : {std::pair{"connected", connected}, std::pair{"suspect", suspect},
                                      std::pair{"quarantined", quarantined}, std::pair{"draining", draining},
                                      std::pair{"resting", resting}, std::pair{"lost", lost}}) {
    text.sample(number, {state});
  }
  text.family("slots", gauge,
              "Slots of workers that are not lost, by state: busy, idle, withdrawn (broken or quarantined).",
              {"state", "kind", "pool"});
  for (const auto& [key, sum] : slots) {
    for (const auto& [state, number] :
         {std::pair{"busy", sum.busy}, std::pair{"idle", sum.idle}, std::pair{"withdrawn", sum.withdrawn}}) {
      text.sample(number, {state, key.first, key.second});
    }
  }
  text.counter("reports_late_total",
               "Reports of attempts whose lease had ended; they were not used. Since the daemon started.",
               sessions == nullptr ? 0 : count(sessions->late_reports()));
}

void add_http(PrometheusText& text, const HttpCounts* counts) {
  const HttpCounts none;
  const HttpCounts& http = counts == nullptr ? none : *counts;
  text.family("http_requests_total", counter, "HTTP requests answered, by route, method and class of status.",
              {"route", "method", "status"});
  for (const auto& [answered, number] : http.answers) {
    const auto& [route, method, status] = answered;
    text.sample(count(number), {route, method, std::to_string(status) + "xx"});
  }
  text.family("http_request_seconds", histogram, "Time from a request's arrival to the start of its answer.");
  text.sample(http.seconds);
  text.gauge("http_in_flight", "Requests that wait for their answer.", count(http.in_flight));
  text.family("http_denied_total", counter,
              "Requests refused for lack of a token (401), role (403) or patience (429), by status.",
              {"status"});
  for (const unsigned status : {401U, 403U, 429U}) {
    const auto found = http.denied.find(status);
    text.sample(found == http.denied.end() ? 0 : count(found->second), {std::to_string(status)});
  }
}

void add_loop(PrometheusText& text, net::LoopLag* lag) {
  const net::LoopLag::Lateness lateness = lag == nullptr ? net::LoopLag::Lateness{} : lag->lateness();
  text.family("event_loop_lag_seconds", histogram,
              "How late a timer of the daemon's loop was, ten times a second.");
  text.buckets(net::LoopLag::bounds_seconds, lateness.counts, lateness.sum_seconds);
  text.gauge("event_loop_turn_max_seconds",
             "The longest that one task held the daemon's loop since /metrics was read last.",
             lag == nullptr ? 0 : static_cast<double>(lag->take_longest_turn()) / 1e9);
}

void add_log(PrometheusText& text) {
  text.family("log_messages_total", counter, "Lines that the daemon logged, by level.", {"level"});
  for (const auto& [level, number] : net::logged_lines()) {
    text.sample(count(number), {level});
  }
}

}  // namespace

PrometheusText daemon_metrics(const MetricsSources& sources) {
  PrometheusText text;
  text.family("build_info", gauge, "1, with the version of the daemon.", {"version"});
  text.sample(1, {sources.version});
  add_process_metrics(text);
  add_searches(text, sources.runtime);
  add_store(text, sources.runtime);
  add_workers(text, sources.runtime, sources.sessions);
  add_http(text, sources.http);
  add_loop(text, sources.lag);
  add_log(text);
  return text;
}

std::string describe_metrics() {
  std::string table =
      "| metric | type | labels | meaning |\n"
      "|---|---|---|---|\n";
  const PrometheusText text = daemon_metrics({});
  for (const MetricFamily& family : text.families()) {
    table.append("| `").append(family.name).append("` | ").append(name_of(family.type)).append(" | ");
    for (std::size_t i = 0; i < family.labels.size(); ++i) {
      table.append(i == 0 ? "" : ", ").append(family.labels[i]);
    }
    table.append(" | ").append(family.help).append(" |\n");
  }
  return table;
}

}  // namespace hpsearch::daemon
