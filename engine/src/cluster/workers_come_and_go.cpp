#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "step.hpp"

namespace hpsearch::engine {
namespace {

const HeldAttempt* find_held(const JoinWorker& command, const AttemptKey& key) {
  const auto found = std::find_if(command.held.begin(), command.held.end(),
                                  [&](const HeldAttempt& held) { return held.key == key; });
  return found == command.held.end() ? nullptr : &*found;
}

bool is_ending(const LiveAttempt& live) {
  return live.decision && live.decision->directive != Directive::train_on;
}

/// Leases the log gives this worker but which it cannot be running: gone, each with the reason.
void give_up_missing(Step& step, const WorkerRecord& worker, const JoinWorker& command) {
  const bool same_agent = worker.incarnation == command.incarnation;
  const std::vector<AttemptKey> keys(worker.attempts.begin(), worker.attempts.end());
  for (const AttemptKey& key : keys) {
    const LiveAttempt& live = *trial_of(step.world(), key.experiment, key.trial).live;
    const bool fits = live.slots.empty() || live.slots.back().number() < command.slots;
    if (find_held(command, key) != nullptr && fits) {
      if (!live.started) {
        step.happened(AttemptStarted{key});  // The message that said so was lost.
      }
      continue;
    }
    if (!fits) {
      lose_attempt(step, key, "its worker came back with fewer slots");
    } else if (!same_agent || live.started) {
      lose_attempt(step, key, "its worker was restarted and does not run it any more");
    } else if (is_ending(live)) {
      lose_attempt(step, key, "it was ended before its worker started it");
    }
  }
}

WelcomeWorker welcome(const World& world, WorkerId id, const JoinWorker& command) {
  WelcomeWorker answer;
  answer.worker = id;
  for (const HeldAttempt& held : command.held) {
    WelcomeWorker::Attempt attempt;
    attempt.key = held.key;
    const auto found = world.experiments.find(held.key.experiment);
    const bool known = found != world.experiments.end() &&
                       held.key.trial.number() < found->second.trials.size() &&
                       held.key.attempt.number() <= found->second.trials[held.key.trial.number()].attempts &&
                       held.key.lease.number() <= world.last_lsn.number();
    if (known) {
      const TrialRecord& trial = found->second.trials[held.key.trial.number()];
      const bool live = trial.live && trial.live->key == held.key && trial.live->worker == id;
      const bool over = !trial.live && trial.exited && trial.last_lease == held.key.lease;
      attempt.fate = live || over ? WelcomeWorker::Fate::go_on : WelcomeWorker::Fate::fenced;
      attempt.upto = live ? trial.live->applied_seq : trial.last_seq;
    }
    answer.attempts.push_back(attempt);
  }
  return answer;
}

/// What the log says this worker was told and, by its own account, has not heard.
void repeat_outstanding(Step& step, WorkerId id, const JoinWorker& command) {
  const World& world = step.world();
  auto& orders = step.effects().orders;
  for (const AttemptKey& key : world.workers.at(id).attempts) {
    const LiveAttempt& live = *trial_of(world, key.experiment, key.trial).live;
    const HeldAttempt* held = find_held(command, key);
    if (held == nullptr) {
      orders.emplace_back(LaunchAttempt{id, launch_spec_of(world, key)});
    } else if (live.decision && live.decision->id > held->last_decision) {
      orders.emplace_back(DecideAttempt{id, key, *live.decision});
    }
  }
}

}  // namespace

Status join_worker(Step& step, const JoinWorker& command) {
  const World& world = step.world();
  const auto known = world.worker_by_uid.find(command.uid);
  WorkerId id;
  bool changed = true;
  if (known != world.worker_by_uid.end()) {
    id = known->second;
    const WorkerRecord& worker = world.workers.at(id);
    if (command.incarnation < worker.incarnation) {
      return Error{Errc::wrong_state, "worker \"" + worker.name + "\" is known with a later start (" +
                                          std::to_string(worker.incarnation) + " > " +
                                          std::to_string(command.incarnation) +
                                          "): this one runs on an old copy of its state directory"};
    }
    give_up_missing(step, worker, command);
    changed = !worker.present || worker.incarnation != command.incarnation ||
              worker.slots.total() != command.slots || worker.name != command.name;
  } else {
    const std::uint64_t last = world.workers.empty() ? 0 : world.workers.rbegin()->first.number();
    id = WorkerId(last + 1);
  }
  if (changed) {
    step.happened(
        WorkerJoined{id, command.uid, command.name, command.incarnation, command.slots, command.slot_kind});
  }
  step.effects().joined = id;
  step.effects().orders.emplace_back(welcome(world, id, command));
  repeat_outstanding(step, id, command);
  return Done{};
}

Status lose_worker(Step& step, const LoseWorker& command) {
  const World& world = step.world();
  const auto found = world.workers.find(command.worker);
  if (found == world.workers.end()) {
    return Error{Errc::not_found, "there is no worker " + std::to_string(command.worker.number())};
  }
  if (!found->second.present) {
    return Done{};
  }
  const std::vector<AttemptKey> keys(found->second.attempts.begin(), found->second.attempts.end());
  for (const AttemptKey& key : keys) {
    lose_attempt(step, key, "its worker \"" + found->second.name + "\" is gone: " + command.why);
  }
  step.happened(WorkerLost{command.worker, command.why});
  return Done{};
}

}  // namespace hpsearch::engine
