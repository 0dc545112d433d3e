#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/field_types.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::engine {
struct ExperimentRecord;
struct Explanation;
}  // namespace hpsearch::engine

namespace hpsearch::api {

struct Reason {
  static constexpr Schema schema{"Reason", "Why something happened."};
  std::string text{};
  engine::Reason reason{};

  static void list_fields(auto& fields, auto& self) {
    fields("text", self.text, "The reason as a sentence; the other fields say it in numbers.");
    fields("why", self.reason.why, "Kind of the reason.");
    fields.maybe("bracket", self.reason.bracket, "Number of the bracket, from 0.");
    fields.maybe("rung", self.reason.rung, "Number of the rung in its bracket; 0 is the shortest.");
    fields.maybe("at", self.reason.at, "Length of the rung.");
    fields.maybe("rank", self.reason.rank, "Rank among the results of the rung; 0 is the best.");
    fields.maybe("size", self.reason.size, "Number of results in the rung, including this one.");
    fields.maybe("keep", self.reason.keep, "How many results of the rung go on.");
    fields.maybe("cutoff", self.reason.cutoff,
                 "Metric of the last result that goes on; for no_improvement, the metric to beat.");
    fields.maybe("value", self.reason.value, "Metric of the trial that a rule compared.");
    fields.maybe("detail", self.reason.detail, "What else is known about it, as text.");
    fields.maybe("near", self.reason.near, "Number of the trial near which the configuration was drawn.");
    fields.maybe("near_rank", self.reason.near_rank,
                 "Rank of the latest result of that trial; 0 is the best.");
    fields.maybe("results", self.reason.results, "Number of trials that had results at that time.");
    fields.maybe("spread", self.reason.spread,
                 "How far around that trial it was drawn, as a part of each range.");
    fields.maybe("expected", self.reason.expected,
                 "What the model of the search expected of the configuration.");
  }
};

struct Trial {
  static constexpr Schema schema{"Trial", "A trial."};
  engine::TrialNumber trial{};
  engine::TrialId id{};
  engine::TrialState state{};
  engine::Value::Map hparams{};
  engine::Units length{};
  engine::Units reached{};
  engine::Units trained{};
  bool trained_unreported = false;
  bool trains_no_further = false;
  bool ran_unlogged = false;
  std::optional<Metric> metric{};
  std::optional<Metric> best_metric{};
  std::optional<engine::Units> best_step{};
  std::uint64_t restarts = 0;
  std::uint64_t attempts = 0;
  std::optional<engine::WorkerId> worker{};
  std::vector<engine::WorkerId> workers{};
  std::string checkpoint{};
  engine::Units checkpoint_step{};
  std::string best_checkpoint{};
  engine::Units best_checkpoint_step{};
  std::optional<Metric> best_checkpoint_metric{};
  Reason reason{};
  std::string last_failure{};
  std::vector<std::string> labels{};
  bool starred = false;
  std::string note{};
  double created_at = 0;
  std::optional<double> ended_at{};
  double slot_seconds = 0;
  std::optional<std::optional<double>> heard_at{};
  std::optional<std::optional<engine::Units>> heard_step{};
  std::optional<std::optional<std::string>> log_problem{};

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the trial in its experiment, from 0.");
    fields("id", self.id, "ID of the trial across all experiments.");
    fields("state", self.state, "State of the trial.");
    fields("hparams", self.hparams, "Hyperparameters of the trial.");
    fields("length", self.length, "Length that the trial is asked to train to.");
    fields("reached", self.reached, "Highest step that it reported.");
    fields("trained", self.trained,
           "Length that all attempts trained together, as reported; an attempt without a checkpoint begins "
           "at 0 again.");
    fields("trained_unreported", self.trained_unreported,
           "Whether an attempt ran and reported no step; then the trial was trained more than `trained`.");
    fields("trains_no_further", self.trains_no_further,
           "Whether its program ended well below its length; what it reported counts there.");
    fields("ran_unlogged", self.ran_unlogged,
           "Whether the store was restored before the trial was closed; `trained` and `slot_seconds` may "
           "lack attempts then.");
    fields("metric", self.metric, "The last metric that it reported; null if there is none.");
    fields("best_metric", self.best_metric, "Its best finite metric; null if there is none.");
    fields("best_step", self.best_step, "Step of the best metric; null if there is none.");
    fields("restarts", self.restarts, "How often its program has failed.");
    fields("attempts", self.attempts, "Number of its attempts.");
    fields("worker", self.worker, "ID of the worker on which it runs; null while it doesn't run.");
    fields("workers", self.workers, "IDs of the workers of all ranks, in order; empty while it doesn't run.");
    fields("checkpoint", self.checkpoint, "Directory of its latest checkpoint; \"\" if it has none.");
    fields("checkpoint_step", self.checkpoint_step, "Step of the latest checkpoint.");
    fields("best_checkpoint", self.best_checkpoint,
           "Directory of its best checkpoint with a metric at exactly its step; \"\" if it has none.");
    fields("best_checkpoint_step", self.best_checkpoint_step, "Step of the best checkpoint.");
    fields("best_checkpoint_metric", self.best_checkpoint_metric,
           "Metric at that step; null if there is none.");
    fields("reason", self.reason, "Why its state changed last.");
    fields("last_failure", self.last_failure,
           "Cause and last log lines of its last failed attempt; \"\" if none failed.");
    fields("labels", self.labels, "Labels that users gave it.");
    fields("starred", self.starred, "Whether a user marked it with a star.");
    fields("note", self.note, "Text that users wrote about it; \"\" if there is none.");
    fields("created_at", self.created_at, "When the trial was created.");
    fields("ended_at", self.ended_at, "When the trial ended; null before.");
    fields("slot_seconds", self.slot_seconds, "Slots times time under lease, until now.");
    fields.maybe("heard_at", self.heard_at,
                 "When the running program last printed or reported something; null if unknown.");
    fields.maybe("heard_step", self.heard_step,
                 "Highest step that the running program reported; null if unknown.");
    fields.maybe("log_problem", self.log_problem,
                 "Why the daemon could not keep the log of an attempt; null if it could.");
  }
};

