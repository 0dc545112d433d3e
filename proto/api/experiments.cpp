#include "hpsearch/proto/api/experiments.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/seconds.hpp"
#include "hpsearch/engine/config/search_doubts.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/engine/experiment/best_trial.hpp"
#include "hpsearch/engine/experiment/source_checkpoint.hpp"
#include "hpsearch/engine/learnt.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"

namespace hpsearch::api {

using engine::Cardinality;
using engine::ExperimentRecord;
using engine::TrialRecord;
using engine::TrialState;
using sentences::Language;

namespace {

/// Properties of the search that its user may not intend, one text each.
std::vector<std::string> doubts_of(const ExperimentRecord& experiment) {
  std::vector<std::string> doubts;
  for (const engine::Doubt& doubt : engine::doubts_of(experiment.config)) {
    doubts.push_back(engine::describe(doubt.note));
  }
  return doubts;
}

/// The lengths of all trials, if each had been trained in full. Programs that end before max_length
/// show how long full training is.
Cardinality full_length(const ExperimentRecord& experiment) {
  const engine::OwnLengths& own = experiment.own_lengths;
  const Cardinality others =
      experiment.trials.size() - std::min<std::uint64_t>(own.trials, experiment.trials.size());
  const Cardinality each = own.trials > 0 ? own.trained / own.trials
                                          : Cardinality{engine::count(experiment.config.searcher.max_length)};
  return others * each + own.trained;
}

std::optional<BestResult> best_of(const ExperimentRecord& experiment) {
  const std::vector<engine::Finalist> finalists = engine::finalists_of(experiment);
  const std::optional<engine::TrialNumber> best = engine::best_trial(experiment, finalists);
  if (!best || !experiment.trials[best->number()].best) {
    return {};
  }
  const engine::Measurement& measured = *experiment.trials[best->number()].best;
  BestResult result{.trial = *best, .metric = measured.metric, .step = measured.step};
  if (!finalists.empty()) {
    const auto metric_or_null = [](std::optional<double> value) {
      return value ? std::optional<Metric>(*value) : std::nullopt;
    };
    result.mean = metric_or_null(finalists.front().mean);
    result.deviation = metric_or_null(finalists.front().deviation);
  }
  return result;
}

/// The best mean first.
std::vector<Finalist> shown_finalists(const ExperimentRecord& experiment) {
  std::vector<Finalist> list;
  for (const engine::Finalist& finalist : engine::finalists_of(experiment)) {
    Finalist& one = list.emplace_back();
    one.mean = finalist.mean;
    one.deviation = finalist.deviation;
    one.hparams = *experiment.hparams[finalist.trainings.front().trial.number()].as_map();
    for (const engine::Finalist::Training& training : finalist.trainings) {
      one.trainings.push_back({training.trial, training.metric});
    }
  }
  return list;
}

/// A search that completed has progress 1, even if a budget ended it before its searcher would have.
std::optional<double> progress_of(const ExperimentRecord& experiment) {
  if (experiment.searcher == nullptr) {
    return {};
  }
  return experiment.state == engine::ExperimentState::completed ? 1.0 : experiment.searcher->progress();
}

std::vector<Note> notes_of(const ExperimentRecord& experiment, Language language) {
  std::vector<Note> notes;
  for (const engine::ExperimentNote& note : experiment.notes) {
    notes.push_back(
        {note.trial, note.attempt, note.attempts, note.about, sentences::stored_in(language, note.text)});
  }
  return notes;
}

void fill_summary(const ExperimentRecord& experiment, Language language, ExperimentSummary& summary) {
  const auto or_default = [](const std::string& word) { return word.empty() ? "default" : word; };
  const engine::SearcherConfig& searcher = experiment.config.searcher;
  summary.id = experiment.id;
  summary.name = experiment.config.name;
  summary.state = experiment.state;
  summary.archived = experiment.archived;
  summary.reason = sentences::stored_in(language, experiment.reason);
  summary.progress = progress_of(experiment);
  summary.searcher = searcher.name;
  summary.metric = searcher.metric;
  summary.smaller_is_better = searcher.smaller_is_better;
  summary.unit = experiment.config.unit;
  summary.max_length = searcher.max_length;
  for (std::size_t i = 0; i < experiment.by_state.size(); ++i) {
    summary.trials[std::string(engine::name_of(static_cast<TrialState>(i)))] = experiment.by_state[i];
  }
  summary.trials_total = experiment.trials.size();
  summary.best = best_of(experiment);
  if (const engine::FailureCauses::Cause* cause = experiment.failure_causes.most_common()) {
    summary.common_failure =
        CommonFailure{cause->attempts, cause->trial, sentences::stored_in(language, cause->why)};
  }
  summary.created_at = seconds(experiment.created_at);
  summary.ended_at =
      engine::is_ended(experiment.state) ? std::optional(seconds(experiment.ended_at)) : std::nullopt;
  summary.owner = experiment.owner;
  summary.workspace = or_default(experiment.config.workspace);
  summary.project = or_default(experiment.config.project);
  summary.labels = experiment.annotation.labels;
  summary.starred = experiment.annotation.starred;
  summary.note = experiment.annotation.note;
}

}  // namespace

std::optional<SourceCheckpoint> source_of(const ExperimentRecord& experiment) {
  if (!experiment.source) {
    return {};
  }
  const engine::SourceCheckpoint& source = *experiment.source;
  return SourceCheckpoint{engine::checkpoint_id(source.experiment, source.trial, source.path),
                          source.experiment, source.trial, source.step, source.path};
}

ProgramChange program_change(const engine::ProgramChange& program) {
  return {program.from,          program.also,    program.context_digest,
          program.context_bytes, program.changed, seconds(program.at)};
}

ExperimentSummary summary_of(const ExperimentRecord& experiment, Language language) {
  ExperimentSummary summary;
  fill_summary(experiment, language, summary);
  return summary;
}

Experiment detail_of(const ExperimentRecord& experiment, engine::Instant now, Language language) {
  Experiment detail;
  fill_summary(experiment, language, detail);
  detail.context_directory = experiment.context_directory;
  detail.context_digest = experiment.context_digest;
  detail.context_bytes = experiment.context_bytes;
  for (const engine::ProgramChange& program : experiment.programs) {
    detail.programs.push_back(program_change(program));
  }
  if (experiment.git) {
    detail.git = GitState{experiment.git->commit, experiment.git->branch, experiment.git->dirty};
  }
  detail.source = source_of(experiment);
  detail.notes = notes_of(experiment, language);
  detail.doubts = doubts_of(experiment);
  for (const engine::TrialTally::Rung& rung : experiment.tally.rungs()) {
    detail.rungs.push_back({rung.length, rung.reached});
  }
  detail.finalists = shown_finalists(experiment);
  for (const engine::TrialTally::Final& final : experiment.tally.finals()) {
    detail.final_counts[std::to_string(engine::count(final.length))] = final.trials;
  }
  detail.length_trained = experiment.tally.trained();
  detail.ran_unlogged = experiment.ran_unlogged;
  detail.length_unreported = experiment.unreported;
  detail.length_full = full_length(experiment);
  detail.slot_seconds = experiment.slot_time.until(std::max(now, experiment.slot_time.since())).in_seconds();
  detail.first_lease_at = seconds_if_any(experiment.first_lease_at);
  detail.last_release_at = seconds_if_any(experiment.last_release_at);
  return detail;
}

std::size_t count_of_checkpoints(const ExperimentRecord& experiment, engine::TrialNumber number) {
  const TrialRecord& trial = experiment.trials[number.number()];
  return trial.checkpoints ? trial.checkpoints->kept.size() : 0;
}

Checkpoint checkpoint_of(const ExperimentRecord& experiment, engine::TrialNumber number, std::size_t place) {
  const engine::KnownCheckpoints& known = *experiment.trials[number.number()].checkpoints;
  const engine::KnownCheckpoint& checkpoint = known.kept[place];
  return {engine::checkpoint_id(experiment.id, number, checkpoint.path),
          number,
          checkpoint.step,
          checkpoint.metric,
          checkpoint.path,
          checkpoint.files,
          checkpoint.bytes,
          checkpoint.path == known.latest,
          checkpoint.path == known.best};
}

std::optional<Model> model_of(const ExperimentRecord& experiment) {
  const std::optional<engine::Learnt> learnt =
      experiment.searcher != nullptr ? experiment.searcher->learnt() : std::nullopt;
  if (!learnt) {
    return {};
  }
  Model model{.experiment = experiment.id,
              .metric = experiment.config.searcher.metric,
              .unit = experiment.config.unit,
              .results = learnt->results,
              .needed = learnt->needed};
  for (const engine::Learnt::Importance& one : learnt->importance) {
    model.hyperparameters.push_back({one.name, one.share, one.length_scale});
  }
  for (const engine::Learnt::Agreement& one : learnt->lengths) {
    model.lengths.push_back({one.length, one.results, one.correlation});
  }
  if (learnt->best) {
    model.best = ModelBest{*learnt->best->hparams.as_map(), learnt->best->mean, learnt->best->deviation,
                           learnt->best->trial};
  }
  return model;
}

}  // namespace hpsearch::api
