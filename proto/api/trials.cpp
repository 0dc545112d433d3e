#include "hpsearch/proto/api/trials.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "api/seconds.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/engine/experiment/best_trial.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/jobs/fields/program.hpp"
#include "hpsearch/proto/sentences/explanation.hpp"
#include "hpsearch/proto/sentences/phrase.hpp"
#include "hpsearch/proto/sentences/reason.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"

namespace hpsearch::api {

using engine::ExperimentRecord;
using engine::TrialRecord;
using sentences::Language;

namespace {

double slot_seconds(const TrialRecord& trial, engine::Instant now) {
  std::int64_t micros = trial.busy.in_micros();
  if (trial.live && now >= trial.live->leased_at) {
    micros += (now - trial.live->leased_at).in_micros() * static_cast<std::int64_t>(trial.live->slots.size());
  }
  return static_cast<double>(micros) / 1e6;
}

/// The workers of its attempt, by rank.
std::vector<engine::WorkerId> workers_of(const TrialRecord& trial) {
  std::vector<engine::WorkerId> workers;
  if (trial.live && trial.live->gang) {
    for (const engine::Gang::Member& member : trial.live->gang->members) {
      workers.push_back(member.worker);
    }
  } else if (trial.live) {
    workers.push_back(trial.live->worker);
  }
  return workers;
}

/// Describes the next step, and how long the program of a decided trial may still run at its length.
std::string next_of(const ExperimentRecord& experiment, engine::TrialNumber number,
                    const engine::Explanation& explanation, Language language) {
  std::string next = sentences::next_text(explanation, experiment.config.unit, language);
  const TrialRecord& trial = experiment.trials[number.number()];
  if (!trial.live || !trial.live->is_ending() || !trial.live->decision->may_finish) {
    return next;
  }
  const engine::Value* given = experiment.effective.at_path("environment.finish_within");
  const double seconds =
      given != nullptr ? given->number_or(0) : jobs::Environment().finish_within.in_seconds();
  std::string text =
      sentences::finishing_text(engine::Duration::micros(std::llround(seconds * 1e6)), language);
  return next.empty() ? text : text + sentences::say(language, sentences::semicolon) + next;
}

}  // namespace

Reason reason_with_text(engine::Reason reason, std::string_view unit, Language language) {
  std::string text = sentences::describe(reason, unit, language);
  reason.detail = sentences::stored_in(language, reason.detail);
  return {std::move(text), std::move(reason)};
}

Trial trial_of(const ExperimentRecord& experiment, engine::TrialNumber number, engine::Instant now,
               Language language) {
  const TrialRecord& record = experiment.trials[number.number()];
  Trial trial;
  trial.trial = number;
  trial.id = record.id;
  trial.state = record.state;
  trial.hparams = *experiment.hparams[number.number()].as_map();
  trial.length = record.length;
  trial.reached = record.reached;
  trial.trained = record.trained;
  trial.trained_unreported = record.trained_unreported;
  trial.trains_no_further = record.trains_no_further;
  trial.ran_unlogged = record.ran_unlogged;
  if (record.latest) {
    trial.metric = record.latest->metric;
  }
  if (record.best) {
    trial.best_metric = record.best->metric;
    trial.best_step = record.best->step;
  }
  trial.restarts = record.restarts;
  trial.attempts = record.attempts;
  if (record.live) {
    trial.worker = record.live->worker;
  }
  trial.workers = workers_of(record);
  if (record.checkpoints) {
    trial.checkpoint = record.checkpoints->latest;
    trial.checkpoint_step = record.checkpoints->latest_step;
    trial.best_checkpoint = record.checkpoints->best;
    trial.best_checkpoint_step = record.checkpoints->best_step;
    trial.best_checkpoint_metric = record.checkpoints->best_metric;
  }
  trial.reason = reason_with_text(engine::reason_of(record), experiment.config.unit, language);
  trial.last_failure =
      record.last_failure ? sentences::stored_in(language, *record.last_failure) : std::string();
  const engine::Annotation& annotation = engine::annotation_of(experiment, number);
  trial.labels = annotation.labels;
  trial.starred = annotation.starred;
  trial.note = annotation.note;
  trial.created_at = seconds(record.created_at);
  if (engine::is_closed(record.state)) {
    trial.ended_at = seconds(record.ended_at);
  }
  trial.slot_seconds = slot_seconds(record, now);
  return trial;
}

std::optional<Trial> best_trial(const ExperimentRecord& experiment, engine::Instant now, Language language) {
  const std::optional<engine::TrialNumber> best = engine::best_trial(experiment);
  return best ? std::optional(trial_of(experiment, *best, now, language)) : std::nullopt;
}

Explanation explanation_of(const ExperimentRecord& experiment, engine::TrialNumber number,
                           const engine::Explanation& explanation, Language language) {
  const engine::ProgramChange* program = engine::program_of(experiment, number);
  Explanation answer;
  answer.experiment = experiment.id;
  answer.trial = number;
  if (program != nullptr) {
    answer.program = program_change(*program);
  }
  answer.program_changes = experiment.programs.size();
  answer.state = experiment.trials[number.number()].state;
  answer.metric = experiment.config.searcher.metric;
  answer.unit = experiment.config.unit;
  answer.now = sentences::now_text(explanation, experiment.config.unit, language);
  answer.next = next_of(experiment, number, explanation, language);
  answer.source = source_of(experiment);
  answer.results_needed = explanation.results_needed;
  answer.results_to_come = explanation.results_to_come;
  answer.ahead = explanation.ahead;
  answer.reason = reason_with_text(explanation.reason, experiment.config.unit, language);
  return answer;
}

}  // namespace hpsearch::api
