#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "experiment/budget.hpp"
#include "experiment/change_limits.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/config/experiment_sections.hpp"
#include "hpsearch/engine/experiment/deleted_experiment.hpp"
#include "hpsearch/engine/experiment/warm_start.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

Error wrong_state(const ExperimentRecord& record, const std::string& wish) {
  return Error{Errc::wrong_state, "experiment " + std::to_string(record.id.number()) + " is " +
                                      std::string(name_of(record.state)) + " and cannot be " + wish};
}

Error wrong_config(const Problems& problems) {
  std::string all;
  for (const Problem& problem : problems) {
    all += (all.empty() ? "" : "\n") + describe(problem);
  }
  return Error{Errc::bad_request, all};
}

const ExperimentRecord* find(const Step& step, ExperimentId id) {
  const auto found = step.state().experiments.find(id);
  return found == step.state().experiments.end() ? nullptr : &found->second;
}

/// While it is paused an experiment lives on although its searcher has nothing left to do.
bool search_is_over(const ExperimentRecord& record) {
  return std::holds_alternative<Finished>(record.searcher->next());
}

/// The first place at which two configurations differ, as users write it; "" when they do not.
std::string first_difference(const Value& a, const Value& b) {
  const Value::Map* left = a.as_map();
  const Value::Map* right = b.as_map();
  if (left == nullptr || right == nullptr) {
    return "";
  }
  const auto deeper = [](const std::string& name, const Value* mine, const Value* theirs) {
    const std::string below = mine != nullptr && theirs != nullptr ? first_difference(*mine, *theirs) : "";
    return below.empty() ? name : name + "." + below;
  };
  for (const auto& [name, value] : *left) {
    const Value* other = right->find(name);
    if (other == nullptr || !(value == *other)) {
      return deeper(name, &value, other);
    }
  }
  for (const auto& [name, value] : *right) {
    if (left->find(name) == nullptr) {
      return name;
    }
  }
  return "";
}

/// The difference between the request and the one that made the experiment, or "".
std::string difference(const ExperimentRecord& record, const CreateExperiment& command,
                       const Value& effective) {
  const Value& first = record.created_with ? *record.created_with : record.effective;
  if (!(first == effective)) {
    return "configuration: " + first_difference(first, effective);
  }
  if (record.context_digest != command.context_digest) {
    return "context: " + (record.context_digest.empty() ? "none" : record.context_digest);
  }
  if (record.context_directory != command.context_directory) {
    return "context directory: " + (record.context_directory.empty() ? "none" : record.context_directory);
  }
  return "";
}

std::uint64_t last_number(const auto& experiments) {
  return experiments.empty() ? 0 : experiments.rbegin()->first.number();
}

std::string id_and_state(const ExperimentRecord& record) {
  return "experiment " + std::to_string(record.id.number()) + " is " + std::string(name_of(record.state));
}

bool source_is_kept(const EngineState& state, const SourceCheckpoint& source) {
  if (!state.experiments.contains(source.experiment)) {
    return false;
  }
  const TrialRecord& trial = trial_of(state, source.experiment, source.trial);
  return trial.checkpoints &&
         std::any_of(trial.checkpoints->kept.begin(), trial.checkpoints->kept.end(),
                     [&source](const KnownCheckpoint& one) { return one.path == source.path; });
}

/// Why more trials cannot be had of the space, and what to do; "" if they can.
std::string without_configurations(const ExperimentRecord& record) {
  const bool exhausted = record.trials.size() > 0 && record.searcher->outlook(TrialNumber(0)).exhausted;
  return exhausted ? "no configuration of its space is left to be tried; submit another experiment with a "
                     "larger space"
                   : "";
}

/// Every trial of the search has ended, and so would the search with that many trials: why, and what to do.
std::string nothing_to_add(const ExperimentRecord& record, std::uint64_t max_trials) {
  const Value* most = record.effective.at_path("searcher.max_trials");
  if (most == nullptr) {
    return "every trial of its search has ended, and a " + record.config.searcher.name +
           " search has no max_trials to raise; submit another experiment";
  }
  if (max_trials <= record.config.searcher.max_trials) {
    return "every trial of its search has ended; raise searcher.max_trials, which is " + quoted(*most) +
           ", to continue";
  }
  return without_configurations(record);
}

