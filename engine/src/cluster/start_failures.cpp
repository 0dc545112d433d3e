// Attempts that end without a report, for whatever reason: what is leased again at once may end at once, for
// ever. Each in a row waits longer than the one before, and there are most_fruitless_attempts of them. A
// worker on which attempts are over as soon as they are leased, and whose doing that is, waits as well: not
// because of one experiment, whose program may kill what it depends on, nor of a trial that fares no better
// elsewhere.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "applier.hpp"
#include "event_checks.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

/// One is an accident and is made good at once; then a second, doubled up to five minutes.
Duration wait_after(std::uint64_t times) {
  constexpr std::uint64_t longest = 300;
  constexpr std::uint64_t doublings = 9;
  if (times <= 1) {
    return Duration();
  }
  const std::uint64_t doubled = std::uint64_t{1} << std::min(times - 2, doublings);
  return Duration::seconds(static_cast<std::int64_t>(std::min(doubled, longest)));
}

/// Programs of several experiments may be the cause, too: they keep no healthy worker idle for longer.
constexpr Duration longest_rest = Duration::seconds(60);

/// Until then another worker may have a slot for it.
constexpr Duration before_trying_there_again = Duration::seconds(30);

/// Attempts that were leased together and lost together say no more than one of them does.
bool has_news(const WorkerRecord& worker, Instant leased_at) {
  return worker.start_failures == 0 || leased_at >= worker.last_start_failure;
}

void delayed_trial(EngineState& state, ExperimentRecord& record, TrialNumber number, Instant until) {
  record.delayed.insert(number);
  state.agenda.delayed.insert({until, record.id, number, WorkerId{}});
}

constexpr std::size_t most_failed_starts = 64;

/// How many times in a row they speak against the worker: one experiment does once, until another one does.
/// An attempt that the worker ended without an order counts against the worker each time.
std::uint64_t times_against(const std::vector<FailedStart>& failed) {
  std::uint64_t times = 0;
  for (std::size_t i = 0; i < failed.size(); ++i) {
    times += i == 0 || failed[i].evicted || failed[i].experiment != failed[i - 1].experiment ? 1U : 0U;
  }
  return times;
}

/// The worker that ended the trial's attempt before this one; 0 = none did.
WorkerId culprit_before(const EngineState& state, ExperimentId experiment, TrialNumber trial) {
  const auto& history = trial_of(state, experiment, trial).failure_history;
  return history && history->fruitless > 0 ? history->last_culprit : WorkerId{};
}

/// It is over as soon on another worker: it is the trial's doing.
void take_back(EngineState& state, WorkerId where, ExperimentId experiment, TrialNumber trial) {
  const auto found = state.workers.find(where);
  if (found == state.workers.end()) {
    return;
  }
  WorkerRecord& worker = found->second;
  std::erase_if(worker.failed_starts, [&](const FailedStart& start) {
    return start.experiment == experiment && start.trial == trial && !start.evicted;
  });
  worker.start_failures = times_against(worker.failed_starts);
  if (worker.start_failures == 0) {
    forget_start_failures(state, worker);
    note_vacancy(state, worker);
  }
}

/// It was over as soon as it was leased, or its program never began: nothing was heard of one.
bool is_start_failure(const LiveAttempt& live, Instant now) {
  constexpr Duration soon = Duration::seconds(60);
  return !live.started || now - live.leased_at <= soon;
}

/// Its end was wanted. Of an attempt on several workers the others are stopped or killed because one ended.
bool was_asked_to_end(const TrialRecord& trial) {
  const LiveAttempt& live = *trial.live;
  if (!live.is_ending()) {
    return false;
  }
  const bool by_one_of_its_own = live.gang && live.gang->ending != Gang::Ending::none &&
                                 live.decision->directive != Directive::pause &&
                                 trial.state == TrialState::running;
  return !by_one_of_its_own;
}

}  // namespace

std::optional<FruitlessEnd> fruitless_end(const TrialRecord& trial, Instant now, WorkerId worker,
                                          std::string why) {
  const LiveAttempt& live = *trial.live;
  if (live.reported || live.has_unlogged_decision || was_asked_to_end(trial)) {
    return std::nullopt;
  }
  return FruitlessEnd{live.key, live.leased_at, is_start_failure(live, now) ? worker : WorkerId{},
                      std::move(why)};
}

std::uint64_t fruitless_with(const EngineState& state, const FruitlessEnd& end) {
  const TrialRecord& trial = trial_of(state, end.key.experiment, end.key.trial);
  return (trial.failure_history ? trial.failure_history->fruitless : 0) + 1;
}

void delayed(Step& step, const FruitlessEnd& end) {
  const EngineState& state = step.state();
  const auto known = state.workers.find(end.culprit);
  if (end.evicted && known != state.workers.end() && !known->second.allocation.empty()) {
    return;  // Its allocation is over: that says nothing about the machine, nor about the trial.
  }
  const bool over = is_closed(trial_of(state, end.key.experiment, end.key.trial).state);
  StartDelayed event;
  event.experiment = end.key.experiment;
  event.trial = end.key.trial;
  event.why = end.why;
  event.evicted = end.evicted;
  event.again_there = end.again_there;
  if (!over && end.again_there) {
    event.times = fruitless_with(state, end) - 1;
    event.wait = before_trying_there_again;
  } else if (!over && !end.evicted) {
    event.times = fruitless_with(state, end);
    event.wait = wait_after(event.times);
  }
  event.worker = end.culprit;
  const WorkerId before = culprit_before(state, end.key.experiment, end.key.trial);
  const bool elsewhere_too = !end.evicted && before != WorkerId{} && before != end.culprit;
  if (known != state.workers.end() && has_news(known->second, end.leased_at) && !elsewhere_too) {
    std::vector<FailedStart> failed = known->second.failed_starts;
    failed.push_back({end.key.experiment, end.key.trial, end.evicted});
    event.worker_times = times_against(failed);
    if (end.evicted || others_alike(state, known->second)) {
      const Duration wait = wait_after(event.worker_times);
      event.worker_wait = end.evicted ? wait : std::min(wait, longest_rest);
    }
  }
  if ((!over && !end.evicted) || event.worker_times > 0) {
    step.emit(std::move(event));
  }
}

