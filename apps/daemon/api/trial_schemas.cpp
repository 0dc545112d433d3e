#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field reason_fields[] = {
    {"text", "text", "The reason in words; the other fields say it in numbers."}};
constexpr Field trial_fields[] = {
    {"trial", "integer", "Its number in the experiment."},
    {"id", "integer"},
    {"state", "text"},
    {"hparams", "map"},
    {"length", "count", "How far it is asked to train."},
    {"reached", "count"},
    {"trained", "count"},
    {"trained_unreported", "flag"},
    {"trains_no_further", "flag", "Its program ended well below its length: what it reported counts there."},
    {"ran_unlogged", "flag"},
    {"metric", "metric?"},
    {"best_metric", "metric?"},
    {"best_step", "any"},
    {"restarts", "integer"},
    {"attempts", "integer"},
    {"worker", "integer?"},
    {"workers", "[integer]", "By rank."},
    {"checkpoint", "text"},
    {"checkpoint_step", "count"},
    {"best_checkpoint", "text"},
    {"best_checkpoint_step", "count"},
    {"best_checkpoint_metric", "metric?"},
    {"reason", "Reason"},
    {"last_failure", "text"},
    {"created_at", "number"},
    {"ended_at", "number?"},
    {"slot_seconds", "number"},
    {"heard_at?", "number?", "When its program was heard from last."},
    {"heard_step?", "any"},
    {"log_problem?", "text?"},
};
constexpr Field trial_page_fields[] = {
    {"trials", "[Trial]"},
    {"next", "any", "The next page's `after`; null on the last page."},
    {"total", "integer"},
    {"matched?", "integer", "Of all pages, if only some are asked for."},
};
constexpr Field trial_checkpoint_page_fields[] = {
    {"checkpoints", "[Checkpoint]"},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field deletion_fields[] = {{"paths", "[text]", "As GET .../checkpoints has them."}};
constexpr Field explanation_fields[] = {
    {"experiment", "integer"},
    {"trial", "integer"},
    {"program", "ProgramChange?"},
    {"program_changes", "integer"},
    {"state", "text"},
    {"metric", "text"},
    {"unit", "text"},
    {"now", "text"},
    {"next", "text"},
    {"source", "SourceCheckpoint?"},
    {"results_needed", "any"},
    {"results_to_come", "any"},
    {"ahead", "any"},
    {"reason", "Reason"},
    {"history", "[Event]"},
};
constexpr Field point_fields[] = {{"attempt", "integer"}, {"step", "count"}, {"metrics", "{metric}"}};
constexpr Field point_page_fields[] = {
    {"metrics", "[MetricPoint]"},
    {"next", "text?", "The next page's `after`; null on the last page."},
};
constexpr Field log_fields[] = {
    {"attempt", "integer"},
    {"kept?", "flag", "Whether it comes from the daemon; else from the worker."},
    {"offset?", "integer", "Of the text's first byte."},
    {"size?", "integer", "Of the whole log, in bytes."},
    {"text?", "text"},
    {"matches?", "[LogMatch]", "With q, and instead of the text: at most 1,000 lines."},
    {"searched_to?", "integer", "With q: the offset with which the same search goes on."},
    {"complete?", "flag", "With q: the log was searched to its end."},
};
constexpr Field match_fields[] = {
    {"offset", "integer", "Of the line's first byte."},
    {"line", "text", "At most 4,096 bytes of it."},
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
