#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field submission_fields[] = {
    {"config", "map", "The experiment file as JSON (docs/experiment-file.schema.json)."},
    {"name?", "text", "Where the file has none."},
    {"context_directory?", "text", "An absolute path, or \"\"."},
    {"context_digest?", "text", "SHA-256 of a context that was uploaded, or \"\"."},
    {"seed?", "integer", "Where the file has none: 0 to 2147483647."},
};
constexpr Field created_fields[] = {{"experiment", "integer", "Its number."}};
constexpr Field deleted_fields[] = {{"experiment", "integer", "Its number, which is not used again."}};
constexpr Field fork_fields[] = {
    {"config", "map", "Without its secrets: they have to be filled in."},
    {"name", "text"},
    {"context_directory", "text"},
    {"context_digest", "text"},
};
constexpr Field validation_fields[] = {
    {"valid", "flag"},
    {"problems", "[ProblemItem]"},
    {"notes", "[ProblemItem]", "What has no effect, or is not as it seems."},
    {"to_confirm", "[text]", "Notes that a client asks its user about before it submits."},
    {"config", "map?", "With all defaults; null if it is not valid."},
};
constexpr Field bracket_fields[] = {{"lengths", "[integer]"}, {"trials", "any"}, {"share", "integer"}};
constexpr Field preview_fields[] = {
    {"trials", "number"},
    {"repeats", "number"},
    {"brackets", "[BracketPreview]"},
    {"final_counts", "{number}", "Trials by the length that they end at."},
    {"total_length", "number?", "null: past counting."},
    {"expected_reach", "[[number]]"},
    {"expected_length", "number?"},
    {"full_length", "number?"},
    {"warnings", "[text]"},
};
constexpr Field best_fields[] = {
    {"trial", "integer"},      {"metric", "metric"},
    {"step", "count"},         {"mean?", "metric?", "Over the repeated trainings of a finalist."},
    {"deviation?", "metric?"},
};
constexpr Field summary_fields[] = {
    {"id", "integer"},
    {"name", "text"},
    {"state", "ACTIVE|PAUSED|STOPPING|COMPLETED|CANCELED|FAILED"},
    {"archived", "flag", "It has ended, and lists leave it out."},
    {"reason", "text"},
    {"progress", "number?", "0 to 1."},
    {"searcher", "text"},
    {"metric", "text"},
    {"smaller_is_better", "flag"},
    {"unit", "text"},
    {"max_length", "count"},
    {"trials", "{integer}", "How many there are by state."},
    {"trials_total", "integer"},
    {"best", "BestResult?"},
    {"created_at", "number"},
    {"ended_at", "number?"},
    {"owner", "text", "Name of the user or token that submitted it, or \"\"."},
    {"workspace", "text", "Of the experiment file, or default."},
    {"project", "text", "The same."},
    {"labels", "[text]"},
    {"waits_for?", "text", "Why no trial runs, or \"\"."},
};
constexpr Field experiment_page_fields[] = {
    {"experiments", "[ExperimentSummary]"},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field source_fields[] = {
    {"id", "text"}, {"experiment", "integer"}, {"trial", "integer"}, {"step", "count"}, {"path", "text"},
};
constexpr Field program_change_fields[] = {
    {"from", "integer", "The first trial that runs it."},
    {"also", "[integer]", "Earlier trials that run it too."},
    {"context_digest", "text"},
    {"context_bytes", "integer"},
    {"changed", "[text]", "Names of changed files."},
    {"at", "number"},
};
constexpr Field note_fields[] = {
    {"trial", "integer"}, {"attempt", "integer"}, {"attempts", "integer"},
    {"about", "text"},    {"text", "text"},
};
constexpr Field rung_fields[] = {{"length", "count"},
                                 {"reached", "integer", "Trials that trained this far."}};
constexpr Field training_fields[] = {{"trial", "integer"}, {"metric", "metric?"}};
constexpr Field finalist_fields[] = {
    {"mean", "metric?"},
    {"deviation", "metric?"},
    {"hparams", "map"},
    {"trainings", "[Training]"},
};
constexpr Field detail_fields[] = {
    {"context_directory", "text"},
    {"context_digest", "text"},
    {"context_bytes", "integer"},
    {"programs", "[ProgramChange]"},
    {"source", "SourceCheckpoint?"},
    {"notes", "[Note]"},
    {"doubts", "[text]", "What of the search its user may not mean: its direction, say."},
    {"rungs", "[ReachedLength]"},
    {"finalists", "[Finalist]"},
    {"final_counts", "{integer}", "Closed trials by the length that they ended at."},
    {"length_trained", "count"},
    {"ran_unlogged", "flag"},
    {"length_unreported", "count"},
    {"length_full", "count"},
    {"slot_seconds", "number"},
    {"first_lease_at", "number?"},
    {"last_release_at", "number?"},
};
constexpr Field importance_fields[] = {{"name", "text"}, {"share", "number"}, {"length_scale", "number"}};
constexpr Field agreement_fields[] = {{"length", "count"}, {"results", "integer"}, {"correlation", "metric"}};
constexpr Field model_best_fields[] = {
    {"hparams", "map"}, {"mean", "metric"}, {"deviation", "metric"}, {"trial", "integer?"}};
constexpr Field model_fields[] = {
    {"experiment", "integer"},    {"metric", "text"},     {"unit", "text"},
    {"results", "integer"},       {"needed", "integer"},  {"hyperparameters", "[ModelImportance]"},
    {"lengths", "[ModelLength]"}, {"best", "ModelBest?"},
};
constexpr Field checkpoint_fields[] = {
    {"id", "text"},       {"trial", "integer"}, {"step", "count"},  {"metric", "metric?"}, {"path", "text"},
    {"files", "integer"}, {"bytes", "integer"}, {"latest", "flag"}, {"best", "flag"},
};
constexpr Field checkpoint_page_fields[] = {
    {"checkpoints", "[Checkpoint]"},
    {"next", "any", "The next page's `after`; null on the last page."},
    {"total", "integer", "Trials."},
    {"being_deleted", "integer", "Checkpoints whose files are being deleted."},
};
constexpr Field limit_fields[] = {
    {"budget?", "map"},
    {"resources?", "map"},
    {"searcher?", "map"},
};
constexpr Field program_request_fields[] = {
    {"context_digest?", "text"},
    {"changed?", "[text]", "At most 100 names of files."},
};

constexpr Schema experiment_table[] = {
    {"Submission", "An experiment to create.", submission_fields, Schema::Kind::body},
    {"CreatedExperiment", "The experiment that was created.", created_fields},
    {"DeletedExperiment", "The experiment that was deleted.", deleted_fields},
    {"Fork", "A submission.", fork_fields},
    {"Validation", "What is wrong with an experiment.", validation_fields},
    {"BracketPreview", "A bracket of the search.", bracket_fields},
    {"Preview", "What an experiment would cost.", preview_fields},
    {"BestResult", "The best result so far.", best_fields},
    {"ExperimentSummary", "An experiment in a list.", summary_fields},
    {"ExperimentPage", "Experiments by number.", experiment_page_fields},
    {"SourceCheckpoint", "The checkpoint that trials begin from.", source_fields},
    {"ProgramChange", "A program that replaced the one before it.", program_change_fields},
    {"Note", "What the daemon noticed about an attempt.", note_fields},
    {"ReachedLength", "A length that trials are asked for.", rung_fields},
    {"Training", "One training of a finalist.", training_fields},
    {"Finalist", "A configuration that is trained repeatedly.", finalist_fields},
    {"Experiment", "An experiment.", detail_fields, Schema::Kind::answer, "ExperimentSummary"},
    {"ModelImportance", "How much a hyperparameter matters.", importance_fields},
    {"ModelLength", "How well a length predicts the full one.", agreement_fields},
    {"ModelBest", "The best configuration by the model.", model_best_fields},
    {"Model", "What the model of a search has learnt.", model_fields},
    {"Checkpoint", "A checkpoint of a trial.", checkpoint_fields},
    {"CheckpointPage", "Checkpoints of an experiment.", checkpoint_page_fields},
    {"LimitChanges", "The fields of the experiment file that change.", limit_fields, Schema::Kind::body},
    {"ProgramRequest", "The program of trials that have reported nothing yet.", program_request_fields,
     Schema::Kind::body},
};

}  // namespace

std::span<const Schema> experiment_schemas() noexcept {
  return experiment_table;
}

}  // namespace hpsearch::daemon