void apply(const Applier& applier, const StartDelayed& delayed) {
  ExperimentRecord& record = applier.experiment(delayed.experiment);
  TrialRecord& trial = record.trials[delayed.trial.number()];
  if (const WorkerId before = culprit_before(applier.state, delayed.experiment, delayed.trial);
      !delayed.evicted && delayed.worker != WorkerId{} && before != delayed.worker) {
    take_back(applier.state, before, delayed.experiment, delayed.trial);
  }
  if (!is_closed(trial.state) && !delayed.evicted) {
    FailureHistory& failure_history = trial.failure_history.ensure();
    trial.restarts -= delayed.again_there && trial.restarts > 0 ? 1U : 0U;
    failure_history.fruitless = delayed.times;
    failure_history.last_culprit = delayed.worker;
    failure_history.last_why = delayed.why;
    failure_history.not_before =
        applier.event.at + (applier.state.retries_at_once ? Duration() : delayed.wait);
    if (record.pending.contains(delayed.trial) && failure_history.not_before > applier.event.at) {
      delayed_trial(applier.state, record, delayed.trial, failure_history.not_before);
    }
  }
  if (delayed.worker_times > 0) {
    WorkerRecord& worker = applier.state.workers.at(delayed.worker);
    if (worker.failed_starts.size() == most_failed_starts) {
      worker.failed_starts.erase(worker.failed_starts.begin());
    }
    worker.failed_starts.push_back({delayed.experiment, delayed.trial, delayed.evicted});
    worker.start_failures = delayed.worker_times;
    worker.last_start_failure = applier.event.at;
    worker.rests_until = std::max(worker.rests_until, applier.event.at + delayed.worker_wait);
    if (delayed.worker_wait > Duration{}) {
      let_rest(applier.state, worker);
    }
    note_vacancy(applier.state, worker);
  }
}

std::string problem_with(const EventChecks& checks, const StartDelayed& delayed) {
  const std::string missing = checks.trial(delayed.experiment, delayed.trial);
  const bool names_one = delayed.worker != WorkerId{} || delayed.worker_times > 0;
  return !missing.empty() || !names_one ? missing : checks.worker(delayed.worker);
}

void Applier::note_good_start(WorkerId where, const LiveAttempt& live) const {
  WorkerRecord& worker = state.workers.at(where);
  if (worker.start_failures > 0 && live.leased_at >= worker.last_start_failure) {
    forget_start_failures(state, worker);
    note_vacancy(state, worker);
  }
}

void let_rest(EngineState& state, const WorkerRecord& worker) {
  state.agenda.resting.insert(worker.id);
  state.agenda.delayed.insert({worker.rests_until, ExperimentId{}, TrialNumber{}, worker.id});
}

void forget_start_failures(EngineState& state, WorkerRecord& worker) {
  worker.failed_starts.clear();
  worker.start_failures = 0;
  worker.last_start_failure = Instant{};
  if (worker.probation && !worker.quarantined.empty()) {
    return;  // It rests until its probation.
  }
  worker.rests_until = Instant{};
  state.agenda.resting.erase(worker.id);
}

void wait_for_slot(EngineState& state, ExperimentRecord& record, TrialNumber number, Instant now) {
  record.pending.insert(number);
  const TrialRecord& trial = record.trials[number.number()];
  if (trial.failure_history && trial.failure_history->not_before > now) {
    delayed_trial(state, record, number, trial.failure_history->not_before);
  }
}

void stop_waiting(ExperimentRecord& record, TrialNumber number) {
  record.pending.erase(number);
  record.delayed.erase(number);
}

void note_delayed_starts(EngineState& state, Instant now) {
  for (const auto& [id, worker] : state.workers) {
    if (worker.rests_until > now) {
      let_rest(state, worker);
    }
  }
  for (const ExperimentId id : state.going) {
    ExperimentRecord& record = state.experiments.at(id);
    for (const TrialNumber number : record.pending) {
      const TrialRecord& trial = record.trials[number.number()];
      if (!trial.live && trial.failure_history && trial.failure_history->not_before > now) {
        delayed_trial(state, record, number, trial.failure_history->not_before);
      }
    }
  }
}

void end_start_delays(EngineState& state, Instant now) {
  auto& waiting = state.agenda.delayed;
  while (!waiting.empty() && waiting.begin()->until <= now) {
    const Agenda::DelayedStart due = *waiting.begin();
    waiting.erase(waiting.begin());
    if (due.worker != WorkerId{}) {
      const WorkerRecord& worker = state.workers.at(due.worker);
      if (worker.rests_until <= now && state.agenda.resting.erase(due.worker) > 0) {
        note_vacancy(state, worker);
      }
      continue;
    }
    ExperimentRecord& record = state.experiments.at(due.experiment);
    const TrialRecord& trial = record.trials[due.trial.number()];
    const bool later = trial.failure_history && trial.failure_history->not_before > now;
    if (!later && record.delayed.erase(due.trial) > 0) {
      touch(state, record);
    }
  }
}

}  // namespace hpsearch::engine
