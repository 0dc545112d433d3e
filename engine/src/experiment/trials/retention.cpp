#include "experiment/trials/retention.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "hpsearch/engine/experiment/best_trial.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

struct Ranked {
  double metric;
  TrialNumber trial;
  std::size_t place;
};

/// The `count` best places, ties to who comes first in `ranked`.
void take_best(std::vector<Ranked> ranked, std::uint64_t count, Goal goal, CheckpointPlaces& to) {
  std::stable_sort(ranked.begin(), ranked.end(), [goal](const Ranked& a, const Ranked& b) {
    return goal == Goal::minimize ? a.metric < b.metric : a.metric > b.metric;
  });
  for (std::size_t i = 0; i < ranked.size() && i < count; ++i) {
    to.emplace(ranked[i].trial, ranked[i].place);
  }
}

void add_measured(const TrialRecord& trial, TrialNumber number, std::vector<Ranked>& to) {
  for (std::size_t place = 0; trial.checkpoints && place < trial.checkpoints->kept.size(); ++place) {
    if (const std::optional<double>& metric = trial.checkpoints->kept[place].metric) {
      to.push_back({*metric, number, place});
    }
  }
}

/// The trial's own best.
void take_best_of(const ExperimentRecord& record, TrialNumber trial, CheckpointPlaces& to) {
  std::vector<Ranked> measured;
  add_measured(record.trials[trial.number()], trial, measured);
  take_best(std::move(measured), 1, record.config.searcher.goal(), to);
}

/// The best of the trial that the search comes to, which repeats may choose against its single metric. Until
/// the experiment has ended, any finalist's best training may become that trial.
void take_best_of_finalists(const ExperimentRecord& record, CheckpointPlaces& to) {
  const std::vector<Finalist> finalists = finalists_of(record);
  if (finalists.empty()) {
    return;
  }
  if (const std::optional<TrialNumber> best = best_trial(record, finalists)) {
    take_best_of(record, *best, to);
  }
  for (auto finalist = finalists.begin(); !is_ended(record.state) && finalist != finalists.end();
       ++finalist) {
    if (const Finalist::Training* best = finalist->best(record.config.searcher.goal())) {
      take_best_of(record, best->trial, to);
    }
  }
}

/// Checkpoints that living experiments begin their trials from, each with the first of those experiments.
/// O(living experiments).
std::map<std::string, ExperimentId> sources_in_use(const EngineState& state) {
  std::map<std::string, ExperimentId> sources;
  for (const ExperimentId id : state.going) {
    if (const auto& source = state.experiments.at(id).source) {
      sources.emplace(source->path, id);
    }
  }
  return sources;
}

}  // namespace

CheckpointPlaces best_of_experiment(const ExperimentRecord& record) {
  CheckpointPlaces best;
  for (const BestCheckpoints::Entry& entry : record.best_checkpoints.entries()) {
    const std::vector<KnownCheckpoint>& kept = record.trials[entry.trial.number()].checkpoints->kept;
    const auto place = std::find_if(kept.begin(), kept.end(),
                                    [&entry](const KnownCheckpoint& one) { return one.path == entry.path; });
    best.emplace(entry.trial, static_cast<std::size_t>(place - kept.begin()));
  }
  if (record.config.retention.save_experiment_best > 0) {
    take_best_of_finalists(record, best);
  }
  return best;
}

std::vector<std::string> surplus_checkpoints(const ExperimentRecord& record, TrialNumber number,
                                             const CheckpointPlaces& experiment_best) {
  const TrialRecord& trial = record.trials[number.number()];
  std::vector<std::string> surplus;
  if (!trial.checkpoints) {
    return surplus;
  }
  const CheckpointRetention& retention = record.config.retention;
  const std::vector<KnownCheckpoint>& kept = trial.checkpoints->kept;
  std::vector<Ranked> measured;
  add_measured(trial, number, measured);
  CheckpointPlaces saved = experiment_best;
  take_best(std::move(measured), retention.save_trial_best, record.config.searcher.goal(), saved);
  for (std::size_t place = 0; place < kept.size(); ++place) {
    const bool late = kept.size() - place <= retention.save_trial_latest;
    if (!late && !saved.contains({number, place})) {
      surplus.push_back(kept[place].path);
    }
  }
  return surplus;
}

bool is_settled(const TrialRecord& trial) noexcept {
  return is_closed(trial.state) && !trial.live;
}

void name_checkpoints(KnownCheckpoints& checkpoints, Goal goal) {
  const std::vector<KnownCheckpoint> kept = std::move(checkpoints.kept);
  checkpoints = {};
  for (const KnownCheckpoint& checkpoint : kept) {
    checkpoints.latest = checkpoint.path;
    checkpoints.latest_step = checkpoint.step;
    const bool best =
        checkpoint.metric && (!checkpoints.best_metric ||
                              (goal == Goal::minimize ? *checkpoint.metric < *checkpoints.best_metric
                                                      : *checkpoint.metric > *checkpoints.best_metric));
    if (best) {
      checkpoints.best = checkpoint.path;
      checkpoints.best_step = checkpoint.step;
      checkpoints.best_metric = checkpoint.metric;
    }
  }
  checkpoints.kept = kept;
}

