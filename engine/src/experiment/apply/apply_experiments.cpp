#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "applier.hpp"
#include "event_checks.hpp"
#include "experiment/change_limits.hpp"
#include "experiment/trials/first_failures.hpp"

namespace hpsearch::engine {
namespace {

void note_duplicates(ExperimentRecord& record) {
  DuplicatesChanged changed;
  changed.reject = record.config.searcher.on_duplicate == OnDuplicate::reject;
  for (std::size_t trial = 0; changed.reject && trial < record.hparams.size(); ++trial) {
    changed.started.push_back(record.hparams[trial]);
  }
  record.searcher->on_event(changed);
}

/// A rule that brings more to do comes first, one that may leave nothing last: a search that is over hears of
/// nothing but more trials.
void note_changes(ExperimentRecord& record, const SearcherConfig& before, bool points_given) {
  const SearcherConfig& now = record.config.searcher;
  Searcher& searcher = *record.searcher;
  const bool rejects = now.on_duplicate == OnDuplicate::reject;
  const bool was_over = std::holds_alternative<Finished>(searcher.next());
  if (was_over && now.max_trials != before.max_trials) {
    searcher.on_event(MaxTrialsChanged{now.max_trials});
  }
  if (now.on_duplicate != before.on_duplicate && !rejects) {
    note_duplicates(record);
  }
  if (points_given || !(now.points_to_evaluate == before.points_to_evaluate)) {
    searcher.on_event(PointsChanged{now.points_to_evaluate});
  }
  if (!was_over && now.max_trials != before.max_trials) {
    searcher.on_event(MaxTrialsChanged{now.max_trials});
  }
  if (now.max_concurrent_trials != before.max_concurrent_trials) {
    searcher.on_event(MaxConcurrentTrialsChanged{now.max_concurrent_trials});
  }
  if (now.on_duplicate != before.on_duplicate && rejects) {
    note_duplicates(record);
  }
}

/// The config of an event that validate_event has accepted; read anew only when the event comes from the log.
ExperimentConfig read_checked(const Value& effective, const std::shared_ptr<const ExperimentConfig>& parsed,
                              SearcherRegistry registry) {
  if (parsed != nullptr) {
    return *parsed;
  }
  ParsedConfig read = parse_config(effective, registry, "", 0);
  HPSEARCH_CHECK(read.config.has_value(), "the config of an accepted event is well-formed");
  return std::move(*read.config);
}

}  // namespace

void apply(const Applier& applier, const ExperimentCreated& created) {
  ExperimentRecord record;
  record.id = created.experiment;
  record.created_by = applier.event.lsn;
  record.config = read_checked(created.config, created.parsed, applier.state.registry);
  record.effective = created.config;
  record.context_directory = created.context_directory;
  record.context_digest = created.context_digest;
  record.context_bytes = created.context_bytes;
  record.idempotency_key = created.idempotency_key;
  record.owner = created.owner;
  record.unix_user = created.unix_user;
  if (created.git) {
    record.git = *created.git;
  }
  record.source = created.source;
  record.searcher = find_kind(applier.state.registry, record.config.searcher.name)->make(record.config);
  record.best_checkpoints =
      BestCheckpoints(record.config.retention.save_experiment_best, record.config.searcher.goal());
  record.hparams = HparamTable(record.config.space);
  record.created_at = applier.event.at;
  record.annotation.labels = record.config.labels;
  if (!created.idempotency_key.empty()) {
    applier.state.by_idempotency_key[created.idempotency_key] = created.experiment;
  }
  WorkspaceRecord& workspace = workspace_named(applier.state, workspace_of(record.config));
  ++workspace.experiments;
  ++workspace.active;
  count_context(workspace, created.context_digest, created.context_bytes);
  record.workspace = &workspace;
  applier.state.experiments.emplace(created.experiment, std::move(record));
  applier.state.going.insert(created.experiment);
  applier.experiment(created.experiment);
}

std::string problem_with(const EventChecks& checks, const ExperimentCreated& created) {
  if (const ExperimentId next = next_experiment(checks.state); created.experiment != next) {
    return "the next experiment is " + std::to_string(next.number()) + ", not " +
           std::to_string(created.experiment.number());
  }
  if (created.source && checks.find(created.source->experiment, created.source->trial) == nullptr) {
    return checks.trial(created.source->experiment, created.source->trial);
  }
  return checks.config(created.config, created.parsed != nullptr);
}

void apply(const Applier& applier, const ExperimentPaused& paused) {
  ExperimentRecord& record = applier.experiment(paused.experiment);
  record.state = ExperimentState::paused;
  record.reason = paused.reason;
  for (const TrialNumber number : record.running) {
    TrialRecord& trial = record.trials[number.number()];
    decide(trial, applier.decision_id(), Directive::pause);
  }
}

std::string problem_with(const EventChecks& checks, const ExperimentPaused& paused) {
  const ExperimentRecord* record = checks.find(paused.experiment);
  if (record == nullptr) {
    return checks.experiment(paused.experiment);
  }
  return record->state == ExperimentState::active ? "" : "only an active experiment is paused";
}

void apply(const Applier& applier, const ExperimentResumed& resumed) {
  ExperimentRecord& record = applier.experiment(resumed.experiment);
  record.state = ExperimentState::active;
  record.failure_causes.clear();  // What failed may have been mended.
  if (!record.reason.empty()) {
    forget_first_failures(record, applier.event.at);
    record.reason.clear();
  }
}

std::string problem_with(const EventChecks& checks, const ExperimentResumed& resumed) {
  const ExperimentRecord* record = checks.find(resumed.experiment);
  if (record == nullptr) {
    return checks.experiment(resumed.experiment);
  }
  return record->state == ExperimentState::paused ? "" : "only a paused experiment is resumed";
}

void apply(const Applier& applier, const LimitsChanged& changed) {
  ExperimentRecord& record = applier.experiment(changed.experiment);
  const SearcherConfig before = record.config.searcher;
  record.config = read_checked(changed.config, changed.parsed, applier.state.registry);
  if (!record.created_with) {
    record.created_with = std::move(record.effective);
  }
  record.effective = changed.config;
  note_changes(record, before, changed.points_given);
  applier.pause_excess(record);
}

std::string problem_with(const EventChecks& checks, const LimitsChanged& changed) {
  const ExperimentRecord* record = checks.find(changed.experiment);
  if (record == nullptr) {
    return checks.experiment(changed.experiment);
  }
  if (!differ_in_limits_only(record->effective, changed.config)) {
    return "more than its limits changes";
  }
  return checks.config(changed.config, changed.parsed != nullptr);
}

void apply(const Applier& applier, const ExperimentStopping& stopping) {
  ExperimentRecord& record = applier.experiment(stopping.experiment);
  record.state = ExperimentState::stopping;
  record.stopping_as = stopping.target;
  record.stop_at_once = stopping.at_once;
  record.reason = stopping.reason;
  for (const TrialNumber number : record.running) {
    TrialRecord& trial = record.trials[number.number()];
    decide(trial, applier.decision_id(), stopping.at_once ? Directive::kill : Directive::stop);
    if (stopping.cuts_short) {
      hurry(trial, applier.decision_id());
    }
  }
}

std::string problem_with(const EventChecks& checks, const ExperimentStopping& stopping) {
  return is_ended(stopping.target) ? checks.going(stopping.experiment) : "it does not end by that";
}

void apply(const Applier& applier, const ExperimentEnded& ended) {
  ExperimentRecord& record = applier.experiment(ended.experiment);
  record.state = ended.state;
  record.reason = ended.reason;
  record.ended_at = applier.event.at;
  if (applier.state.going.erase(ended.experiment) > 0) {
    --workspace_named(applier.state, record.workspace->name).active;
  }
  // A trial that was among the experiment's best for a while may be so no more.
  const bool anew = record.config.retention.save_experiment_best > 0;
  for (std::uint64_t number = 0; anew && number < record.trials.size(); ++number) {
    note_settled(record, TrialNumber(number));
  }
  // It may be surplus where it came from.
  if (record.source && applier.state.experiments.contains(record.source->experiment)) {
    note_settled(applier.experiment(record.source->experiment), record.source->trial);
  }
}

std::string problem_with(const EventChecks& checks, const ExperimentEnded& ended) {
  if (const std::string missing = checks.going(ended.experiment); !missing.empty()) {
    return missing;
  }
  const ExperimentRecord& record = *checks.find(ended.experiment);
  if (!is_ended(ended.state)) {
    return "it does not end by that";
  }
  for (const TrialState open : {TrialState::pending, TrialState::running, TrialState::paused}) {
    if (record.by_state[static_cast<std::size_t>(open)] > 0) {
      return "a trial of it is " + std::string(name_of(open));
    }
  }
  return record.running.empty() ? "" : "an attempt of it is not over";
}

void apply(const Applier& applier, const ExperimentReopened& reopened) {
  ExperimentRecord& record = applier.experiment(reopened.experiment);
  if (record.first_lease_at != Instant{}) {  // While it had ended, none of its time was used.
    record.uncounted = record.uncounted + (applier.event.at - record.ended_at);
  }
  record.state = ExperimentState::active;
  record.archived = false;
  record.stopping_as = ExperimentState::canceled;
  record.stop_at_once = false;
  record.ended_before = 0;
  record.reason.clear();
  record.ended_at = {};
  forget_first_failures(record, applier.event.at);
  if (applier.state.going.insert(reopened.experiment).second) {
    ++workspace_named(applier.state, record.workspace->name).active;
  }
}

std::string problem_with(const EventChecks& checks, const ExperimentReopened& reopened) {
  const ExperimentRecord* record = checks.find(reopened.experiment);
  if (record == nullptr) {
    return checks.experiment(reopened.experiment);
  }
  return is_ended(record->state) ? "" : "only an experiment that has ended is reopened";
}

void apply(const Applier& applier, const ExperimentArchived& archived) {
  applier.experiment(archived.experiment).archived = true;
}

std::string problem_with(const EventChecks& checks, const ExperimentArchived& archived) {
  const ExperimentRecord* record = checks.find(archived.experiment);
  if (record == nullptr) {
    return checks.experiment(archived.experiment);
  }
  return is_ended(record->state) ? "" : "only an experiment that has ended is archived";
}

void apply(const Applier& applier, const ExperimentUnarchived& unarchived) {
  applier.experiment(unarchived.experiment).archived = false;
}

std::string problem_with(const EventChecks& checks, const ExperimentUnarchived& unarchived) {
  return checks.experiment(unarchived.experiment);
}

void apply(const Applier& applier, const ExperimentDeleted& deleted) {
  EngineState& state = applier.state;
  const auto found = state.experiments.find(deleted.experiment);
  ExperimentRecord& record = found->second;
  DeletedExperiment kept{.id = record.id,
                         .name = record.config.name,
                         .workspace = record.workspace->name,
                         .owner = record.owner,
                         .created_at = record.created_at,
                         .deleted_at = applier.event.at,
                         .kept_for = deleted.kept_for,
                         .trials = record.trials.size(),
                         .slot_time = std::move(record.slot_time),
                         .condemned = {record.condemned.begin(), record.condemned.end()},
                         .effective = {}};
  for (const TrialRecord& trial : record.trials) {
    for (const KnownCheckpoint& checkpoint :
         trial.checkpoints ? trial.checkpoints->kept : std::vector<KnownCheckpoint>{}) {
      kept.condemned.insert(checkpoint.path);
    }
  }
  if (!kept.condemned.empty()) {
    kept.effective = std::move(record.effective);
  }
  for (auto& [id, worker] : state.workers) {
    std::erase_if(worker.may_return,
                  [&deleted](const AttemptKey& key) { return key.experiment == deleted.experiment; });
    std::erase_if(worker.marks,
                  [&deleted](const WorkerMark& mark) { return mark.experiment == deleted.experiment; });
  }
  WorkspaceRecord& workspace = workspace_named(state, record.workspace->name);
  --workspace.experiments;
  discount_context(workspace, record.context_digest);
  for (const ProgramChange& program : record.programs) {
    discount_context(workspace, program.context_digest);
  }
  workspace.held_back.erase(deleted.experiment);
  state.agenda.forget(deleted.experiment);
  state.deleted.emplace(deleted.experiment, std::move(kept));
  state.experiments.erase(found);
}

std::string problem_with(const EventChecks& checks, const ExperimentDeleted& deleted) {
  const ExperimentRecord* record = checks.find(deleted.experiment);
  if (record == nullptr) {
    return checks.experiment(deleted.experiment);
  }
  if (!is_ended(record->state)) {
    return "only an experiment that has ended is deleted";
  }
  const bool is_source =
      std::any_of(checks.state.going.begin(), checks.state.going.end(), [&](ExperimentId id) {
        const auto& source = checks.state.experiments.at(id).source;
        return source && source->experiment == deleted.experiment;
      });
  return is_source ? "trials of another experiment start from its checkpoints" : "";
}

void apply(const Applier& applier, const ProgramChanged& changed) {
  ExperimentRecord& record = applier.experiment(changed.experiment);
  record.programs.push_back({changed.from, changed.also, changed.context_digest, changed.context_bytes,
                             changed.changed, applier.event.at});
  count_context(workspace_named(applier.state, record.workspace->name), changed.context_digest,
                changed.context_bytes);
}

std::string problem_with(const EventChecks& checks, const ProgramChanged& changed) {
  const ExperimentRecord* record = checks.find(changed.experiment);
  if (record == nullptr) {
    return checks.experiment(changed.experiment);
  }
  if (changed.from.number() != record->trials.size()) {
    return "the next trial has another number than the first one of the program";
  }
  const bool in_order = std::adjacent_find(changed.also.begin(), changed.also.end(),
                                           std::greater_equal<>()) == changed.also.end();
  const bool exist = changed.also.empty() || changed.also.back() < changed.from;
  return in_order && exist ? "" : "the earlier trials of the program do not exist or are not in order";
}

void Applier::pause_excess(ExperimentRecord& record) const {
  const SearcherConfig& searcher = record.config.searcher;
  const ResourcesConfig& resources = record.config.resources;
  std::uint64_t allowed = searcher.max_concurrent_trials > 0 ? searcher.max_concurrent_trials : UINT64_MAX;
  if (resources.max_slots && resources.slots_per_trial > 0) {
    allowed = std::min(allowed, *resources.max_slots / resources.slots_per_trial);
  }
  std::vector<TrialNumber> staying;
  for (const TrialNumber number : record.running) {
    if (!record.trials[number.number()].live->is_ending()) {
      staying.push_back(number);
    }
  }
  std::sort(staying.begin(), staying.end(), [&record](TrialNumber a, TrialNumber b) {
    return record.trials[a.number()].last_lease < record.trials[b.number()].last_lease;
  });
  for (std::size_t i = staying.size(); i > allowed; --i) {
    TrialRecord& trial = record.trials[staying[i - 1].number()];
    decide(trial, decision_id(), Directive::pause);
  }
}

}  // namespace hpsearch::engine
