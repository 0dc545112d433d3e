// Attempts that are over as soon as they are leased and by nobody's failure: nothing counts them, so what is
// leased again at once may be lost at once, for ever. Each in a row waits longer than the one before.

#include <algorithm>
#include <string>

#include "applier.hpp"
#include "event_checks.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

/// One false start is an accident and is made good at once; then a second, doubled up to five minutes.
Duration wait_after(std::uint64_t start_failures) {
  constexpr std::uint64_t longest = 300;
  constexpr std::uint64_t doublings = 9;
  if (start_failures <= 1) {
    return Duration();
  }
  const std::uint64_t doubled = std::uint64_t{1} << std::min(start_failures - 2, doublings);
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

}  // namespace

bool is_start_failure(const LiveAttempt& live, Instant now) {
  constexpr Duration soon = Duration::seconds(60);
  return live.reached == Units{} && (!live.started || now - live.leased_at <= soon);
}

void delayed(Step& step, const AttemptKey& key, Instant leased_at, WorkerId worker, const std::string& why) {
  const EngineState& state = step.state();
  const TrialRecord& trial = trial_of(state, key.experiment, key.trial);
  StartDelayed event;
  event.experiment = key.experiment;
  event.trial = key.trial;
  event.why = why;
  event.times = (trial.failure_history ? trial.failure_history->start_failures : 0) + 1;
  event.wait = wait_after(event.times);
  event.worker = worker;
  const auto known = state.workers.find(worker);
  if (known != state.workers.end() && has_news(known->second, leased_at)) {
    event.worker_times = known->second.start_failures + 1;
    event.worker_wait = wait_after(event.worker_times);
  }
  if (!is_closed(trial.state) || event.worker_times > 0) {
    step.emit(std::move(event));
  }
}

void lose_attempt_there(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why) {
  const LiveAttempt& live = *trial_of(step.state(), key.experiment, key.trial).live;
  const bool in_vain =
      !live.gang && is_start_failure(live, step.now());  // Of several workers the last loss decides.
  const Instant leased_at = live.leased_at;
  lose_attempt(step, key, worker, why);
  if (in_vain) {
    delayed(step, key, leased_at, worker, why);
  }
}

void apply(const Applier& applier, const StartDelayed& delayed) {
  ExperimentRecord& record = applier.experiment(delayed.experiment);
  TrialRecord& trial = record.trials[delayed.trial.number()];
  if (!is_closed(trial.state)) {
    FailureHistory& failure_history = trial.failure_history.ensure();
    failure_history.start_failures = delayed.times;
    failure_history.last_start_failure = delayed.worker;
    failure_history.why_false = delayed.why;
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
