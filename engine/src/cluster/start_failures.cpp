// Attempts that end without a report, for whatever reason: what is leased again at once may end at once, for
// ever. Each in a row waits longer than the one before, and there are most_fruitless_attempts of them. A
// worker on which attempts are over as soon as they are leased, by nobody's failure, waits as well.

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

/// Attempts that were leased together and lost together say no more than one of them does.
bool has_news(const WorkerRecord& worker, Instant leased_at) {
  return worker.start_failures == 0 || leased_at >= worker.last_start_failure;
}

void delayed_trial(EngineState& state, ExperimentRecord& record, TrialNumber number, Instant until) {
  record.delayed.insert(number);
  state.agenda.delayed.insert({until, record.id, number, WorkerId{}});
}

void let_rest(EngineState& state, const WorkerRecord& worker) {
  state.agenda.resting.insert(worker.id);
  state.agenda.delayed.insert({worker.rests_until, ExperimentId{}, TrialNumber{}, worker.id});
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
  const bool over = is_closed(trial_of(state, end.key.experiment, end.key.trial).state);
  StartDelayed event;
  event.experiment = end.key.experiment;
  event.trial = end.key.trial;
  event.why = end.why;
  if (!over) {
    event.times = fruitless_with(state, end);
    event.wait = wait_after(event.times);
  }
  event.worker = end.culprit;
  const auto known = state.workers.find(end.culprit);
  if (known != state.workers.end() && has_news(known->second, end.leased_at)) {
    event.worker_times = known->second.start_failures + 1;
    event.worker_wait = wait_after(event.worker_times);
  }
  if (!over || event.worker_times > 0) {
    step.emit(std::move(event));
  }
}

void apply(const Applier& applier, const StartDelayed& delayed) {
  ExperimentRecord& record = applier.experiment(delayed.experiment);
  TrialRecord& trial = record.trials[delayed.trial.number()];
  if (!is_closed(trial.state)) {
    FailureHistory& failure_history = trial.failure_history.ensure();
    failure_history.fruitless = delayed.times;
    failure_history.last_culprit = delayed.worker;
    failure_history.last_why = delayed.why;
    failure_history.not_before = applier.event.at + delayed.wait;
    if (record.pending.contains(delayed.trial) && failure_history.not_before > applier.event.at) {
      delayed_trial(applier.state, record, delayed.trial, failure_history.not_before);
    }
  }
  if (delayed.worker_times > 0) {
    WorkerRecord& worker = applier.state.workers.at(delayed.worker);
    worker.start_failures = delayed.worker_times;
    worker.last_start_failure = applier.event.at;
    worker.rests_until = applier.event.at + delayed.worker_wait;
    if (worker.rests_until > applier.event.at) {
      let_rest(applier.state, worker);
    }
    note_vacancy(applier.state, worker);
  }
}

std::string problem_with(const EventChecks& checks, const StartDelayed& delayed) {
  const std::string missing = checks.trial(delayed.experiment, delayed.trial);
  return !missing.empty() || delayed.worker == WorkerId{} ? missing : checks.worker(delayed.worker);
}

void Applier::note_good_start(WorkerId where, const LiveAttempt& live) const {
  WorkerRecord& worker = state.workers.at(where);
  if (worker.start_failures > 0 && live.leased_at >= worker.last_start_failure) {
    forget_start_failures(state, worker);
    note_vacancy(state, worker);
  }
}

void forget_start_failures(EngineState& state, WorkerRecord& worker) {
  worker.start_failures = 0;
  worker.last_start_failure = Instant{};
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
