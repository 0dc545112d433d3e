#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "applier.hpp"
#include "event_checks.hpp"
#include "experiment/report_digest.hpp"
#include "experiment/trials/first_failures.hpp"
#include "experiment/trials/retention.hpp"
#include "experiment/trials/trained_length.hpp"

namespace hpsearch::engine {
namespace {

bool better(double a, double b, Goal goal) {
  return goal == Goal::minimize ? a < b : a > b;
}

/// The trial's latest checkpoint was measured at its exact step.
void rate_checkpoint(ExperimentRecord& record, TrialNumber number, double metric) {
  KnownCheckpoints& checkpoints = *record.trials[number.number()].checkpoints;
  if (!checkpoints.kept.empty() && std::isfinite(metric)) {
    checkpoints.kept.back().metric = metric;
    name_checkpoints(checkpoints, record.config.searcher.goal());
    record.best_checkpoints.measured(record.trials, number);
  }
}

}  // namespace

// Kinds are a worker's words, so their number is bounded here.
void take_note(ExperimentRecord& record, const AttemptKey& key, const NoteReport& note) {
  constexpr std::size_t most = 16;
  const auto known = std::find_if(record.notes.begin(), record.notes.end(),
                                  [&note](const ExperimentNote& old) { return old.about == note.about; });
  if (known != record.notes.end()) {
    ++known->attempts;
  } else if (record.notes.size() < most) {
    record.notes.push_back({note.about, note.text, key.trial, key.attempt});
  }
}

namespace {

void take_checkpoint(ExperimentRecord& record, TrialNumber number, const CheckpointReport& checkpoint) {
  TrialRecord& trial = record.trials[number.number()];
  KnownCheckpoints& checkpoints = trial.checkpoints.ensure();
  // Saved once more at the same step, it lies at the same place.
  const std::size_t replaced = std::erase_if(
      checkpoints.kept, [&](const KnownCheckpoint& old) { return old.path == checkpoint.path; });
  if (replaced > 0) {
    record.best_checkpoints.gone(record.trials, number, checkpoint.path);
  }
  checkpoints.kept.push_back(
      {checkpoint.path, checkpoint.step, std::nullopt, checkpoint.files, checkpoint.bytes});
  name_checkpoints(checkpoints, record.config.searcher.goal());
  if (trial.latest && trial.latest->step == checkpoint.step) {
    rate_checkpoint(record, number, trial.latest->metric);
  }
}

}  // namespace

const double* find_metric(const Metrics& metrics, const std::string& name) noexcept {
  const auto found =
      std::lower_bound(metrics.begin(), metrics.end(), name,
                       [](const auto& metric, const std::string& wanted) { return metric.first < wanted; });
  return found != metrics.end() && found->first == name ? &found->second : nullptr;
}

void apply(const Applier& applier, const ReportTaken& taken) {
  ExperimentRecord& record = applier.experiment(taken.key.experiment);
  TrialRecord& trial = record.trials[taken.key.trial.number()];
  trial.live->applied_seq = taken.seq;
  trial.live->last_digest = digest_of(taken.report);
  trial.last_seq = taken.seq;
  applier.note_health(record, trial, taken);
  if (!std::holds_alternative<ExitReport>(taken.report) &&
      !std::holds_alternative<NoteReport>(taken.report)) {
    note_sign_of_life(record);
  }
  trial.live->reported = trial.live->reported || !(std::holds_alternative<ExitReport>(taken.report) ||
                                                   std::holds_alternative<NoteReport>(taken.report));
  if (const auto* metrics = std::get_if<MetricsReport>(&taken.report)) {
    applier.take_metrics(record, taken.key.trial, trial, *metrics);
  } else if (const auto* checkpoint = std::get_if<CheckpointReport>(&taken.report)) {
    take_checkpoint(record, taken.key.trial, *checkpoint);
    LiveAttempt& live = *trial.live;
    if (const Units before = std::max(live.saved, live.began_at); checkpoint->step > before) {
      record.pace.strides.add(static_cast<double>(count(checkpoint->step) - count(before)));
      live.saved = checkpoint->step;
    }
    live.checkpoint_at = applier.event.at;
  } else if (const auto* exit = std::get_if<ExitReport>(&taken.report)) {
    applier.take_exit(record, taken.key.trial, *exit);
  } else if (std::holds_alternative<InvalidHparamsReport>(taken.report)) {
    if (trial.state == TrialState::running) {  // Else its fate was decided by what it measured.
      note_invalid(record, taken.key.trial, applier.event.at);
    }
  } else if (const auto* note = std::get_if<NoteReport>(&taken.report)) {
    take_note(record, taken.key, *note);
  }
}

std::string problem_with(const EventChecks& checks, const ReportTaken& taken) {
  const std::string missing = checks.live(taken.key);
  if (!missing.empty()) {
    return missing;
  }
  const LiveAttempt& live = *checks.find(taken.key.experiment, taken.key.trial)->live;
  if (!live.part_on(live.worker)) {
    return "its first member is gone";
  }
  return taken.seq == live.applied_seq + 1
             ? ""
             : "report " + std::to_string(taken.seq) + " follows report " + std::to_string(live.applied_seq);
}

void Applier::note_health(ExperimentRecord& record, TrialRecord& trial, const ReportTaken& taken) const {
  const LiveAttempt& live = *trial.live;
  const auto* exit = std::get_if<ExitReport>(&taken.report);
  if (std::holds_alternative<NoteReport>(taken.report)) {
    return;  // Garbled output is no sign of health.
  }
  if (exit == nullptr) {
    note_good_report(record, trial);
    note_good_start(live.worker, live);
    for (std::size_t rank = 1; live.gang && rank < live.gang->members.size(); ++rank) {
      note_good_start(live.gang->members[rank].worker, live);
    }
    if (trial.failure_history) {
      trial.failure_history.reset();
    }
    return;
  }
  if (!live.gang && taken.seq == 1 && is_failure(trial, *exit)) {
    note_crash(trial, taken.key, live.worker, *exit);
  }
}

void Applier::take_metrics(ExperimentRecord& record, TrialNumber number, TrialRecord& trial,
                           const MetricsReport& report) const {
  const bool gets_on = !trial.live->first_step || report.step > trial.live->reached;
  count_training(record, trial, report.step);
  if (gets_on) {
    trial.live->last_report_at = event.at;
    if (trial.live->first_report_at == Instant{}) {
      trial.live->first_report_at = event.at;
    }
  }
  const double* metric = find_metric(report.metrics, record.config.searcher.metric);
  if (metric == nullptr) {
    if (!trial.latest && !trial.other_metrics && !report.metrics.empty()) {
      std::string& names = trial.other_metrics.ensure();
      for (const auto& [name, value] : report.metrics) {
        names += (names.empty() ? "" : ", ") + name;
      }
    }
    return;
  }
  const Goal goal = record.config.searcher.goal();
  trial.live->measured = true;
  trial.other_metrics.reset();
  trial.latest = Measurement{report.step, *metric};
  note_measurement(record, *trial.live, *trial.latest);
  if (std::isfinite(*metric) && !trial.invalid &&
      (!trial.best || better(*metric, trial.best->metric, goal))) {
    trial.best = trial.latest;
    trial.best_at = event.at;
    trial.best_is_recent = true;
    if (!record.best || *record.best == number ||
        better(*metric, record.trials[record.best->number()].best->metric, goal)) {
      record.best = number;
      note_best(record, event.at);
    }
  }
  if (trial.checkpoints && trial.checkpoints->latest_step == report.step) {
    rate_checkpoint(record, number, *metric);
  }
  if (report.step > trial.length && trial.state == TrialState::paused) {
    note_ahead(record, number, *trial.latest);
  }
  if (report.step < trial.length && trial.state == TrialState::running) {
    record.searcher->on_event(TrialReported{number, report.step, Score::from_metric(*metric, goal)});
  }
}

void apply(const Applier& applier, const CheckpointsCollected& collected) {
  ExperimentRecord& record = applier.experiment(collected.experiment);
  TrialRecord& trial = record.trials[collected.trial.number()];
  record.condemned.insert(record.condemned.end(), collected.paths.begin(), collected.paths.end());
  if (!trial.checkpoints) {
    return;
  }
  std::erase_if(trial.checkpoints->kept, [&collected](const KnownCheckpoint& checkpoint) {
    return std::find(collected.paths.begin(), collected.paths.end(), checkpoint.path) !=
           collected.paths.end();
  });
  name_checkpoints(*trial.checkpoints, record.config.searcher.goal());
  for (const std::string& path : collected.paths) {
    record.best_checkpoints.gone(record.trials, collected.trial, path);
  }
}

std::string problem_with(const EventChecks& checks, const CheckpointsCollected& collected) {
  return checks.trial(collected.experiment, collected.trial);
}

void apply(const Applier& applier, const CheckpointsDeleted& deleted) {
  const auto found = applier.state.experiments.find(deleted.experiment);
  if (found != applier.state.experiments.end()) {
    std::erase_if(found->second.condemned, [&deleted](const std::string& path) {
      return std::find(deleted.paths.begin(), deleted.paths.end(), path) != deleted.paths.end();
    });
    return;
  }
  DeletedExperiment& gone = applier.state.deleted.at(deleted.experiment);
  for (const std::string& path : deleted.paths) {
    gone.condemned.erase(path);
  }
  if (gone.condemned.empty()) {
    gone.effective = {};  // The place is not needed any more.
  }
}

std::string problem_with(const EventChecks& checks, const CheckpointsDeleted& deleted) {
  return checks.state.deleted.contains(deleted.experiment) ? "" : checks.experiment(deleted.experiment);
}

}  // namespace hpsearch::engine
