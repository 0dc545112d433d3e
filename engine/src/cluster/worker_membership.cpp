#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/cluster/liveness.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

const HeldAttempt* find_held(const JoinWorker& command, const AttemptKey& key) {
  const auto found = std::find_if(command.held.begin(), command.held.end(),
                                  [&](const HeldAttempt& held) { return held.key == key; });
  return found == command.held.end() ? nullptr : &*found;
}

/// The part of the log that an older copy of the store lacks may have begun and ended it.
bool may_be_over(const EngineState& state, const AttemptKey& key) {
  return state.numbering.precedes_a_restore(key.lease.number());
}

/// Leases the log gives this worker but which it cannot be running: lost, each with the reason. Those of
/// which only the HELLO of an agent that was known before knows nothing are in doubt.
std::vector<AttemptKey> give_up_missing(Step& step, const WorkerRecord& worker, const JoinWorker& command) {
  const bool same_agent = worker.incarnation == command.incarnation;
  std::vector<AttemptKey> in_doubt;
  const std::vector<AttemptKey> keys(worker.attempts.begin(), worker.attempts.end());
  for (const AttemptKey& key : keys) {
    const LiveAttempt& live = *trial_of(step.state(), key.experiment, key.trial).live;
    const AttemptPart part = *live.part_on(worker.id);
    const bool fits = part.slots->empty() ||
                      std::max_element(part.slots->begin(), part.slots->end())->number() < command.slots;
    const HeldAttempt* held = find_held(command, live.known_as());
    if (held != nullptr && fits) {
      if (!part.started && !held->waits) {
        step.emit(AttemptStarted{
            key, part.rank > 0 ? worker.id : WorkerId{}});  // The message that said so was lost.
      }
      // Acknowledged or sent once and missing in this log: an older store was brought back. It cannot come
      // again. An attempt whose end is decided is not judged by its exit, and may be saving its state.
      const bool may_have_unlogged_decision =
          !live.has_unlogged_decision && !live.is_ending() && from_the_lost_part(step.state(), *held);
      if (held->first_seq > part.applied_seq + 1 || may_have_unlogged_decision) {
        lose_attempt(step, key, worker.id, "this store is older than what its worker has reported", true);
      }
      continue;
    }
    if (!fits) {
      lose_attempt(step, key, worker.id, "its worker came back with fewer slots");
    } else if (!same_agent) {
      lose_attempt_there(step, key, worker.id, "its worker was restarted and does not run it any more");
    } else if (part.started || live.is_ending() || may_be_over(step.state(), key)) {
      in_doubt.push_back(key);
    }
  }
  return in_doubt;
}

std::vector<LeakedProcesses> leaked_processes_among(const std::vector<HeldAttempt>& held) {
  std::vector<LeakedProcesses> leaked_processes;
  for (const HeldAttempt& attempt : held) {
    if (attempt.unkillable) {
      leaked_processes.push_back({attempt.key, attempt.slots});
    }
  }
  return leaked_processes;
}

WelcomeWorker welcome(const EngineState& state, WorkerId id, const JoinWorker& command) {
  WelcomeWorker answer;
  answer.worker = id;
  for (const HeldAttempt& held : command.held) {
    WelcomeWorker::Attempt attempt;
    attempt.key = held.key;
    const TrialRecord* trial = find_trial(state, held.key);
    const std::optional<AttemptPart> part =
        trial != nullptr && trial->live && trial->live->known_as() == held.key ? trial->live->part_on(id)
                                                                               : std::nullopt;
    const bool live = part.has_value();
    if (live || find_granted_trial(state, id, held.key) != nullptr) {
      // One part of an attempt may come back that was given up before the others exited.
      const Gang::Member* member =
          trial->live && trial->live->gang ? trial->live->gang->member_on(id) : nullptr;
      const bool has_exited = trial->live ? member != nullptr && member->exited : trial->exited;
      const bool over = has_exited && held.exited && trial->last_lease == held.key.lease;
      attempt.fate = live || over ? WelcomeWorker::Fate::go_on : WelcomeWorker::Fate::fenced;
      attempt.upto = live   ? part->applied_seq
                     : over ? std::max(trial->last_seq, held.last_seq)
                            : trial->last_seq;
      if (live && trial->live->key.lease != held.key.lease) {
        attempt.lease = trial->live->key.lease;
      }
    } else if (state.workers.at(id).disowned.contains(held.key) ||
               state.deleted.contains(held.key.experiment)) {
      attempt.fate = WelcomeWorker::Fate::fenced;
    }
    answer.attempts.push_back(attempt);
  }
  return answer;
}

