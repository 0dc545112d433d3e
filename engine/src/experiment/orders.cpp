#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "experiment/trials/retention.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

bool overlap(const std::vector<SlotIndex>& a, const std::vector<SlotIndex>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&b](SlotIndex slot) { return std::find(b.begin(), b.end(), slot) != b.end(); });
}

using TrialPlace = std::pair<ExperimentId, TrialNumber>;

/// Trials whose running attempt may get an order because of these events, in order, each once.
std::vector<TrialPlace> touched_by(const EngineState& state, const std::vector<Event>& events) {
  std::vector<TrialPlace> touched;
  const auto all_running = [&](ExperimentId id) {
    for (const TrialNumber number : state.experiments.at(id).running) {
      touched.emplace_back(id, number);
    }
  };
  for (const Event& event : events) {
    if (const auto* promoted = std::get_if<TrialPromoted>(&event.body)) {
      touched.emplace_back(promoted->experiment, promoted->trial);
    } else if (const auto* paused = std::get_if<TrialPaused>(&event.body)) {
      touched.emplace_back(paused->experiment, paused->trial);
    } else if (const auto* ended = std::get_if<TrialEnded>(&event.body)) {
      touched.emplace_back(ended->experiment, ended->trial);
    } else if (const auto* all = std::get_if<ExperimentPaused>(&event.body)) {
      all_running(all->experiment);
    } else if (const auto* changed = std::get_if<LimitsChanged>(&event.body)) {
      all_running(changed->experiment);
    } else if (const auto* stopping = std::get_if<ExperimentStopping>(&event.body)) {
      all_running(stopping->experiment);
    } else if (const auto* exited = std::get_if<MemberExited>(&event.body)) {
      touched.emplace_back(exited->key.experiment, exited->key.trial);
    } else if (const auto* lost = std::get_if<MemberLost>(&event.body)) {
      touched.emplace_back(lost->key.experiment, lost->key.trial);
    } else if (const auto* taken = std::get_if<ReportTaken>(&event.body);
               taken != nullptr && std::holds_alternative<ExitReport>(taken->report)) {
      touched.emplace_back(taken->key.experiment,
                           taken->key.trial);  // The end of a gang's first member ends the others.
    }
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return touched;
}

/// The remaining checkpoints of a deleted experiment. Few checkpoints in each order, so that each is
/// confirmed soon.
void discard(const DeletedExperiment& deleted, std::vector<Order>& orders) {
  constexpr std::size_t most_paths = 256;
  std::vector<std::string> paths;
  for (const std::string& path : deleted.condemned) {
    paths.push_back(path);
    if (paths.size() == most_paths) {
      orders.emplace_back(DiscardCheckpoints{deleted.id, std::exchange(paths, {})});
    }
  }
  if (!paths.empty()) {
    orders.emplace_back(DiscardCheckpoints{deleted.id, std::move(paths)});
  }
  orders.emplace_back(DiscardExperiment{deleted.id});
}

}  // namespace

AttemptSpec attempt_spec_of(const EngineState& state, const AttemptKey& key, WorkerId worker) {
  const ExperimentRecord& record = state.experiments.at(key.experiment);
  const TrialRecord& trial = record.trials[key.trial.number()];
  const ExperimentConfig& config = record.config;
  AttemptSpec spec;
  spec.key = key;
  spec.trial_id = trial.id;
  spec.slots = *trial.live->part_on(worker)->slots;
  spec.hparams = record.hparams[key.trial.number()];
  spec.length = trial.live->granted_length;
  spec.trial_seed = trial_seed(config.experiment_seed, key.trial);
  if (trial.checkpoints) {
    spec.latest_checkpoint = trial.checkpoints->latest;
    spec.latest_step = trial.checkpoints->latest_step;
    spec.checkpoint_may_be_gone = !trial.checkpoints->latest.empty();
  }
  if (spec.latest_checkpoint.empty() && record.source) {
    spec.latest_checkpoint = record.source->path;
    spec.warm_start_of = record.source->experiment;
  }
  for (const auto& [ended, leaked_processes] : state.workers.at(worker).leaked_processes) {
    spec.despite_leaked_processes =
        spec.despite_leaked_processes ||
        (leaked_processes.released && overlap(leaked_processes.slots, spec.slots));
  }
  for (const auto& [slot, withdrawn] : state.workers.at(worker).withdrawn) {
    spec.despite_leaked_processes =
        spec.despite_leaked_processes || (withdrawn.released && overlap({slot}, spec.slots));
  }
  if (trial.live->gang) {
    const Gang& gang = *trial.live->gang;
    spec.rendezvous.rank = trial.live->part_on(worker)->rank;
    spec.rendezvous.port = gang.port;
    for (const Gang::Member& member : gang.members) {
      spec.rendezvous.addresses.push_back(state.workers.at(member.worker).address);
    }
  }
  return spec;
}

void give_orders(Step& step) {
  const EngineState& state = step.state();
  auto& orders = step.effects().orders;
  for (const auto& [experiment, number] : touched_by(state, step.effects().events)) {
    const TrialRecord& trial = trial_of(state, experiment, number);
    if (!trial.live || !trial.live->decision ||
        trial.live->decision->id.number() < state.numbering.of(step.first())) {
      continue;
    }
    const LiveAttempt& live = *trial.live;
    if (!live.gang) {
      orders.emplace_back(DecideAttempt{live.worker, live.key, *live.decision});
      continue;
    }
    for (const Gang::Member& member : live.gang->members) {
      if (!member.gone) {
        orders.emplace_back(DecideAttempt{member.worker, live.key, *live.decision});
      }
    }
  }
  for (const Event& event : step.effects().events) {
    if (const auto* collected = std::get_if<CheckpointsCollected>(&event.body)) {
      std::vector<std::string> paths = collected->paths;
      const std::vector<std::string>& condemned = state.experiments.at(collected->experiment).condemned;
      std::erase_if(paths,
                    [&condemned](const std::string& path) {  // Forgotten only: forget_latest_checkpoint().
                      return std::find(condemned.begin(), condemned.end(), path) == condemned.end();
                    });
      if (!paths.empty()) {
        orders.emplace_back(DiscardCheckpoints{collected->experiment, std::move(paths)});
      }
    }
    if (const auto* deleted = std::get_if<ExperimentDeleted>(&event.body)) {
      discard(state.deleted.at(deleted->experiment), orders);
    }
    const auto* granted = std::get_if<LeaseGranted>(&event.body);
    if (granted != nullptr && granted->lease_for == Duration{}) {
      const AttemptKey key{granted->experiment, granted->trial, granted->attempt,
                           state.numbering.lease_of(event.lsn)};
      orders.emplace_back(LaunchAttempt{granted->worker, attempt_spec_of(state, key, granted->worker)});
      for (const Place& other : granted->others) {
        orders.emplace_back(LaunchAttempt{other.worker, attempt_spec_of(state, key, other.worker)});
      }
    }
  }
}

}  // namespace hpsearch::engine
