// Trials that clients run themselves. One worker stands for all of them, so that what holds for attempts of
// workers holds for theirs: limits, reports, losses.

#include <algorithm>
#include <string>

#include "hpsearch/engine/base/text.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

/// It joins when the first client asks, and stays.
void join_external(Step& step) {
  const EngineState& state = step.state();
  const std::string uid(external_worker_uid);
  if (state.worker_by_uid.contains(uid)) {
    return;
  }
  WorkerJoined joined;
  joined.worker = WorkerId(state.last_worker.number() + 1);
  joined.uid = uid;
  joined.name = uid;
  joined.incarnation = 1;
  joined.slot_kind = "cpu";
  step.emit(std::move(joined));
}

}  // namespace

Status ask_trials(Step& step, const AskTrials& command) {
  const auto found = step.state().experiments.find(command.experiment);
  if (found == step.state().experiments.end()) {
    return Error{Errc::not_found, "there is no experiment " + std::to_string(command.experiment.number())};
  }
  if (!found->second.config.resources.external) {
    return Error{Errc::wrong_state, "the workers of the cluster run the trials of experiment " +
                                        std::to_string(command.experiment.number()) +
                                        "; only with `workers: external` in its file can you ask for them"};
  }
  if (command.count == 0 || command.count > most_trials_at_once || command.lease_for < Duration::millis(1)) {
    return Error{Errc::bad_request, "count has to be 1 to " + std::to_string(most_trials_at_once) +
                                        ", and a lease has to last 1 ms at least"};
  }
  join_external(step);
  step.ask(command.experiment, command);
  return Done{};
}

Status expire_external(Step& step, const ExpireExternal& command) {
  for (const AttemptKey& key : command.keys) {
    const TrialRecord* trial = find_trial(step.state(), key);
    if (trial == nullptr || !trial->live || trial->live->key != key || !trial->live->external) {
      continue;
    }
    const double seconds = trial->live->external->lease_for.in_seconds();
    lose_attempt(step, key, trial->live->worker,
                 "its client did not renew the lease for " + short_number(seconds) + " s");
  }
  return Done{};
}

}  // namespace hpsearch::engine