struct TrialPage {
  static constexpr Schema schema{"TrialPage", "Trials by number."};
  std::vector<Trial> trials{};
  engine::Value next{};
  std::uint64_t total = 0;
  std::optional<std::uint64_t> matched{};

  static void list_fields(auto& fields, auto& self) {
    fields("trials", self.trials, "The trials, in the order asked for.");
    fields("next", self.next, "The next page's `after`; null on the last page.");
    fields("total", self.total, "Number of trials of the experiment.");
    fields.maybe("matched", self.matched, "Number of trials on all pages, if only some are asked for.");
  }
};

struct TrialCheckpointPage {
  static constexpr Schema schema{"TrialCheckpointPage", "Checkpoints of a trial."};
  std::vector<Checkpoint> checkpoints{};
  std::optional<std::uint64_t> next{};

  static void list_fields(auto& fields, auto& self) {
    fields("checkpoints", self.checkpoints, "The checkpoints, in the order of their publication.");
    fields("next", self.next, "The next page's `after`; null on the last page.");
  }
};

struct CheckpointDeletion {
  static constexpr Schema schema{"CheckpointDeletion", "Checkpoints whose files are to be deleted.",
                                 Schema::Kind::body};
  std::vector<std::string> paths{};

  static void list_fields(auto& fields, auto& self) {
    fields("paths", self.paths, "Paths of checkpoints, as `GET …/checkpoints` lists them.");
  }
};

struct Explanation {
  static constexpr Schema schema{"Explanation", "Why a trial is where it is."};
  engine::ExperimentId experiment{};
  engine::TrialNumber trial{};
  std::optional<ProgramChange> program{};
  std::uint64_t program_changes = 0;
  engine::TrialState state{};
  std::string metric{};
  std::string unit{};
  std::string now{};
  std::string next{};
  std::optional<SourceCheckpoint> source{};
  std::optional<std::uint64_t> results_needed{};
  std::optional<std::uint64_t> results_to_come{};
  std::optional<std::uint64_t> ahead{};
  Reason reason{};
  std::vector<Event> history{};

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment, "ID of the experiment.");
    fields("trial", self.trial, "Number of the trial.");
    fields("program", self.program,
           "The program that the trial runs; null: the one that the experiment was submitted with.");
    fields("program_changes", self.program_changes, "How often the program of the experiment was changed.");
    fields("state", self.state, "State of the trial.");
    fields("metric", self.metric, "Name of the searcher's metric.");
    fields("unit", self.unit, "Unit of lengths.");
    fields("now", self.now, "What the trial does or waits for, as a sentence with numbers.");
    fields("next", self.next, "What has to happen next; \"\" if nothing can.");
    fields("source", self.source,
           "The checkpoint from which the trials of the experiment start; null if there is none.");
    fields("results_needed", self.results_needed,
           "For a trial that waits at a rung: it is promoted after this number of further results behind it; "
           "0: the rung already keeps it. Else null.");
    fields("results_to_come", self.results_to_come,
           "For such a trial: the most results that can still enter the rung. Below `results_needed` it "
           "can't be promoted. Else null.");
    fields("ahead", self.ahead,
           "For a trial that will be promoted: this number of free slots of the experiment goes to other "
           "trials first. Else null.");
    fields("reason", self.reason, "Its present rank as a reason.");
    fields("history", self.history, "The stored events of the trial except reports, in order.");
  }
};

