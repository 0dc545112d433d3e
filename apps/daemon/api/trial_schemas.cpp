#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field reason_fields[] = {
    {"text", "text", "The reason as a sentence; the other fields say it in numbers."},
};
constexpr Field trial_fields[] = {
    {"trial", "integer", "Number of the trial in its experiment, from 0."},
    {"id", "integer", "ID of the trial across all experiments."},
    {"state", "text", "`PENDING`, `RUNNING`, `PAUSED`, `COMPLETED`, `STOPPED`, `FAILED` or `CANCELED`."},
    {"hparams", "map", "Hyperparameters of the trial."},
    {"length", "count", "Length that the trial is asked to train to."},
    {"reached", "count", "Highest step that it reported."},
    {"trained", "count",
     "Length that all attempts trained together, as reported; an attempt without a checkpoint begins at 0 "
     "again."},
    {"trained_unreported", "flag",
     "Whether an attempt ran and reported no step; then the trial was trained more than `trained`."},
    {"trains_no_further", "flag",
     "Whether its program ended well below its length; what it reported counts there."},
    {"ran_unlogged", "flag",
     "Whether the store was restored before the trial was closed; `trained` and `slot_seconds` may lack "
     "attempts then."},
    {"metric", "metric?", "The last metric that it reported; null if there is none."},
    {"best_metric", "metric?", "Its best finite metric; null if there is none."},
    {"best_step", "any", "Step of the best metric; null if there is none."},
    {"restarts", "integer", "How often its program has failed."},
    {"attempts", "integer", "Number of its attempts."},
    {"worker", "integer?", "ID of the worker on which it runs; null while it doesn't run."},
    {"workers", "[integer]", "IDs of the workers of all ranks, in order; empty while it doesn't run."},
    {"checkpoint", "text", "Directory of its latest checkpoint; \"\" if it has none."},
    {"checkpoint_step", "count", "Step of the latest checkpoint."},
    {"best_checkpoint", "text",
     "Directory of its best checkpoint with a metric at exactly its step; \"\" if it has none."},
    {"best_checkpoint_step", "count", "Step of the best checkpoint."},
    {"best_checkpoint_metric", "metric?", "Metric at that step; null if there is none."},
    {"reason", "Reason", "Why its state changed last."},
    {"last_failure", "text", "Cause and last log lines of its last failed attempt; \"\" if none failed."},
    {"created_at", "number", "When the trial was created."},
    {"ended_at", "number?", "When the trial ended; null before."},
    {"slot_seconds", "number", "Slots times time under lease, until now."},
    {"heard_at?", "number?", "When the running program last printed or reported something; null if unknown."},
    {"heard_step?", "any", "Highest step that the running program reported; null if unknown."},
    {"log_problem?", "text?", "Why the daemon could not keep the log of an attempt; null if it could."},
};
constexpr Field trial_page_fields[] = {
    {"trials", "[Trial]", "The trials, in the order asked for."},
    {"next", "any", "The next page's `after`; null on the last page."},
    {"total", "integer", "Number of trials of the experiment."},
    {"matched?", "integer", "Number of trials on all pages, if only some are asked for."},
};
constexpr Field trial_checkpoint_page_fields[] = {
    {"checkpoints", "[Checkpoint]", "The checkpoints, in the order of their publication."},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field deletion_fields[] = {
    {"paths", "[text]", "Paths of checkpoints, as `GET …/checkpoints` lists them."},
};
constexpr Field explanation_fields[] = {
    {"experiment", "integer", "ID of the experiment."},
    {"trial", "integer", "Number of the trial."},
    {"program", "ProgramChange?",
     "The program that the trial runs; null: the one that the experiment was submitted with."},
    {"program_changes", "integer", "How often the program of the experiment was changed."},
    {"state", "text", "State of the trial."},
    {"metric", "text", "Name of the searcher's metric."},
    {"unit", "text", "Unit of lengths."},
    {"now", "text", "What the trial does or waits for, as a sentence with numbers."},
    {"next", "text", "What has to happen next; \"\" if nothing can."},
    {"source", "SourceCheckpoint?",
     "The checkpoint from which the trials of the experiment start; null if there is none."},
    {"results_needed", "any",
     "For a trial that waits at a rung: it is promoted after this number of further results behind it; 0: "
     "the rung already keeps it. Else null."},
    {"results_to_come", "any",
     "For such a trial: the most results that can still enter the rung. Below `results_needed` it can't be "
     "promoted. Else null."},
    {"ahead", "any",
     "For a trial that will be promoted: this number of free slots of the experiment goes to other trials "
     "first. Else null."},
    {"reason", "Reason", "Its present rank as a reason."},
    {"history", "[Event]", "The stored events of the trial except reports, in order."},
};
constexpr Field point_fields[] = {
    {"attempt", "integer", "Number of the attempt that reported."},
    {"step", "count", "Step of the report."},
    {"metrics", "{metric}", "All metrics of the report, by name."},
};
constexpr Field point_page_fields[] = {
    {"metrics", "[MetricPoint]", "The reports, in the order of their arrival."},
    {"next", "text?", "The next page's `after`; null on the last page."},
};
constexpr Field log_fields[] = {
    {"attempt", "integer", "Number of the attempt."},
    {"kept?", "flag", "Whether the daemon's copy is shown; else the worker's file is."},
    {"offset?", "integer",
     "Offset of the text's first byte. It is larger than the one asked for if bytes were left out."},
    {"size?", "integer", "Size of the whole log in bytes."},
    {"text?", "text", "The piece of the log; bytes that are not UTF-8 are replaced by `?`."},
    {"matches?", "[LogMatch]", "With `q` and instead of the text: at most 1,000 lines."},
    {"searched_to?", "integer", "With `q`: the offset with which the same search goes on."},
    {"complete?", "flag", "With `q`: whether the log was searched to its end."},
};
constexpr Field match_fields[] = {
    {"offset", "integer", "Offset of the line's first byte."},
    {"line", "text", "At most 4,096 bytes of the line."},
};

constexpr Schema trial_table[] = {
    {"Reason", "Why something happened.", reason_fields},
    {"Trial", "A trial.", trial_fields},
    {"TrialPage", "Trials by number.", trial_page_fields},
    {"TrialCheckpointPage", "Checkpoints of a trial.", trial_checkpoint_page_fields},
    {"CheckpointDeletion", "Checkpoints whose files are to be deleted.", deletion_fields, Schema::Kind::body},
    {"Explanation", "Why a trial is where it is.", explanation_fields},
    {"MetricPoint", "Metrics that a trial reported.", point_fields},
    {"MetricPage", "Metrics of a trial in the order of their reports.", point_page_fields},
    {"LogPiece", "A piece of a log, or the lines that were searched for.", log_fields},
    {"LogMatch", "A line of a log.", match_fields},
};

}  // namespace

std::span<const Schema> trial_schemas() noexcept {
  return trial_table;
}

}  // namespace hpsearch::daemon
