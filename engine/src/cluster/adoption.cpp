// A worker comes back with a program whose lease is over. The program may be days old and is worth more than
// a replacement that has not begun.

#include <algorithm>
#include <cstdint>
#include <string>

#include "step.hpp"

namespace hpsearch::engine {
namespace {

std::string attempt_text(const AttemptKey& key) {
  return "attempt " + std::to_string(key.attempt.number()) + " of trial " +
         std::to_string(key.trial.number()) + " of experiment " + std::to_string(key.experiment.number());
}

/// The slots are there, and free or held by `but`, which is about to go. Slots in trouble get no new leases,
/// but these are not new: what trains there, trains on, and its worker ends it when its device is broken.
bool can_take(const WorkerRecord& worker, const std::vector<SlotIndex>& slots, const LiveAttempt* but) {
  return std::all_of(slots.begin(), slots.end(), [&](SlotIndex slot) {
    const bool goes = but != nullptr && but->worker == worker.id &&
                      std::find(but->slots.begin(), but->slots.end(), slot) != but->slots.end();
    return slot.number() < worker.slots.total() && (goes || worker.slots.is_free(slot));
  });
}

/// Takes the lease back from an attempt that has not begun.
void revoke(Step& step, AttemptKey key, WorkerId worker) {
  step.effects().orders.emplace_back(FenceAttempt{worker, key});
  revoke_attempt(step, key, worker, "revoked before it started: the attempt before it came back");
}

/// Why the trial cannot have another attempt back, or "". That as many trials run as may run at once is none:
/// this one runs anyway, and ending it would cost what it has trained. Nothing new begins before the
/// experiment is below again.
std::string obstacle(const ExperimentRecord& record, const TrialRecord& trial, const WorkerRecord& worker,
                     const std::vector<SlotIndex>& slots) {
  if (record.state != ExperimentState::active) {
    return "the experiment is " + std::string(name_of(record.state));
  }
  if (trial.live && trial.live->started) {
    return attempt_text(trial.live->key) + " has started on worker " +
           std::to_string(trial.live->worker.number());
  }
  if (trial.live && trial.live->gang) {
    return attempt_text(trial.live->key) + " has slots on several workers";
  }
  if (trial.live ? trial.state != TrialState::running : trial.state != TrialState::pending) {
    return "the trial is " + std::string(name_of(trial.state));
  }
  if (!can_take(worker, slots, trial.live ? &*trial.live : nullptr)) {
    return "its slots are taken or gone";
  }
  return "";
}

/// The decision to send now. It may have got a pause before its trial was queued again, and never heard
/// that; or its trial was promoted meanwhile. What it did hear stands: it may be about to exit because of it.
bool has_to_train_on(const TrialRecord& trial, const LiveAttempt& lost, const HeldAttempt& held) {
  if (held.exited) {
    return false;  // Its reports say what it came to.
  }
  if (!lost.decision) {
    return lost.granted_length < trial.length;
  }
  const bool heard = held.last_decision >= lost.decision->id;
  return lost.is_ending() ? !heard : lost.decision->length < trial.length;
}

/// In the lost part of a log. Whatever says more is mistaken, and numbers are given on from there.
constexpr std::uint64_t most_attempts_lost = 1'000'000;

bool names_one_twice(std::vector<SlotIndex> slots) {
  std::sort(slots.begin(), slots.end());
  return std::adjacent_find(slots.begin(), slots.end()) != slots.end();
}

/// It is over and has no report left to hand in, not even of its exit: it was fenced, and what survives of it
/// is all that it is held for. Adopted, it would never end.
bool has_nothing_to_say(const HeldAttempt& held) {
  return held.exited && held.first_seq > held.last_seq;
}

}  // namespace

const TrialRecord* find_trial(const EngineState& state, const AttemptKey& key) {
  const auto found = state.experiments.find(key.experiment);
  return found != state.experiments.end() && key.trial.number() < found->second.trials.size()
             ? &found->second.trials[key.trial.number()]
             : nullptr;
}

const TrialRecord* find_granted_trial(const EngineState& state, WorkerId holder, const AttemptKey& key) {
  const TrialRecord* trial = find_trial(state, key);
  if (trial == nullptr || key.attempt.number() > trial->attempts) {
    return nullptr;
  }
  const auto worker = state.workers.find(holder);
  const bool adopted = worker != state.workers.end() && worker->second.adopted.contains(key);
  return adopted || state.numbering.has_given(key.lease.number(), state.last_lsn) ? trial : nullptr;
}

bool from_the_lost_part(const EngineState& state, const HeldAttempt& held) {
  return state.numbering.precedes_a_restore(held.key.lease.number()) && held.last_decision != Lsn{} &&
         !state.numbering.has_given(held.last_decision.number(), state.last_lsn);
}

void adopt_returned(Step& step, WorkerId id, const std::vector<HeldAttempt>& held) {
  const EngineState& state = step.state();
  for (const HeldAttempt& attempt : held) {
    const TrialRecord* known = find_trial(state, attempt.key);
    if (known == nullptr || !known->failure_history || !known->failure_history->lost) {
      continue;
    }
    const TrialRecord& trial = *known;
    const LiveAttempt lost = *trial.failure_history->lost;
    const WorkerRecord& worker = state.workers.at(id);
    if (lost.worker != id || lost.known_as() != attempt.key || has_nothing_to_say(attempt) ||
        !obstacle(state.experiments.at(attempt.key.experiment), trial, worker, lost.slots).empty()) {
      continue;
    }
    if (trial.live) {
      revoke(step, trial.live->key, trial.live->worker);
    }
    step.emit(AttemptAdopted{attempt.key, id, lost.slots, lost.granted_length,
                             std::max(lost.applied_seq, attempt.first_seq > 0 ? attempt.first_seq - 1 : 0),
                             has_to_train_on(trial, lost, attempt), from_the_lost_part(state, attempt)});
  }
}

namespace {

/// Reports are known by their attempt's number, and this log may have some of one with the same.
bool number_is_taken(const TrialRecord& trial, const AttemptKey& key) {
  const bool about_to_go = trial.live && !trial.live->started && trial.live->key.attempt == key.attempt;
  return key.attempt.number() <= trial.attempts && !about_to_go;
}

}  // namespace

Status adopt_attempt(Step& step, const AdoptAttempt& command) {
  const EngineState& state = step.state();
  const HeldAttempt& held = command.held;
  const auto worker = state.workers.find(command.worker);
  if (worker == state.workers.end() || !worker->second.present) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  const TrialRecord* known = find_trial(state, held.key);
  if (known == nullptr) {
    return Error{Errc::not_found,
                 "this store has no trial for " + attempt_text(held.key) + "; it can only be killed"};
  }
  if (worker->second.disowned.contains(held.key)) {
    return Error{Errc::wrong_state, attempt_text(held.key) + " cannot be adopted: it was disowned"};
  }
  const TrialRecord& trial = *known;
  const ExperimentRecord& experiment = state.experiments.at(held.key.experiment);
  if (const std::string why = obstacle(experiment, trial, worker->second, held.slots); !why.empty()) {
    return Error{Errc::wrong_state, attempt_text(held.key) + " cannot be adopted: " + why};
  }
  if (held.slots.size() != experiment.config.resources.slots_per_trial || held.first_seq == 0) {
    return Error{Errc::bad_request,
                 attempt_text(held.key) + " does not say what it uses and what it has reported"};
  }
  if (has_nothing_to_say(held)) {
    return Error{Errc::wrong_state, attempt_text(held.key) +
                                        " cannot be adopted: it is over, and nothing of it is left to "
                                        "report; it can only be disowned"};
  }
  if (number_is_taken(trial, held.key)) {
    return Error{Errc::wrong_state, attempt_text(held.key) +
                                        " cannot be adopted: this store has had another one of that "
                                        "number since; it can only be disowned"};
  }
  if (names_one_twice(held.slots)) {
    return Error{Errc::bad_request,
                 attempt_text(held.key) + " says that it uses one slot twice; each can be its once"};
  }
  if (held.key.attempt.number() > trial.attempts + most_attempts_lost) {
    return Error{Errc::bad_request, attempt_text(held.key) + " cannot be adopted: this store knows of " +
                                        std::to_string(trial.attempts) + " attempts, and no backup is " +
                                        std::to_string(most_attempts_lost) + " behind"};
  }
  if (trial.live) {
    revoke(step, trial.live->key, trial.live->worker);
  }
  step.emit(AttemptAdopted{held.key, command.worker, held.slots, held.length, held.first_seq - 1,
                           !held.exited && held.length < trial.length, from_the_lost_part(state, held)});
  step.effects().orders.emplace_back(GreetAgain{command.worker});
  return Done{};
}

Status disown_attempt(Step& step, const DisownAttempt& command) {
  const EngineState& state = step.state();
  const auto worker = state.workers.find(command.worker);
  if (worker == state.workers.end()) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  const TrialRecord* trial = find_trial(state, command.key);
  const bool adopted = trial != nullptr && trial->live && trial->live->known_as() == command.key;
  if (adopted || find_granted_trial(state, command.worker, command.key) != nullptr) {
    return Error{Errc::wrong_state, attempt_text(command.key) + " cannot be disowned: this store knows it"};
  }
  if (!worker->second.disowned.contains(command.key)) {
    step.emit(AttemptDisowned{command.worker, command.key});
  }
  step.effects().orders.emplace_back(FenceAttempt{command.worker, command.key});
  return Done{};
}

}  // namespace hpsearch::engine