struct MetricPoint {
  static constexpr Schema schema{"MetricPoint", "Metrics that a trial reported."};
  engine::AttemptNumber attempt{};
  engine::Units step{};
  std::map<std::string, Metric> metrics{};

  static void list_fields(auto& fields, auto& self) {
    fields("attempt", self.attempt, "Number of the attempt that reported.");
    fields("step", self.step, "Step of the report.");
    fields("metrics", self.metrics, "All metrics of the report, by name.");
  }
};

struct MetricPage {
  static constexpr Schema schema{"MetricPage", "Metrics of a trial in the order of their reports."};
  std::vector<MetricPoint> metrics{};
  std::optional<std::string> next{};

  static void list_fields(auto& fields, auto& self) {
    fields("metrics", self.metrics, "The reports, in the order of their arrival.");
    fields("next", self.next, "The next page's `after`; null on the last page.");
  }
};

struct LogMatch {
  static constexpr Schema schema{"LogMatch", "A line of a log."};
  std::uint64_t offset = 0;
  std::string line{};

  static void list_fields(auto& fields, auto& self) {
    fields("offset", self.offset, "Offset of the line's first byte.");
    fields("line", self.line, "At most 4,096 bytes of the line.");
  }
};

struct LogPiece {
  static constexpr Schema schema{"LogPiece", "A piece of a log, or the lines that were searched for."};
  engine::AttemptNumber attempt{};
  std::optional<bool> kept{};
  std::optional<std::uint64_t> offset{};
  std::optional<std::uint64_t> size{};
  std::optional<std::string> text{};
  std::optional<std::vector<LogMatch>> matches{};
  std::optional<std::uint64_t> searched_to{};
  std::optional<bool> complete{};

  static void list_fields(auto& fields, auto& self) {
    fields("attempt", self.attempt, "Number of the attempt.");
    fields.maybe("kept", self.kept, "Whether the daemon's copy is shown; else the worker's file is.");
    fields.maybe(
        "offset", self.offset,
        "Offset of the text's first byte. It is larger than the one asked for if bytes were left out.");
    fields.maybe("size", self.size, "Size of the whole log in bytes.");
    fields.maybe("text", self.text, "The piece of the log; bytes that are not UTF-8 are replaced by `?`.");
    fields.maybe("matches", self.matches, "With `q` and instead of the text: at most 1,000 lines.");
    fields.maybe("searched_to", self.searched_to, "With `q`: the offset with which the same search goes on.");
    fields.maybe("complete", self.complete, "With `q`: whether the log was searched to its end.");
  }
};

/// Its sentence has lengths in `unit`.
[[nodiscard]] Reason reason_with_text(engine::Reason reason, std::string_view unit = {},
                                      sentences::Language language = sentences::Language::english);
/// The trial must exist. The daemon adds the fields that only it knows: heard_at, heard_step, log_problem.
[[nodiscard]] Trial trial_of(const engine::ExperimentRecord& experiment, engine::TrialNumber trial,
                             engine::Instant now,
                             sentences::Language language = sentences::Language::english);
[[nodiscard]] std::optional<Trial> best_trial(const engine::ExperimentRecord& experiment, engine::Instant now,
                                              sentences::Language language = sentences::Language::english);
/// Without its history.
[[nodiscard]] Explanation explanation_of(const engine::ExperimentRecord& experiment,
                                         engine::TrialNumber trial, const engine::Explanation& explanation,
                                         sentences::Language language = sentences::Language::english);

}  // namespace hpsearch::api
