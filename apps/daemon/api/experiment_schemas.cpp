#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field submission_fields[] = {
    {"config", "map", "The experiment file as JSON (docs/experiment-file.schema.json)."},
    {"name?", "text", "Name of the experiment if the file has none."},
    {"context_directory?", "text",
     "Absolute path of the context directory, or \"\". Without `context_digest`, each worker uses this "
     "directory itself."},
    {"context_digest?", "text", "SHA-256 of a context that was uploaded, or \"\"."},
    {"seed?", "integer", "Seed if the file has none: 0 to 2147483647; missing: random."},
};
constexpr Field created_fields[] = {
    {"experiment", "integer", "ID of the experiment."},
};
constexpr Field deleted_fields[] = {
    {"experiment", "integer", "ID of the experiment, which is not used again."},
};
constexpr Field fork_fields[] = {
    {"config", "map", "The experiment file without its secrets; they have to be filled in."},
    {"name", "text", "Name of the experiment."},
    {"context_directory", "text", "Absolute path of the context directory, or \"\"."},
    {"context_digest", "text", "SHA-256 of the context, or \"\"."},
};
constexpr Field validation_fields[] = {
    {"valid", "flag", "Whether the experiment could be submitted."},
    {"problems", "[ProblemItem]", "What is wrong with it."},
    {"notes", "[ProblemItem]", "What has no effect, or is not as it seems."},
    {"to_confirm", "[text]", "Notes that a client asks its user about before it submits."},
    {"config", "map?", "The configuration with all defaults; null if it is not valid."},
};
constexpr Field bracket_fields[] = {
    {"lengths", "[integer]", "Lengths of the rungs, shortest first."},
    {"trials", "any", "Number of trials of the bracket."},
    {"share", "integer", "Its share of `max_concurrent_trials`; 0: no fixed share."},
};
constexpr Field preview_fields[] = {
    {"trials", "number", "Number of trials, without `repeats`."},
    {"repeats", "number",
     "At most this many further trials, which train finalists again; counts and lengths include them."},
    {"brackets", "[BracketPreview]", "The brackets of the search."},
    {"final_counts", "{number}",
     "From length to the number of trials that end there, if all metrics are equal."},
    {"total_length", "number?",
     "Length that all trials train together, if all metrics are equal; null if it is too large to count."},
    {"expected_reach", "[[number]]",
     "For each bracket, the number of trials expected to train to each length if results come in random "
     "order."},
    {"expected_length", "number?", "Length that these train together; null if it is too large to count."},
    {"full_length", "number?",
     "Length if every trial trained to the maximum; null if it is too large to count."},
    {"warnings", "[text]",
     "Likely mistakes, then settings that performed better in measurements, each after `advice: `."},
};
constexpr Field best_fields[] = {
    {"trial", "integer", "Number of the trial."},
    {"metric", "metric", "Its best metric."},
    {"step", "count", "Step at which it was measured."},
    {"mean?", "metric?", "Mean over the repeated trainings of the finalist."},
    {"deviation?", "metric?", "Sample standard deviation of these; null with fewer than two."},
};
constexpr Field summary_fields[] = {
    {"id", "integer", "ID of the experiment."},
    {"name", "text", "Name of the experiment."},
    {"state", "ACTIVE|PAUSED|STOPPING|COMPLETED|CANCELED|FAILED", "State of the experiment."},
    {"archived", "flag", "Whether it has ended and lists leave it out."},
    {"reason", "text", "Why it stops or has ended; \"\" otherwise."},
    {"progress", "number?", "Share of the planned search that is done, 0 to 1; never decreases."},
    {"searcher", "text", "Name of the searcher."},
    {"metric", "text", "Name of the searcher's metric."},
    {"smaller_is_better", "flag", "Whether smaller metrics are better."},
    {"unit", "text", "Unit of lengths."},
    {"max_length", "count", "Longest length of a trial."},
    {"trials", "{integer}", "Number of trials by state."},
    {"trials_total", "integer", "Number of trials."},
    {"best", "BestResult?", "The best result so far; null if there is none."},
    {"created_at", "number", "When it was submitted."},
    {"ended_at", "number?", "When it ended; null before."},
    {"owner", "text", "Name of the user or token that submitted it; \"\": not recorded."},
    {"workspace", "text", "Workspace of the experiment; `default` if the file names none."},
    {"project", "text", "Project of the experiment; `default` if the file names none."},
    {"labels", "[text]", "Labels of the experiment file."},
    {"waits_for?", "text", "Why no trial runs; \"\" if one does."},
};
constexpr Field experiment_page_fields[] = {
    {"experiments", "[ExperimentSummary]", "The experiments, in the order asked for."},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field source_fields[] = {
    {"id", "text", "ID of the checkpoint: EXPERIMENT/TRIAL/ATTEMPT-STEP."},
    {"experiment", "integer", "ID of the experiment that published it."},
    {"trial", "integer", "Number of the trial that published it."},
    {"step", "count", "Step of the checkpoint."},
    {"path", "text", "Directory of the checkpoint."},
};
constexpr Field program_change_fields[] = {
    {"from", "integer", "Number of the first new trial that runs it."},
    {"also", "[integer]", "Numbers of earlier trials that run it too."},
    {"context_digest", "text", "SHA-256 of its context."},
    {"context_bytes", "integer", "Size of its context."},
    {"changed", "[text]", "Names of changed files."},
    {"at", "number", "When the program was changed."},
};
constexpr Field note_fields[] = {
    {"trial", "integer", "Number of the first trial with this note."},
    {"attempt", "integer", "Number of the first attempt with this note."},
    {"attempts", "integer", "Number of attempts with this note."},
    {"about", "text", "Kind of the note."},
    {"text", "text", "The note as a sentence."},
};
constexpr Field rung_fields[] = {
    {"length", "count", "Length that trials were asked for."},
    {"reached", "integer", "Number of trials that trained this far."},
};
constexpr Field training_fields[] = {
    {"trial", "integer", "Number of the trial."},
    {"metric", "metric?", "Metric at full length; null if there is none."},
};
constexpr Field finalist_fields[] = {
    {"mean", "metric?", "Mean of the metrics at full length; null if there is none."},
    {"deviation", "metric?", "Sample standard deviation of these; null with fewer than two."},
    {"hparams", "map", "Hyperparameters of the finalist."},
    {"trainings", "[Training]", "Its trainings, one per trial."},
};
constexpr Field detail_fields[] = {
    {"context_directory", "text", "Absolute path of the context directory."},
    {"context_digest", "text",
     "SHA-256 of the packed context; \"\": workers use `context_directory` itself."},
    {"context_bytes", "integer", "Size of the packed context."},
    {"programs", "[ProgramChange]", "Programs that replaced this context, in order."},
    {"source", "SourceCheckpoint?", "The checkpoint with which its trials start; null if there is none."},
    {"notes", "[Note]", "Notes about how its programs report, one of each kind."},
    {"doubts", "[text]", "What of the search its user may not mean, such as its direction."},
    {"rungs", "[ReachedLength]", "Each length that was the last one asked of a trial, in ascending order."},
    {"finalists", "[Finalist]",
     "With `repeats` and from the end of the search on: the finalists, best mean first."},
    {"final_counts", "{integer}",
     "From length to the number of closed trials that were asked for it last and reached it."},
    {"length_trained", "count", "Length that all trials trained together."},
    {"ran_unlogged", "flag",
     "Whether the store was restored while the experiment was going on; lengths and slot time lack what ran "
     "between backup and restore then."},
    {"length_unreported", "count",
     "Number of trials that trained and reported no step; `length_trained` lacks something of each."},
    {"length_full", "count",
     "Length if every trial had trained to `max_length`, or as far as its program goes by itself."},
    {"slot_seconds", "number", "Slots times time under lease, until now."},
    {"first_lease_at", "number?", "When the first attempt got its slots; null before."},
    {"last_release_at", "number?", "When slots were released last; null before."},
};
constexpr Field importance_fields[] = {
    {"name", "text", "Path of the hyperparameter."},
    {"share", "number",
     "Its share of the mean squared distance between two random configurations, as the model sees it; all "
     "shares add up to 1."},
    {"length_scale", "number", "Distance within which metrics stay alike, as a part of the range."},
};
constexpr Field agreement_fields[] = {
    {"length", "count", "Length of the compared results."},
    {"results", "integer", "Number of results at this length."},
    {"correlation", "metric", "Learned correlation of metrics at this length with those at full length."},
};
constexpr Field model_best_fields[] = {
    {"hparams", "map", "Hyperparameters of the configuration."},
    {"mean", "metric", "Expected metric at full length."},
    {"deviation", "metric", "Standard deviation of the expectation."},
    {"trial", "integer?", "Number of the trial that has the configuration; null if none has."},
};
constexpr Field model_fields[] = {
    {"experiment", "integer", "ID of the experiment."},
    {"metric", "text", "Name of the searcher's metric."},
    {"unit", "text", "Unit of lengths."},
    {"results", "integer", "Number of results so far."},
    {"needed", "integer", "Number of results from which on there is a model; below it both lists are empty."},
    {"hyperparameters", "[ModelImportance]", "How much each hyperparameter matters, largest share first."},
    {"lengths", "[ModelLength]", "The lengths that have results, and the full length."},
    {"best", "ModelBest?",
     "The configuration with the best expected metric at full length; null without a model."},
};
constexpr Field checkpoint_fields[] = {
    {"id", "text", "ID of the checkpoint: EXPERIMENT/TRIAL/ATTEMPT-STEP."},
    {"trial", "integer", "Number of the trial."},
    {"step", "count", "Step of the checkpoint."},
    {"metric", "metric?", "Metric at exactly this step; null if there is none."},
    {"path", "text", "Directory of the checkpoint."},
    {"files", "integer", "Number of its files."},
    {"bytes", "integer", "Size of all its files."},
    {"latest", "flag", "Whether it is the trial's latest one."},
    {"best", "flag", "Whether it is the trial's best one."},
};
constexpr Field checkpoint_page_fields[] = {
    {"checkpoints", "[Checkpoint]", "The checkpoints, by trial."},
    {"next", "any", "The next page's `after`; null on the last page."},
    {"total", "integer", "Number of trials of the experiment."},
    {"being_deleted", "integer", "Number of checkpoints whose files are being deleted."},
};
constexpr Field limit_fields[] = {
    {"budget?", "map", "The changed fields of `budget`."},
    {"resources?", "map", "The changed fields of `resources`."},
    {"searcher?", "map", "The changed fields of `searcher`."},
};
constexpr Field program_request_fields[] = {
    {"context_digest?", "text",
     "SHA-256 of a context on the daemon; missing if the experiment uses a directory."},
    {"changed?", "[text]", "At most 100 names of changed files."},
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