/// Decisions that the log has for this worker and that the worker has not received. The lost part of a
/// restored log may have taken an end back that this log has decided: that is sent again.
void repeat_outstanding(Step& step, WorkerId id, const JoinWorker& command,
                        const std::vector<AttemptKey>& in_doubt) {
  const EngineState& state = step.state();
  auto& orders = step.effects().orders;
  for (const AttemptKey& key : state.workers.at(id).attempts) {
    const LiveAttempt& live = *trial_of(state, key.experiment, key.trial).live;
    const HeldAttempt* held = find_held(command, live.known_as());
    if (held == nullptr && std::find(in_doubt.begin(), in_doubt.end(), key) != in_doubt.end()) {
      continue;  // Leased again, it would begin again.
    }
    if (held == nullptr || held->waits) {
      orders.emplace_back(
          LaunchAttempt{id, attempt_spec_of(state, key, id)});  // Until it says that it has begun.
    }
    if (held == nullptr || !live.decision) {
      continue;
    }
    Decision decision = *live.decision;
    if (live.is_ending() && from_the_lost_part(state, *held)) {
      decision.id =
          Lsn(held->last_decision.number() + 1);  // A worker listens to what is later than all that it heard.
    }
    if (decision.id > held->last_decision) {
      orders.emplace_back(DecideAttempt{id, key, decision});
    }
  }
}

}  // namespace

Status may_join(const EngineState& state, const JoinWorker& command) {
  if (command.uid == external_worker_uid) {
    return Error{Errc::bad_request, "worker \"" + command.name + "\" has the uid \"" + command.uid +
                                        "\", which stands for trials that no worker runs"};
  }
  if (command.slots > most_slots_of_a_worker) {
    return Error{Errc::bad_request, "worker \"" + command.name + "\" says it has " +
                                        std::to_string(command.slots) + " slots; at most " +
                                        std::to_string(most_slots_of_a_worker) + " are taken"};
  }
  if (!command.devices.empty() && command.devices.size() != command.slots) {
    return Error{Errc::bad_request, "worker \"" + command.name + "\" names " +
                                        std::to_string(command.devices.size()) + " devices for its " +
                                        std::to_string(command.slots) +
                                        " slots; it must name one for each, or none"};
  }
  const auto known = state.worker_by_uid.find(command.uid);
  const WorkerRecord* worker =
      known != state.worker_by_uid.end() ? &state.workers.at(known->second) : nullptr;
  if (worker != nullptr && command.incarnation < worker->incarnation) {
    return Error{Errc::wrong_state, "worker \"" + worker->name + "\" is known with a later start (" +
                                        std::to_string(worker->incarnation) + " > " +
                                        std::to_string(command.incarnation) +
                                        "): this one runs on an old copy of its state directory"};
  }
  return Done{};
}

bool is_as_known(const std::optional<WorkerEnd>& known, const std::optional<TimeLeft>& said,
                 Instant now) noexcept {
  constexpr Duration tolerance = Duration::seconds(5);
  const auto is_near = [now, tolerance](Instant at, Duration left) {
    const Duration apart = at - (now + left);
    return apart <= tolerance && apart + tolerance >= Duration{};
  };
  return known && said ? is_near(known->at, said->to_end) && is_near(known->gives_back_at, said->to_give_back)
                       : !known && !said;
}

Status note_time_left(Step& step, const NoteTimeLeft& command) {
  const auto found = step.state().workers.find(command.worker);
  if (found == step.state().workers.end()) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  if (!is_as_known(found->second.end, command.time_left, step.now())) {
    constexpr Duration shortest = Duration::millis(1);  // 0 stands for no end.
    const TimeLeft left = command.time_left.value_or(TimeLeft{});
    step.emit(WorkerEndNoted{command.worker, command.time_left ? std::max(left.to_end, shortest) : Duration{},
                             left.to_give_back});
  }
  return Done{};
}