/// Why an experiment that has ended would end again at once with that config; "" if it would not.
std::string what_keeps_ended(const Step& step, const ExperimentRecord& record,
                             const ExperimentConfig& config) {
  const Next next = record.searcher->next();
  if (const auto* finished = std::get_if<Finished>(&next)) {
    if (finished->problem) {
      return *finished->problem;
    }
    if (std::string nothing = nothing_to_add(record, config.searcher.max_trials); !nothing.empty()) {
      return nothing;
    }
  }
  if (const std::optional<std::string> spent = spent_of(config.budget, record, record.ended_at)) {
    return *spent;
  }
  if (record.source && !source_is_kept(step.state(), *record.source)) {
    return "the checkpoint that its trials start from was deleted";
  }
  return "";
}

/// Trials that were canceled with their experiment are where they were before. Their searcher never heard of
/// their end.
void revive_trials(Step& step, const ExperimentRecord& record) {
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    const TrialRecord& trial = record.trials[i];
    if (!ended_with_experiment(trial)) {
      continue;
    }
    const TrialNumber number(i);
    const bool waited_at_rung = !trial.awaits_resume;
    step.emit(TrialQueued{record.id, number});
    if (waited_at_rung) {
      step.emit(TrialPaused{record.id, number, record.searcher->standing(number)});
    } else {
      reach_lengths(step, record.id, number);
    }
  }
}

Result<ParsedConfig> read_submission(const CreateExperiment& command, SearcherRegistry registry) {
  if (command.parsed && command.parsed->config) {
    return *command.parsed;
  }
  ParsedConfig parsed = parse_config(command.config, registry, command.fallback_name, command.seed);
  if (parsed.config) {
    check_points(*parsed.config, parsed.problems);
  }
  if (!parsed.problems.empty()) {
    return wrong_config(parsed.problems);
  }
  return parsed;
}

/// "2031-05-04", of UTC.
std::string day_of(Instant at) {
  const auto is_leap = [](std::int64_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  };
  std::int64_t days = at.micros() / 86'400'000'000;
  std::int64_t year = 1970;
  for (std::int64_t length = 365; days >= length; length = is_leap(year) ? 366 : 365) {
    days -= length;
    ++year;
  }
  std::array<std::int64_t, 12> lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  lengths[1] += is_leap(year) ? 1 : 0;
  std::size_t month = 0;
  for (; days >= lengths[month]; ++month) {
    days -= lengths[month];
  }
  const auto two_digits = [](std::string number) { return (number.size() < 2 ? "-0" : "-") + number; };
  return std::to_string(year) + two_digits(std::to_string(month + 1)) + two_digits(std::to_string(days + 1));
}

}  // namespace

ExperimentId next_experiment(const EngineState& state) noexcept {
  return ExperimentId(std::max(last_number(state.experiments), last_number(state.deleted)) + 1);
}

std::string kept_for_text(Duration kept_for) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 3> units{
      {{86'400, "day"}, {3'600, "hour"}, {60, "minute"}}};
  const std::int64_t seconds = kept_for.in_micros() / 1'000'000;
  for (const auto& [length, name] : units) {
    if (seconds >= length && seconds % length == 0) {
      return std::to_string(seconds / length) + " " + name + (seconds == length ? "" : "s");
    }
  }
  return std::to_string(seconds) + (seconds == 1 ? " second" : " seconds");
}

Error no_experiment(const EngineState& state, ExperimentId id) {
  const std::string number = std::to_string(id.number());
  const auto deleted = state.deleted.find(id);
  if (deleted == state.deleted.end()) {
    return Error{Errc::not_found, "there is no experiment " + number};
  }
  const Duration kept_for = deleted->second.kept_for;
  return Error{Errc::not_found, kept_for == Duration{}
                                    ? "experiment " + number + " was deleted"
                                    : "experiment " + number + " was removed on " +
                                          day_of(deleted->second.deleted_at) +
                                          " by the retention of the daemon, which keeps experiments for " +
                                          kept_for_text(kept_for) + " after their end"};
}

