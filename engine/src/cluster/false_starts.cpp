// Attempts that are over as soon as they are leased and by nobody's failure: nothing counts them, so what is
// leased again at once may be lost at once, for ever. Each in a row waits longer than the one before.

#include <algorithm>
#include <string>

#include "applier.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

/// One false start is an accident and is made good at once; then a second, doubled up to five minutes.
Duration wait_after(std::uint64_t false_starts) {
  constexpr std::uint64_t longest = 300;
  constexpr std::uint64_t doublings = 9;
  if (false_starts <= 1) {
    return Duration();
  }
  const std::uint64_t doubled = std::uint64_t{1} << std::min(false_starts - 2, doublings);
  return Duration::seconds(static_cast<std::int64_t>(std::min(doubled, longest)));
}

/// Attempts that were leased together and lost together say no more than one of them does.
bool says_something_new(const WorkerRecord& worker, Instant leased_at) {
  return worker.false_starts == 0 || leased_at >= worker.last_false_start;
}

void put_off_trial(World& world, ExperimentRecord& record, TrialNumber number, Instant until) {
  record.put_off.insert(number);
  world.agenda.put_off.insert({until, record.id, number, WorkerId{}});
}

void let_rest(World& world, const WorkerRecord& worker) {
  world.agenda.resting.insert(worker.id);
  world.agenda.put_off.insert({worker.rests_until, ExperimentId{}, TrialNumber{}, worker.id});
}

}  // namespace

bool is_false_start(const LiveAttempt& live, Instant now) {
  constexpr Duration soon = Duration::seconds(60);
  return live.reached == Units{} && (!live.started || now - live.leased_at <= soon);
}

void put_off(Step& step, const AttemptKey& key, Instant leased_at, WorkerId worker, const std::string& why) {
  const World& world = step.world();
  const TrialRecord& trial = trial_of(world, key.experiment, key.trial);
  StartPutOff event;
  event.experiment = key.experiment;
  event.trial = key.trial;
  event.why = why;
  event.times = (trial.mishaps ? trial.mishaps->false_starts : 0) + 1;
  event.wait = wait_after(event.times);
  event.worker = worker;
  const auto known = world.workers.find(worker);
  if (known != world.workers.end() && says_something_new(known->second, leased_at)) {
    event.worker_times = known->second.false_starts + 1;
    event.worker_wait = wait_after(event.worker_times);
  }
  if (!is_closed(trial.state) || event.worker_times > 0) {
    step.happened(std::move(event));
  }
}

void lose_attempt_there(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why) {
  const LiveAttempt& live = *trial_of(step.world(), key.experiment, key.trial).live;
  const bool in_vain =
      !live.gang && is_false_start(live, step.now());  // Of several workers the last loss decides.
  const Instant leased_at = live.leased_at;
  lose_attempt(step, key, worker, why);
  if (in_vain) {
    put_off(step, key, leased_at, worker, why);
  }
}

void Applier::operator()(const StartPutOff& put_off) const {
  ExperimentRecord& record = experiment(put_off.experiment);
  TrialRecord& trial = record.trials[put_off.trial.number()];
  if (!is_closed(trial.state)) {
    Mishaps& mishaps = trial.mishaps.ensure();
    mishaps.false_starts = put_off.times;
    mishaps.last_false_start = put_off.worker;
    mishaps.why_false = put_off.why;
    mishaps.not_before = event.at + put_off.wait;
    if (record.pending.contains(put_off.trial) && mishaps.not_before > event.at) {
      put_off_trial(world, record, put_off.trial, mishaps.not_before);
    }
  }
  if (put_off.worker_times > 0) {
    WorkerRecord& worker = world.workers.at(put_off.worker);
    worker.false_starts = put_off.worker_times;
    worker.last_false_start = event.at;
    worker.rests_until = event.at + put_off.worker_wait;
    if (worker.rests_until > event.at) {
      let_rest(world, worker);
    }
    note_vacancy(world, worker);
  }
}

void Applier::note_good_start(WorkerId where, const LiveAttempt& live) const {
  WorkerRecord& worker = world.workers.at(where);
  if (worker.false_starts > 0 && live.leased_at >= worker.last_false_start) {
    forget_false_starts(world, worker);
    note_vacancy(world, worker);
  }
}

void forget_false_starts(World& world, WorkerRecord& worker) {
  worker.false_starts = 0;
  worker.last_false_start = Instant{};
  worker.rests_until = Instant{};
  world.agenda.resting.erase(worker.id);
}

void wait_for_slot(World& world, ExperimentRecord& record, TrialNumber number, Instant now) {
  record.pending.insert(number);
  const TrialRecord& trial = record.trials[number.number()];
  if (trial.mishaps && trial.mishaps->not_before > now) {
    put_off_trial(world, record, number, trial.mishaps->not_before);
  }
}

void stop_waiting(ExperimentRecord& record, TrialNumber number) {
  record.pending.erase(number);
  record.put_off.erase(number);
}

void note_put_off(World& world, Instant now) {
  for (const auto& [id, worker] : world.workers) {
    if (worker.rests_until > now) {
      let_rest(world, worker);
    }
  }
  for (const ExperimentId id : world.going) {
    ExperimentRecord& record = world.experiments.at(id);
    for (const TrialNumber number : record.pending) {
      const TrialRecord& trial = record.trials[number.number()];
      if (!trial.live && trial.mishaps && trial.mishaps->not_before > now) {
        put_off_trial(world, record, number, trial.mishaps->not_before);
      }
    }
  }
}

void end_putting_off(World& world, Instant now) {
  auto& waiting = world.agenda.put_off;
  while (!waiting.empty() && waiting.begin()->until <= now) {
    const Agenda::PutOff due = *waiting.begin();
    waiting.erase(waiting.begin());
    if (due.worker != WorkerId{}) {
      const WorkerRecord& worker = world.workers.at(due.worker);
      if (worker.rests_until <= now && world.agenda.resting.erase(due.worker) > 0) {
        note_vacancy(world, worker);
      }
      continue;
    }
    ExperimentRecord& record = world.experiments.at(due.experiment);
    const TrialRecord& trial = record.trials[due.trial.number()];
    const bool later = trial.mishaps && trial.mishaps->not_before > now;
    if (!later && record.put_off.erase(due.trial) > 0) {
      touch(world, record);
    }
  }
}

}  // namespace hpsearch::engine
