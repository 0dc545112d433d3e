#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "applier.hpp"
#include "event_checks.hpp"
#include "experiment/trials/first_failures.hpp"
#include "experiment/trials/trained_length.hpp"

namespace hpsearch::engine {
namespace {

/// Another attempt has its place.
void forget_lost(const Applier& applier, TrialRecord& trial) {
  if (!trial.failure_history) {
    return;
  }
  if (const auto& lost = trial.failure_history->lost) {
    if (const auto worker = applier.state.workers.find(lost->worker); worker != applier.state.workers.end()) {
      worker->second.may_return.erase(lost->key);
    }
  }
  trial.failure_history->lost.reset();
  if (trial.failure_history->crashes == 0 && trial.failure_history->fruitless == 0) {
    trial.failure_history.reset();
  }
}

/// The slots and the time of an attempt on one worker, which it gives back now.
void note_spans(ExperimentRecord& record, const LiveAttempt& live, WorkerId where,
                const std::vector<SlotIndex>& slots, Instant now, AttemptEnd end) {
  AttemptSpan span;
  span.from = live.slots_since;
  span.to = now;
  span.trial = static_cast<std::uint32_t>(live.key.trial.number());
  span.attempt = static_cast<std::uint32_t>(live.key.attempt.number());
  span.worker = static_cast<std::uint32_t>(where.number());
  span.end = end;
  for (const SlotIndex slot : slots) {
    span.slot = static_cast<std::uint16_t>(std::min<std::uint64_t>(slot.number(), AttemptSpan::no_slot - 1));
    record.spans.push_back(span);
  }
  if (slots.empty()) {
    record.spans.push_back(span);
  }
}

}  // namespace

bool is_failure(const TrialRecord& trial, const ExitReport& exit) noexcept {
  constexpr int interrupted = 75;  // EX_TEMPFAIL of sysexits.h
  if ((trial.live && trial.live->is_ending()) || trial.state != TrialState::running) {
    return false;
  }
  switch (exit.cause) {
    case ExitReport::Cause::exited:
      return exit.code != 0 && exit.code != interrupted;
    case ExitReport::Cause::signaled:
    case ExitReport::Cause::could_not_start:
    case ExitReport::Cause::out_of_memory:
    case ExitReport::Cause::no_progress:
      return true;
    case ExitReport::Cause::ended_by_agent:
    case ExitReport::Cause::lost:
    case ExitReport::Cause::checkpoint_gone:
      return false;
  }
  return false;
}

AttemptEnd end_of(const ExperimentRecord& record, const TrialRecord& trial, const ExitReport& exit) noexcept {
  if (is_failure(trial, exit)) {
    return AttemptEnd::failed;
  }
  if (exit.cause == ExitReport::Cause::lost || exit.cause == ExitReport::Cause::checkpoint_gone) {
    return AttemptEnd::lost;
  }
  switch (trial.state) {
    case TrialState::paused:
      return AttemptEnd::paused;
    case TrialState::completed:
      return AttemptEnd::finished;
    case TrialState::stopped:
      return AttemptEnd::stopped;
    case TrialState::failed:
      return AttemptEnd::failed;
    case TrialState::canceled:
      return AttemptEnd::canceled;
    case TrialState::pending:
    case TrialState::running:
      break;
  }
  if (!trial.live->is_ending()) {
    const bool by_itself = exit.cause == ExitReport::Cause::exited && exit.code == 0;
    return by_itself ? AttemptEnd::finished : AttemptEnd::preempted;
  }
  if (trial.live->decision->directive == Directive::pause) {
    return record.state == ExperimentState::paused ? AttemptEnd::paused : AttemptEnd::preempted;
  }
  const bool by_user =
      record.state == ExperimentState::stopping && record.stopping_as == ExperimentState::canceled;
  return by_user ? AttemptEnd::canceled : AttemptEnd::stopped;
}

void count_failure(TrialRecord& trial, const ExitReport& exit, const std::string& where) {
  ++trial.restarts;
  trial.last_failure = where + exit.message + (exit.log_tail.empty() ? "" : "\n" + exit.log_tail);
}

void apply(const Applier& applier, const LeaseGranted& granted) {
  ExperimentRecord& record = applier.experiment(granted.experiment);
  TrialRecord& trial = record.trials[granted.trial.number()];
  const LeaseId lease = applier.lease_id();
  const AttemptKey key{granted.experiment, granted.trial, granted.attempt, lease};
  move(record, trial, TrialMove::lease);
  set_trains_no_further(record, trial, false);
  LiveAttempt live;
  live.key = key;
  live.worker = granted.worker;
  live.slots = granted.slots;
  live.granted_length = granted.length;
  if (trial.checkpoints && !trial.checkpoints->latest.empty()) {
    live.began_at = trial.checkpoints->latest_step;
  }
  live.leased_at = applier.event.at;
  live.slots_since = applier.event.at;
  live.checkpoint_at = applier.event.at;
  live.origin = lease;
  if (granted.lease_for > Duration{}) {
    live.external.ensure() = {granted.lease_for, granted.request};
  }
  if (!granted.others.empty()) {
    Gang& gang = live.gang.ensure();
    gang.port = granted.port;
    gang.members.push_back({granted.worker, granted.slots});
    for (const Place& other : granted.others) {
      gang.members.push_back({other.worker, other.slots});
    }
  }
  trial.attempts = static_cast<std::uint32_t>(granted.attempt.number());
  if (WorkerRecord& worker = applier.state.workers.at(granted.worker); worker.probation) {
    worker.probation->attempt = key;
  }
  applier.hold(record, trial, std::move(live));
}

std::string problem_with(const EventChecks& checks, const LeaseGranted& granted) {
  const TrialRecord* record = checks.find(granted.experiment, granted.trial);
  if (record == nullptr) {
    return checks.trial(granted.experiment, granted.trial);
  }
  if (record->live || record->state != TrialState::pending) {
    return "trial " + std::to_string(granted.trial.number()) + " does not wait for a slot";
  }
  std::vector<Place> places = granted.others;
  places.push_back({granted.worker, granted.slots});
  std::set<WorkerId> workers;
  for (const Place& place : places) {
    if (const std::string lost = checks.present(place.worker); !lost.empty()) {
      return lost;
    }
    if (const std::string taken = checks.vacant(place.worker, place.slots); !taken.empty()) {
      return taken;
    }
    if (!workers.insert(place.worker).second) {
      return "it names worker " + std::to_string(place.worker.number()) + " twice";
    }
  }
  return checks.going(granted.experiment);
}

void apply(const Applier& applier, const AttemptAdopted& adopted) {
  ExperimentRecord& record = applier.experiment(adopted.key.experiment);
  TrialRecord& trial = record.trials[adopted.key.trial.number()];
  move(record, trial, TrialMove::lease);
  LiveAttempt live;
  if (trial.failure_history && trial.failure_history->lost &&
      trial.failure_history->lost->known_as() == adopted.key) {
    live = std::move(*trial.failure_history->lost);
    if (!live.reported && !live.is_ending() && trial.failure_history->fruitless > 0) {
      --trial.failure_history->fruitless;  // It has not ended after all.
    }
  } else {
    live.checkpoint_at = applier.event.at;
    live.reported = adopted.upto > 0;
    live.lacks_time = true;
  }
  live.key = adopted.key;
  live.key.lease = applier.lease_id();
  live.origin = adopted.key.lease;
  live.worker = adopted.worker;
  live.slots = adopted.slots;
  live.granted_length = adopted.length;
  live.has_unlogged_decision =
      live.has_unlogged_decision || adopted.has_unlogged_decision || adopted.upto > live.applied_seq;
  live.applied_seq = adopted.upto;
  live.started = true;
  live.leased_at = applier.event.at;
  live.slots_since = applier.event.at;
  if (adopted.trains_on) {
    live.decision = Decision{applier.decision_id(), Directive::train_on, trial.length};
  }
  trial.attempts = std::max(trial.attempts, static_cast<std::uint32_t>(adopted.key.attempt.number()));
  if (!applier.state.numbering.has_given(adopted.key.lease.number(), applier.state.last_lsn)) {
    applier.state.workers.at(adopted.worker).adopted.insert(adopted.key);
  }
  forget_lost(applier, trial);
  applier.hold(record, trial, std::move(live));
}

std::string problem_with(const EventChecks& checks, const AttemptAdopted& adopted) {
  const TrialRecord* record = checks.find(adopted.key.experiment, adopted.key.trial);
  if (record == nullptr) {
    return checks.trial(adopted.key.experiment, adopted.key.trial);
  }
  if (record->live || record->state != TrialState::pending) {
    return "trial " + std::to_string(adopted.key.trial.number()) + " does not wait for a slot";
  }
  const std::string over = checks.going(adopted.key.experiment);
  return over.empty() ? checks.vacant(adopted.worker, adopted.slots) : over;
}

void apply(const Applier& applier, const AttemptStarted& started) {
  TrialRecord& trial = trial_of(applier.state, started.key.experiment, started.key.trial);
  if (started.member == WorkerId{}) {
    trial.live->started = true;
  } else {
    trial.live->gang->member_on(started.member)->started = true;
  }
  forget_lost(applier, trial);
}

std::string problem_with(const EventChecks& checks, const AttemptStarted& started) {
  return started.member == WorkerId{} ? checks.live(started.key) : checks.member(started.key, started.member);
}

void apply(const Applier& applier, const AttemptLost& lost) {
  ExperimentRecord& record = applier.experiment(lost.key.experiment);
  TrialRecord& trial = record.trials[lost.key.trial.number()];
  if (lost.may_return && !(trial.failure_history && trial.failure_history->lost)) {
    LiveAttempt& kept = trial.failure_history.ensure().lost.emplace(*trial.live);
    kept.held_before = kept.held_before + (applier.event.at - kept.leased_at);
    applier.state.workers.at(kept.worker).may_return.insert(kept.key);
  }
  applier.release(record, lost.key.trial, AttemptEnd::lost);
  note_settled(record, lost.key.trial);
}

std::string problem_with(const EventChecks& checks, const AttemptLost& lost) {
  const std::string missing = checks.live(lost.key);
  if (!missing.empty()) {
    return missing;
  }
  return checks.find(lost.key.experiment, lost.key.trial)->live->gang
             ? "an attempt on several workers is lost member by member"
             : "";
}

void Applier::take_exit(ExperimentRecord& record, TrialNumber number, const ExitReport& exit) const {
  TrialRecord& trial = record.trials[number.number()];
  const bool failed = is_failure(trial, exit);
  const AttemptEnd end = end_of(record, trial, exit);
  if (trial.live->gang) {
    end_by_first_rank(trial, exit, failed);
    leave_gang(record, trial, trial.live->worker, true, end);
    return;
  }
  if (failed) {
    count_failure(trial, exit);
    note_failure(state, record, trial, exit, trial.live->worker);
  }
  if (exit.cause == ExitReport::Cause::exited && exit.code == 0 && went_its_own_way(record, number)) {
    set_trains_no_further(record, trial, true);
  }
  trial.exited = true;
  release(record, number, end);
  note_settled(record, number);
}

void Applier::hold(ExperimentRecord& record, TrialRecord& trial, LiveAttempt live) const {
  const TrialNumber number = live.key.trial;
  trial.last_lease = live.key.lease;
  trial.last_seq = live.applied_seq;
  trial.exited = false;
  trial.from_zero = live.first_step == Units{};
  trial.best_is_recent = false;
  record.ahead.erase(number);
  auto waiting = record.pending.extract(number);  // Its node goes along.
  HPSEARCH_CHECK(!waiting.empty(), "what is leased was waiting");
  record.delayed.erase(number);
  record.running.insert(std::move(waiting));
  if (record.first_lease_at == Instant{}) {
    record.first_lease_at = event.at;
  }
  if (record.first_failures.first_start == Instant{}) {
    record.first_failures.first_start = event.at;
  }
  if (live.gang) {
    for (const Gang::Member& member : live.gang->members) {
      take_slots(record, live.key, member.worker, member.slots);
    }
  } else {
    take_slots(record, live.key, live.worker, live.slots);
  }
  trial.live = std::move(live);
}

void Applier::take_slots(ExperimentRecord& record, const AttemptKey& key, WorkerId where,
                         const std::vector<SlotIndex>& slots) const {
  WorkerRecord& worker = state.workers.at(where);
  worker.slots.take(slots, key.lease);
  worker.attempts.insert(key);
  worker.unslotted += slots.empty() ? 1U : 0U;
  note_vacancy(state, worker);
  record.slot_time.change(static_cast<std::int64_t>(slots.size()), event.at);
  count_slots(state, record, static_cast<std::int64_t>(slots.size()), event.at);
}

void Applier::release_slots(ExperimentRecord& record, TrialRecord& trial, WorkerId where,
                            const std::vector<SlotIndex>& slots, AttemptEnd end) const {
  const LiveAttempt& live = *trial.live;
  note_spans(record, live, where, slots, event.at, end);
  WorkerRecord& worker = state.workers.at(where);
  worker.slots.release(slots, live.key.lease);
  worker.attempts.erase(live.key);
  if (worker.probation && worker.probation->attempt == live.key) {
    worker.probation->attempt.reset();  // Unless it showed something, the next one may.
  }
  worker.unslotted -= slots.empty() ? 1U : 0U;
  note_vacancy(state, worker);
  record.slot_time.change(-static_cast<std::int64_t>(slots.size()), event.at);
  count_slots(state, record, -static_cast<std::int64_t>(slots.size()), event.at);
  trial.busy = trial.busy + slots_for(event.at - live.leased_at, slots.size());
  record.last_release_at = event.at;
}

void Applier::release(ExperimentRecord& record, TrialNumber number, AttemptEnd end) const {
  TrialRecord& trial = record.trials[number.number()];
  note_pace(record, *trial.live);
  release_slots(record, trial, trial.live->worker, trial.live->slots, end);
  finish_training(record, trial);
  record.running.erase(number);
  trial.live.reset();
}

}  // namespace hpsearch::engine
