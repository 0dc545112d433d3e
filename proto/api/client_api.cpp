#include "hpsearch/proto/api/client_api.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/spell_event.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/search_doubts.hpp"
#include "hpsearch/engine/experiment/best_trial.hpp"
#include "hpsearch/engine/experiment/source_checkpoint.hpp"
#include "hpsearch/jobs/fields/program.hpp"
#include "hpsearch/proto/encoding/value_writer.hpp"
#include "hpsearch/proto/sentences/explanation.hpp"
#include "hpsearch/proto/sentences/reason.hpp"

namespace hpsearch::proto {
namespace {

using engine::Cardinality;
using engine::ExperimentRecord;
using engine::Instant;
using engine::TrialRecord;
using engine::TrialState;
using engine::Units;
using engine::Value;

Value units_value(Units units) {
  return count_value(engine::count(units));
}

Value seconds(Instant at) {
  return static_cast<double>(at.micros()) / 1e6;
}

/// What of its search its user may not mean, one text each.
Value::List doubts_of(const ExperimentRecord& experiment) {
  Value::List doubts;
  for (const engine::Doubt& doubt : engine::doubts_of(experiment.config)) {
    doubts.emplace_back(engine::describe(doubt.note));
  }
  return doubts;
}

/// The lengths of all trials, had each been trained in full. Programs that end by themselves below max_length
/// show how far that is.
Cardinality full_length(const ExperimentRecord& experiment) {
  const engine::OwnLengths& own = experiment.own_lengths;
  const Cardinality others =
      experiment.trials.size() - std::min<std::uint64_t>(own.trials, experiment.trials.size());
  const Cardinality each = own.trials > 0 ? own.trained / own.trials
                                          : Cardinality{engine::count(experiment.config.searcher.max_length)};
  return others * each + own.trained;
}

/// Records keep an instant that has not come yet as the epoch itself.
Value seconds_or_null(Instant at) {
  return at == Instant{} ? Value{} : seconds(at);
}

std::int64_t slot_micros(const TrialRecord& trial, Instant now) {
  const std::int64_t before = trial.busy.in_micros();
  if (!trial.live || now < trial.live->leased_at) {
    return before;
  }
  return before +
         (now - trial.live->leased_at).in_micros() * static_cast<std::int64_t>(trial.live->slots.size());
}

Value number_or_null(const std::optional<double>& number) {
  return number ? Value(*number) : Value();
}

Value best_of(const ExperimentRecord& experiment) {
  const std::vector<engine::Finalist> finalists = engine::finalists_of(experiment);
  const std::optional<engine::TrialNumber> best = engine::best_trial(experiment, finalists);
  if (!best || !experiment.trials[best->number()].best) {
    return {};
  }
  const TrialRecord& trial = experiment.trials[best->number()];
  Value::Map value{{"trial", count_value(best->number())},
                   {"metric", trial.best->metric},
                   {"step", units_value(trial.best->step)}};
  if (!finalists.empty()) {
    value["mean"] = number_or_null(finalists.front().mean);
    value["deviation"] = number_or_null(finalists.front().deviation);
  }
  return value;
}

/// Best mean first.
Value finalists_value(const ExperimentRecord& experiment) {
  Value::List list;
  for (const engine::Finalist& finalist : engine::finalists_of(experiment)) {
    Value::List trainings;
    for (const engine::Finalist::Training& training : finalist.trainings) {
      trainings.push_back(Value::Map{{"trial", count_value(training.trial.number())},
                                     {"metric", number_or_null(training.metric)}});
    }
    list.push_back(Value::Map{{"mean", number_or_null(finalist.mean)},
                              {"deviation", number_or_null(finalist.deviation)},
                              {"hparams", experiment.hparams[finalist.trainings.front().trial.number()]},
                              {"trainings", std::move(trainings)}});
  }
  return list;
}

/// What its trials begin from, or null.
Value source_of(const ExperimentRecord& experiment) {
  if (!experiment.source) {
    return {};
  }
  const engine::SourceCheckpoint& source = *experiment.source;
  return Value::Map{{"id", engine::checkpoint_id(source.experiment, source.trial, source.path)},
                    {"experiment", count_value(source.experiment.number())},
                    {"trial", count_value(source.trial.number())},
                    {"step", units_value(source.step)},
                    {"path", source.path}};
}

/// A search that ended well is over, also when a budget ended it before its searcher would have.
Value progress_of(const ExperimentRecord& experiment) {
  if (experiment.searcher == nullptr) {
    return {};
  }
  return experiment.state == engine::ExperimentState::completed ? 1.0 : experiment.searcher->progress();
}

Value trials_by_state(const ExperimentRecord& experiment) {
  Value::Map counts;
  for (std::size_t i = 0; i < experiment.by_state.size(); ++i) {
    counts[engine::name_of(static_cast<TrialState>(i))] = count_value(experiment.by_state[i]);
  }
  return counts;
}

/// For each length that trials are asked for, how many got at least that far.
Value rungs_of(const std::vector<engine::TrialTally::Rung>& rungs) {
  Value::List list;
  for (const engine::TrialTally::Rung& rung : rungs) {
    list.push_back(Value::Map{{"length", units_value(rung.length)}, {"reached", count_value(rung.reached)}});
  }
  return list;
}

Value final_counts_of(const std::vector<engine::TrialTally::Final>& finals) {
  Value::Map by_length;
  for (const engine::TrialTally::Final& final : finals) {
    by_length[std::to_string(engine::count(final.length))] = count_value(final.trials);
  }
  return by_length;
}

Value notes_of(const ExperimentRecord& experiment) {
  Value::List notes;
  for (const engine::ExperimentNote& note : experiment.notes) {
    notes.push_back(Value::Map{{"trial", count_value(note.trial.number())},
                               {"attempt", count_value(note.attempt.number())},
                               {"attempts", count_value(note.attempts)},
                               {"about", note.about},
                               {"text", note.text}});
  }
  return notes;
}

Value program_value(const engine::ProgramChange& program) {
  Value::List also;
  for (const engine::TrialNumber trial : program.also) {
    also.push_back(count_value(trial.number()));
  }
  Value::List changed;
  for (const std::string& file : program.changed) {
    changed.push_back(file);
  }
  return Value::Map{{"from", count_value(program.from.number())},
                    {"also", std::move(also)},
                    {"context_digest", program.context_digest},
                    {"context_bytes", count_value(program.context_bytes)},
                    {"changed", std::move(changed)},
                    {"at", seconds(program.at)}};
}

Value programs_of(const ExperimentRecord& experiment) {
  Value::List programs;
  for (const engine::ProgramChange& program : experiment.programs) {
    programs.push_back(program_value(program));
  }
  return programs;
}

}  // namespace

Value experiment_summary(const ExperimentRecord& experiment) {
  const auto or_default = [](const std::string& word) {
    return word.empty() ? std::string("default") : word;
  };
  Value::List labels(experiment.config.labels.begin(), experiment.config.labels.end());
  const engine::SearcherConfig& searcher = experiment.config.searcher;
  return Value::Map{
      {"id", count_value(experiment.id.number())},
      {"name", experiment.config.name},
      {"state", engine::name_of(experiment.state)},
      {"archived", experiment.archived},
      {"reason", experiment.reason},
      {"progress", progress_of(experiment)},
      {"searcher", searcher.name},
      {"metric", searcher.metric},
      {"smaller_is_better", searcher.smaller_is_better},
      {"unit", experiment.config.unit},
      {"max_length", units_value(searcher.max_length)},
      {"trials", trials_by_state(experiment)},
      {"trials_total", count_value(experiment.trials.size())},
      {"best", best_of(experiment)},
      {"created_at", seconds(experiment.created_at)},
      {"ended_at", engine::is_ended(experiment.state) ? seconds(experiment.ended_at) : Value{}},
      {"owner", experiment.owner},
      {"workspace", or_default(experiment.config.workspace)},
      {"project", or_default(experiment.config.project)},
      {"labels", std::move(labels)},
  };
}

Value experiment_detail(const ExperimentRecord& experiment, Instant now) {
  Value value = experiment_summary(experiment);
  Value::Map& detail = *value.as_map();
  detail["context_directory"] = experiment.context_directory;
  detail["context_digest"] = experiment.context_digest;
  detail["context_bytes"] = count_value(experiment.context_bytes);
  detail["programs"] = programs_of(experiment);
  detail["source"] = source_of(experiment);
  detail["notes"] = notes_of(experiment);
  detail["doubts"] = doubts_of(experiment);
  detail["rungs"] = rungs_of(experiment.tally.rungs());
  detail["finalists"] = finalists_value(experiment);
  detail["final_counts"] = final_counts_of(experiment.tally.finals());
  detail["length_trained"] = count_value(experiment.tally.trained());
  detail["ran_unlogged"] = experiment.ran_unlogged;
  detail["length_unreported"] = count_value(experiment.unreported);
  detail["length_full"] = count_value(full_length(experiment));
  detail["slot_seconds"] =
      experiment.slot_time.until(std::max(now, experiment.slot_time.since())).in_seconds();
  detail["first_lease_at"] = seconds_or_null(experiment.first_lease_at);
  detail["last_release_at"] = seconds_or_null(experiment.last_release_at);
  return value;
}

std::size_t count_of_checkpoints(const ExperimentRecord& experiment, engine::TrialNumber number) {
  const TrialRecord& trial = experiment.trials[number.number()];
  return trial.checkpoints ? trial.checkpoints->kept.size() : 0;
}

Value checkpoint_of(const ExperimentRecord& experiment, engine::TrialNumber number, std::size_t place) {
  const engine::KnownCheckpoints& known = *experiment.trials[number.number()].checkpoints;
  const engine::KnownCheckpoint& checkpoint = known.kept[place];
  return Value::Map{{"id", engine::checkpoint_id(experiment.id, number, checkpoint.path)},
                    {"trial", count_value(number.number())},
                    {"step", units_value(checkpoint.step)},
                    {"metric", checkpoint.metric ? Value(*checkpoint.metric) : Value{}},
                    {"path", checkpoint.path},
                    {"files", count_value(checkpoint.files)},
                    {"bytes", count_value(checkpoint.bytes)},
                    {"latest", checkpoint.path == known.latest},
                    {"best", checkpoint.path == known.best}};
}

Value::List checkpoints_of(const ExperimentRecord& experiment, engine::TrialNumber number) {
  Value::List list;
  for (std::size_t i = 0; i < count_of_checkpoints(experiment, number); ++i) {
    list.push_back(checkpoint_of(experiment, number, i));
  }
  return list;
}

namespace {

/// Where its attempt runs, by rank.
Value::List workers_of(const TrialRecord& trial) {
  Value::List workers;
  if (trial.live && trial.live->gang) {
    for (const engine::Gang::Member& member : trial.live->gang->members) {
      workers.push_back(count_value(member.worker.number()));
    }
  } else if (trial.live) {
    workers.push_back(count_value(trial.live->worker.number()));
  }
  return workers;
}

}  // namespace

Value trial_value(const ExperimentRecord& experiment, engine::TrialNumber number, Instant now) {
  const TrialRecord& trial = experiment.trials[number.number()];
  static const engine::KnownCheckpoints none;
  const engine::KnownCheckpoints& checkpoints = trial.checkpoints ? *trial.checkpoints : none;
  return Value::Map{
      {"trial", count_value(number.number())},
      {"id", count_value(trial.id.number())},
      {"state", engine::name_of(trial.state)},
      {"hparams", experiment.hparams[number.number()]},
      {"length", units_value(trial.length)},
      {"reached", units_value(trial.reached)},
      {"trained", units_value(trial.trained)},
      {"trained_unreported", trial.trained_unreported},
      {"trains_no_further", trial.trains_no_further},
      {"ran_unlogged", trial.ran_unlogged},
      {"metric", trial.latest ? Value(trial.latest->metric) : Value{}},
      {"best_metric", trial.best ? Value(trial.best->metric) : Value{}},
      {"best_step", trial.best ? units_value(trial.best->step) : Value{}},
      {"restarts", count_value(trial.restarts)},
      {"attempts", count_value(trial.attempts)},
      {"worker", trial.live ? count_value(trial.live->worker.number()) : Value{}},
      {"workers", workers_of(trial)},
      {"checkpoint", checkpoints.latest},
      {"checkpoint_step", units_value(checkpoints.latest_step)},
      {"best_checkpoint", checkpoints.best},
      {"best_checkpoint_step", units_value(checkpoints.best_step)},
      {"best_checkpoint_metric", checkpoints.best_metric ? Value(*checkpoints.best_metric) : Value{}},
      {"reason", to_value(engine::reason_of(trial))},
      {"last_failure", trial.last_failure ? *trial.last_failure : std::string()},
      {"created_at", seconds(trial.created_at)},
      {"ended_at", engine::is_closed(trial.state) ? seconds(trial.ended_at) : Value{}},
      {"slot_seconds", static_cast<double>(slot_micros(trial, now)) / 1e6},
  };
}

namespace {

/// What happens next, and that the program of a decided trial may finish what it does at its length.
std::string next_of(const ExperimentRecord& experiment, engine::TrialNumber number,
                    const engine::Explanation& explanation) {
  std::string next = sentences::next_text(explanation, experiment.config.unit);
  const TrialRecord& trial = experiment.trials[number.number()];
  if (!trial.live || !trial.live->is_ending() || !trial.live->decision->may_finish) {
    return next;
  }
  const Value* given = experiment.effective.at_path("environment.finish_within");
  const double seconds =
      given != nullptr ? given->number_or(0) : jobs::Environment().finish_within.in_seconds();
  return sentences::finishing_text(engine::Duration::micros(std::llround(seconds * 1e6))) +
         (next.empty() ? "" : "; " + next);
}

}  // namespace

Value explanation_value(const ExperimentRecord& experiment, engine::TrialNumber number,
                        const engine::Explanation& explanation, Value::List history) {
  const engine::SearcherConfig& searcher = experiment.config.searcher;
  const engine::ProgramChange* program = engine::program_of(experiment, number);
  return Value::Map{
      {"experiment", count_value(experiment.id.number())},
      {"trial", count_value(number.number())},
      {"program", program != nullptr ? program_value(*program) : Value{}},
      {"program_changes", count_value(experiment.programs.size())},
      {"state", engine::name_of(experiment.trials[number.number()].state)},
      {"metric", searcher.metric},
      {"unit", experiment.config.unit},
      {"now", sentences::now_text(explanation, experiment.config.unit)},
      {"next", next_of(experiment, number, explanation)},
      {"source", source_of(experiment)},
      {"results_needed", explanation.results_needed ? count_value(*explanation.results_needed) : Value{}},
      {"results_to_come", explanation.results_to_come ? count_value(*explanation.results_to_come) : Value{}},
      {"ahead", explanation.ahead ? count_value(*explanation.ahead) : Value{}},
      {"reason", to_value(explanation.reason)},
      {"history", std::move(history)},
  };
}

Value best_trial(const ExperimentRecord& experiment, Instant now) {
  const std::optional<engine::TrialNumber> best = engine::best_trial(experiment);
  return best ? trial_value(experiment, *best, now) : Value{};
}

Value device_value(const engine::SlotDevice& device) {
  return Value::Map{{"uuid", device.uuid},
                    {"name", device.name},
                    {"index", count_value(device.index)},
                    {"memory_bytes", count_value(device.memory_bytes)}};
}

Value worker_value(const engine::WorkerRecord& worker) {
  Value::List attempts;
  for (const engine::AttemptKey& key : worker.attempts) {
    attempts.push_back(Value::Map{{"experiment", count_value(key.experiment.number())},
                                  {"trial", count_value(key.trial.number())},
                                  {"attempt", count_value(key.attempt.number())}});
  }
  Value::List leaked_processes;
  std::uint64_t unusable = 0;
  for (const auto& [key, quarantine] : worker.leaked_processes) {
    Value::List slots;
    for (const engine::SlotIndex slot : quarantine.slots) {
      slots.emplace_back(count_value(slot.number()));
      unusable += !quarantine.released && slot.number() < worker.slots.total() ? 1U : 0U;
    }
    leaked_processes.push_back(Value::Map{{"experiment", count_value(key.experiment.number())},
                                          {"trial", count_value(key.trial.number())},
                                          {"attempt", count_value(key.attempt.number())},
                                          {"slots", std::move(slots)},
                                          {"released", quarantine.released}});
  }
  Value::List devices;
  for (const engine::SlotDevice& device : worker.devices) {
    devices.push_back(device_value(device));
  }
  Value::Map labels;
  for (const auto& [key, label] : worker.labels) {
    labels[key] = label;
  }
  Value::List withdrawn;
  std::uint64_t in_trouble = 0;
  for (const auto& [slot, state] : worker.withdrawn) {
    withdrawn.push_back(
        Value::Map{{"slot", count_value(slot.number())}, {"why", state.why}, {"released", state.released}});
    in_trouble += state.released ? 0U : 1U;
  }
  return Value::Map{
      {"id", count_value(worker.id.number())},
      {"name", worker.name},
      {"incarnation", count_value(worker.incarnation)},
      {"present", worker.present},
      {"slot_kind", worker.slot_kind},
      {"slots", count_value(worker.slots.total())},
      {"slots_held", count_value(worker.slots.held() - unusable)},
      {"unslotted", count_value(worker.unslotted)},
      {"max_unslotted", worker.max_unslotted ? count_value(*worker.max_unslotted) : Value()},
      {"slots_quarantined", count_value(unusable)},
      {"leaked_processes", std::move(leaked_processes)},
      {"slots_withdrawn", count_value(in_trouble)},
      {"devices", std::move(devices)},
      {"pool", std::string(engine::pool_named(worker.pool))},
      {"labels", std::move(labels)},
      {"withdrawn", std::move(withdrawn)},
      {"quarantined", worker.quarantined.empty() ? Value() : Value(worker.quarantined)},
      {"draining", worker.draining},
      {"attempts", std::move(attempts)},
  };
}

std::string to_json(const engine::Preview& preview) {
  using engine::to_text;
  const auto listed = [](const auto& items, std::string_view before, auto text) {
    std::string out;
    for (const auto& item : items) {
      out += (out.empty() ? "" : ",") + std::string(before) + text(item);
    }
    return out;
  };
  const auto bracket = [&](const engine::BracketPreview& it) {
    return "{\"lengths\": [" +
           listed(it.lengths, "", [](Units length) { return std::to_string(engine::count(length)); }) +
           "], \"trials\": " + to_text(it.trials) + ", \"share\": " + std::to_string(it.share) + "}";
  };
  const auto reach = [&](const engine::BracketPreview& it) {
    return "[" + listed(it.reach, "", [](Cardinality trials) { return to_text(trials); }) + "]";
  };
  const auto final_count = [](const auto& it) {
    return "\"" + std::to_string(engine::count(it.first)) + "\": " + to_text(it.second);
  };
  std::vector<std::string> remarks = preview.warnings;
  for (const std::string& advice : preview.advice) {
    remarks.push_back("advice: " + advice);
  }
  const auto length = [](Cardinality sum) { return sum == engine::past_counting ? "null" : to_text(sum); };
  return "{\n  \"trials\": " + to_text(preview.trials) + ",\n  \"repeats\": " + to_text(preview.repeats) +
         ",\n  \"brackets\": [" + listed(preview.brackets, "\n    ", bracket) +
         "\n  ],\n  \"final_counts\": {" + listed(preview.final_counts, "\n    ", final_count) +
         "\n  },\n  \"total_length\": " + length(preview.total_length) + ",\n  \"expected_reach\": [" +
         listed(preview.brackets, "\n    ", reach) +
         "\n  ],\n  \"expected_length\": " + length(preview.expected_length) +
         ",\n  \"full_length\": " + length(preview.full_length) + ",\n  \"warnings\": [" +
         listed(remarks, "\n    ", [](const std::string& text) { return engine::compact_json(text); }) +
         "\n  ]\n}";
}

Value to_value(const engine::Reason& reason) {
  ValueWriter out;
  put(out, reason);
  Value value = out.take();
  (*value.as_map())["text"] = sentences::describe(reason);
  return value;
}

Value to_value(const engine::Error& error, const engine::Problems& problems) {
  Value::Map body{{"code", engine::name_of(error.code)}, {"message", error.message}};
  if (!problems.empty()) {
    Value::List list;
    for (const engine::Problem& problem : problems) {
      list.push_back(
          Value::Map{{"path", problem.path}, {"what", problem.what}, {"allowed", problem.allowed}});
    }
    body["problems"] = std::move(list);
  }
  return Value::Map{{"error", std::move(body)}};
}

}  // namespace hpsearch::proto