Status create_experiment(Step& step, const CreateExperiment& command) {
  const EngineState& state = step.state();
  const auto known = state.by_idempotency_key.find(command.idempotency_key);
  const bool repeated = !command.idempotency_key.empty() && known != state.by_idempotency_key.end();
  if (repeated && state.deleted.contains(known->second)) {
    return Error{Errc::conflict, "the idempotency key \"" + command.idempotency_key +
                                     "\" stands for experiment " + std::to_string(known->second.number()) +
                                     ", which was deleted; use another key"};
  }
  Result<ParsedConfig> parsed = read_submission(command, state.registry);
  if (!parsed) {
    return parsed.error();
  }
  auto config = std::make_shared<ExperimentConfig>(std::move(*parsed->config));
  if (repeated && !parsed->seed_is_given) {
    // A repeated request draws no new seed: it is compared under the seed that the first one got.
    config->experiment_seed = state.experiments.at(known->second).config.experiment_seed;
  }
  Value effective = to_value(*config);
  if (repeated) {
    // As it was submitted: its limits may have been changed since.
    const ExperimentRecord& record = state.experiments.at(known->second);
    if (const std::string other = difference(record, command, effective); !other.empty()) {
      return Error{Errc::conflict, "the idempotency key \"" + command.idempotency_key +
                                       "\" stands for experiment " + std::to_string(record.id.number()) +
                                       " already, which has another " + other};
    }
    step.effects().created = known->second;
    return Done{};
  }
  Problems problems;
  std::optional<SourceCheckpoint> source = find_source(state.experiments, config->searcher, problems);
  if (!problems.empty()) {
    return wrong_config(problems);
  }
  if (Status allowed = may_submit(step, command, *config); !allowed) {
    return allowed;
  }
  const ExperimentId id = next_experiment(state);
  step.emit(ExperimentCreated{id, std::move(effective), command.context_directory, command.idempotency_key,
                              command.context_digest, command.context_bytes, std::move(source), command.owner,
                              command.unix_user, command.file, command.git, std::move(config)});
  step.effects().created = id;
  return Done{};
}

Status pause_experiment(Step& step, ExperimentId id) {
  const ExperimentRecord* record = find(step, id);
  if (record == nullptr) {
    return no_experiment(step.state(), id);
  }
  if (record->state == ExperimentState::paused) {
    return Done{};  // Asking twice is not an error and leaves no trace.
  }
  if (record->state != ExperimentState::active) {
    return wrong_state(*record, "paused");
  }
  step.emit(ExperimentPaused{id});
  return Done{};
}

Status resume_experiment(Step& step, ExperimentId id) {
  const ExperimentRecord* record = find(step, id);
  if (record == nullptr) {
    return no_experiment(step.state(), id);
  }
  if (record->state == ExperimentState::active) {
    return Done{};
  }
  if (record->state != ExperimentState::paused) {
    return wrong_state(*record, "resumed");
  }
  step.emit(ExperimentResumed{id});
  for (std::size_t i = 0; i < record->trials.size(); ++i) {
    const TrialRecord& trial = record->trials[i];
    if (trial.state == TrialState::paused && trial.awaits_resume) {
      step.emit(TrialQueued{id, TrialNumber(i)});
    }
  }
  return Done{};
}

Status change_experiment(Step& step, const ChangeExperiment& command) {
  const ExperimentRecord* record = find(step, command.experiment);
  if (record == nullptr) {
    return no_experiment(step.state(), command.experiment);
  }
  if (record->state == ExperimentState::canceled || record->state == ExperimentState::stopping) {
    return wrong_state(*record, "changed");
  }
  Result<ChangedConfig> changed = changed_config(record->effective, command.changes, step.state().registry);
  if (!changed) {
    return changed.error();
  }
  const Value& config = changed->effective;
  const Value* points = command.changes.at_path("searcher.points_to_evaluate");
  const bool points_given = points != nullptr && points->as_list() != nullptr && !points->as_list()->empty();
  const Value& before = record->effective;
  if (changed->parsed->searcher.max_trials > record->config.searcher.max_trials) {
    if (Status allowed = may_plan(step.state(), *record->workspace, *changed->parsed); !allowed) {
      return allowed;
    }
  }
  const bool search_changes = points_given || !(*config.at_path("searcher") == *before.at_path("searcher"));
  if (is_ended(record->state)) {
    if (const std::string why = what_keeps_ended(step, *record, *changed->parsed); !why.empty()) {
      return Error{Errc::wrong_state, id_and_state(*record) + ": " + why};
    }
    if (Status free = may_begin(*record->workspace, *changed->parsed, step.now()); !free) {
      return free;
    }
    step.emit(ExperimentReopened{command.experiment});
    revive_trials(step, *record);
  } else if (search_changes && search_is_over(*record)) {
    if (const std::string why = nothing_to_add(*record, changed->parsed->searcher.max_trials); !why.empty()) {
      return Error{Errc::wrong_state, id_and_state(*record) + ": " + why};
    }
  } else if (changed->parsed->searcher.max_trials > record->config.searcher.max_trials &&
             !record->searcher->finalists().empty()) {  // The search is over, its repeats are not.
    if (const std::string why = without_configurations(*record); !why.empty()) {
      return Error{Errc::wrong_state, id_and_state(*record) + ": " + why};
    }
  }
  if (points_given || !(config == before)) {
    const auto named = record->searcher->closable();
    const std::vector<TrialNumber> closed(named.begin(), named.end());
    step.emit(LimitsChanged{command.experiment, config, points_given, std::move(changed->parsed)});
    close_all(step, *record,
              closed);  // Before a trial that is wanted now can report, and change their ranks.
  }
  return Done{};
}