void collect_checkpoints(Step& step, ExperimentId id) {
  const ExperimentRecord& record = step.state().experiments.at(id);
  if (record.uncollected.empty()) {
    return;
  }
  const std::set<TrialNumber> trials = step.take_uncollected(id);
  const CheckpointPlaces best = best_of_experiment(record);
  const std::map<std::string, ExperimentId> in_use = sources_in_use(step.state());
  std::vector<CheckpointsCollected> events;
  for (const TrialNumber number : trials) {
    std::vector<std::string> surplus = surplus_checkpoints(record, number, best);
    std::erase_if(surplus, [&in_use](const std::string& path) { return in_use.contains(path); });
    if (!surplus.empty()) {
      events.push_back({id, number, std::move(surplus)});
    }
  }
  for (CheckpointsCollected& event : events) {  // Now, since each moves the places of its trial.
    step.emit(std::move(event));
  }
}

bool has_own_checkpoint(const TrialRecord& trial) {
  return trial.checkpoints && !trial.checkpoints->latest.empty();
}

void forget_latest_checkpoint(Step& step, ExperimentId id, TrialNumber number) {
  const std::vector<std::string> paths{trial_of(step.state(), id, number).checkpoints->latest};
  step.emit(CheckpointsCollected{id, number, paths});
  step.emit(CheckpointsDeleted{id, paths});  // No order deletes it: if it exists after all, it stays.
}

Status delete_checkpoints(Step& step, const DeleteCheckpoints& command) {
  const auto found = step.state().experiments.find(command.experiment);
  if (found == step.state().experiments.end()) {
    return no_experiment(step.state(), command.experiment);
  }
  const ExperimentRecord& record = found->second;
  if (command.trial.number() >= record.trials.size()) {
    return Error{Errc::not_found, "experiment " + std::to_string(record.id.number()) + " has no trial " +
                                      std::to_string(command.trial.number())};
  }
  const TrialRecord& trial = record.trials[command.trial.number()];
  const std::string which = "trial " + std::to_string(command.trial.number());
  const std::map<std::string, ExperimentId> in_use = sources_in_use(step.state());
  for (const std::string& path : command.paths) {
    const bool condemned =
        std::find(record.condemned.begin(), record.condemned.end(), path) != record.condemned.end();
    const bool known =
        trial.checkpoints &&
        std::any_of(trial.checkpoints->kept.begin(), trial.checkpoints->kept.end(),
                    [&path](const KnownCheckpoint& checkpoint) { return checkpoint.path == path; });
    if (!known && !condemned) {
      return Error{Errc::not_found, which + " has no checkpoint " + path};
    }
    if (!is_settled(trial) && trial.checkpoints->latest == path) {
      return Error{Errc::wrong_state, which + " may continue from " + path + "; end the trial first"};
    }
    if (const auto user = in_use.find(path); user != in_use.end()) {
      return Error{Errc::wrong_state, "experiment " + std::to_string(user->second.number()) +
                                          " starts its trials from " + path + "; end that experiment first"};
    }
  }
  CheckpointsCollected event{record.id, command.trial, {}};
  for (const KnownCheckpoint& checkpoint :
       trial.checkpoints ? trial.checkpoints->kept : std::vector<KnownCheckpoint>{}) {
    if (std::find(command.paths.begin(), command.paths.end(), checkpoint.path) != command.paths.end()) {
      event.paths.push_back(checkpoint.path);
    }
  }
  if (!event.paths.empty()) {  // Asking twice is not an error.
    step.emit(std::move(event));
  }
  return Done{};
}

Status confirm_deleted(Step& step, const ConfirmDeleted& command) {
  const EngineState& state = step.state();
  const auto found = state.experiments.find(command.experiment);
  const auto gone = state.deleted.find(command.experiment);
  if (found == state.experiments.end() && gone == state.deleted.end()) {
    return no_experiment(state, command.experiment);
  }
  CheckpointsDeleted event{command.experiment, {}};
  if (gone != state.deleted.end()) {
    std::copy_if(command.paths.begin(), command.paths.end(), std::back_inserter(event.paths),
                 [&gone](const std::string& path) { return gone->second.condemned.contains(path); });
  } else {
    std::copy_if(found->second.condemned.begin(), found->second.condemned.end(),
                 std::back_inserter(event.paths), [&command](const std::string& path) {
                   return std::find(command.paths.begin(), command.paths.end(), path) != command.paths.end();
                 });
  }
  if (!event.paths.empty()) {
    step.emit(std::move(event));
  }
  return Done{};
}

}  // namespace hpsearch::engine