Status join_worker(Step& step, const JoinWorker& command) {
  const EngineState& state = step.state();
  if (const Status may = may_join(state, command); !may) {
    return may;
  }
  const auto known = state.worker_by_uid.find(command.uid);
  WorkerId id;
  bool changed = true;
  std::vector<AttemptKey> in_doubt;
  if (known != state.worker_by_uid.end()) {
    id = known->second;
    const WorkerRecord& worker = state.workers.at(id);
    in_doubt = give_up_missing(step, worker, command);
    changed = !worker.present || worker.incarnation != command.incarnation ||
              worker.slots.total() != command.slots || worker.name != command.name ||
              worker.devices != command.devices || worker.pool != command.pool ||
              worker.labels != command.labels || worker.address != command.address ||
              worker.max_unslotted != command.max_unslotted || worker.allocation != command.allocation;
  } else {
    id = WorkerId(state.last_worker.number() + 1);
  }
  if (changed) {
    step.emit(WorkerJoined{id, command.uid, command.name, command.incarnation, command.slots,
                           command.slot_kind, command.devices, command.pool, command.labels, command.address,
                           command.max_unslotted, command.allocation});
    if (const auto name = allocation_named(command.allocation)) {
      static_cast<void>(note_started(step, NoteStarted{*name}));  // The other scheduler is asked less often.
    }
  }
  static_cast<void>(note_time_left(step, NoteTimeLeft{id, command.time_left}));
  static_cast<void>(note_troubles(step, NoteTroubles{id, command.troubles}));
  adopt_returned(step, id, command.held);
  add_lost_time(step, id, command.held);
  static_cast<void>(
      note_leaked_processes(step, NoteLeakedProcesses{id, leaked_processes_among(command.held)}));
  step.effects().joined = id;
  WelcomeWorker answer = welcome(state, id, command);
  answer.in_doubt = in_doubt;
  step.effects().orders.emplace_back(std::move(answer));
  repeat_outstanding(step, id, command, in_doubt);
  return Done{};
}

Status disclaim_attempts(Step& step, const DisclaimAttempts& command) {
  const EngineState& state = step.state();
  const auto worker = state.workers.find(command.worker);
  if (worker == state.workers.end()) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  for (const AttemptKey& key : command.keys) {
    if (!worker->second.attempts.contains(key)) {
      continue;  // Lost for another reason meanwhile.
    }
    const LiveAttempt& live = *trial_of(state, key.experiment, key.trial).live;
    if (live.part_on(command.worker)->started) {
      lose_attempt_there(step, key, command.worker, "its worker does not have it any more");
    } else if (!live.is_ending()) {
      lose_attempt(step, key, command.worker,
                   "leased before the store was brought back, and its worker does not have it");
    } else {
      lose_attempt(step, key, command.worker, "it was ended before its worker started it");
    }
  }
  return Done{};
}

Status lose_worker(Step& step, const LoseWorker& command) {
  const EngineState& state = step.state();
  const auto found = state.workers.find(command.worker);
  if (found == state.workers.end()) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  if (!found->second.present) {
    return Done{};
  }
  const std::vector<AttemptKey> keys(found->second.attempts.begin(), found->second.attempts.end());
  for (const AttemptKey& key : keys) {
    evict_attempt(step, key, command.worker,
                  "its worker \"" + found->second.name + "\" is gone: " + command.why);
  }
  step.emit(WorkerLost{command.worker, command.why});
  return Done{};
}

Status expire_leases(Step& step, const ExpireLeases& command) {
  const EngineState& state = step.state();
  const auto found = state.workers.find(command.worker);
  if (found == state.workers.end()) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  const WorkerRecord& worker = found->second;
  if (!worker.present) {
    return Done{};
  }
  const Duration silent = step.now() - command.heard;
  const std::string why = "no message from its worker \"" + worker.name + "\" for " +
                          std::to_string(silent.in_micros() / 1'000'000) + " s";
  const std::vector<AttemptKey> keys(worker.attempts.begin(), worker.attempts.end());
  for (const AttemptKey& key : keys) {
    const ExperimentRecord& record = state.experiments.at(key.experiment);
    const LiveAttempt& live = *record.trials[key.trial.number()].live;
    const Duration patience =
        lease_patience(command.lost_after, record.config.lost_after, step.now() - live.checkpoint_at);
    if (silent >= std::max(patience, command.at_least)) {
      lose_attempt(step, key, command.worker, why, true);
    }
  }
  if (worker.attempts.empty() && silent >= std::max(command.lost_after, command.at_least)) {
    step.emit(WorkerLost{command.worker,
                         "no message from it for " + std::to_string(silent.in_micros() / 1'000'000) + " s",
                         true});
  } else if (worker.attempts.size() < keys.size()) {
    step.effects().orders.emplace_back(
        GreetAgain{command.worker});  // Should it speak, then of what it holds first.
  }
  return Done{};
}

}  // namespace hpsearch::engine