Status change_program(Step& step, const ChangeProgram& command) {
  const ExperimentRecord* record = find(step, command.experiment);
  if (record == nullptr) {
    return no_experiment(step.state(), command.experiment);
  }
  if (record->state == ExperimentState::stopping || record->state == ExperimentState::canceled) {
    return wrong_state(*record, "given another program");
  }
  if (command.context_digest.empty() != record->context_digest.empty()) {
    return Error{Errc::bad_request,
                 record->context_digest.empty()
                     ? "context_digest: the programs of this experiment run in " +
                           (record->context_directory.empty() ? "no directory" : record->context_directory) +
                           ", and a packed context cannot take its place (leave it out)"
                     : "context_digest is missing: the context of this experiment is packed"};
  }
  const TrialNumber from(record->trials.size());
  const ProgramChange* last = program_of(*record, from);
  std::vector<TrialNumber> also = trials_without_reports(*record);
  const std::string& digest = last != nullptr ? last->context_digest : record->context_digest;
  const bool all_have_it = std::all_of(also.begin(), also.end(),
                                       [&](TrialNumber trial) { return program_of(*record, trial) == last; });
  if (!digest.empty() && digest == command.context_digest && all_have_it) {
    return Done{};
  }
  if (Status allowed = may_store(*record->workspace, command.context_digest, command.context_bytes);
      !allowed) {
    return allowed;
  }
  step.emit(ProgramChanged{command.experiment, from, std::move(also), command.context_digest,
                           command.context_bytes, command.changed});
  return Done{};
}

void stop_experiment(Step& step, ExperimentId id, ExperimentState target, bool at_once,
                     const std::string& reason, bool cuts_short) {
  close_all_that_can_be(step, id);
  step.emit(ExperimentStopping{id, target, at_once, reason, "", cuts_short});
}

Status end_experiment(Step& step, ExperimentId id, bool at_once) {
  const ExperimentRecord* record = find(step, id);
  if (record == nullptr) {
    return no_experiment(step.state(), id);
  }
  if (record->state == ExperimentState::canceled ||
      (record->state == ExperimentState::stopping && (record->stop_at_once || !at_once))) {
    return Done{};
  }
  if (is_ended(record->state)) {
    return wrong_state(*record, at_once ? "killed" : "canceled");
  }
  const bool already = record->state == ExperimentState::stopping;
  const ExperimentState target = already ? record->stopping_as : ExperimentState::canceled;
  const std::string reason = already ? record->reason : at_once ? "killed by a user" : "canceled by a user";
  stop_experiment(step, id, target, at_once, reason, /*cuts_short=*/true);
  return Done{};
}

Status archive_experiment(Step& step, ExperimentId id, bool archived) {
  const ExperimentRecord* record = find(step, id);
  if (record == nullptr) {
    return no_experiment(step.state(), id);
  }
  if (record->archived == archived) {
    return Done{};
  }
  if (!is_ended(record->state)) {
    return Error{Errc::wrong_state,
                 id_and_state(*record) + " and cannot be archived; only an experiment that has ended can"};
  }
  if (archived) {
    step.emit(ExperimentArchived{id});
  } else {
    step.emit(ExperimentUnarchived{id});
  }
  return Done{};
}

Status delete_experiment(Step& step, ExperimentId id, Duration kept_for) {
  const EngineState& state = step.state();
  const ExperimentRecord* record = find(step, id);
  if (record == nullptr) {
    return no_experiment(state, id);
  }
  if (!is_ended(record->state)) {
    return Error{Errc::wrong_state, id_and_state(*record) + " and cannot be deleted; end it first"};
  }
  for (const ExperimentId other : state.going) {
    const auto& source = state.experiments.at(other).source;
    if (source && source->experiment == id) {
      return Error{Errc::wrong_state, "experiment " + std::to_string(other.number()) +
                                          " starts its trials from a checkpoint of experiment " +
                                          std::to_string(id.number()) + "; end that experiment first"};
    }
  }
  step.emit(ExperimentDeleted{.experiment = id, .kept_for = kept_for});
  return Done{};
}

}  // namespace hpsearch::engine
