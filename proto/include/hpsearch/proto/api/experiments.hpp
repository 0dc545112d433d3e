#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/field_types.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::engine {
struct ExperimentRecord;
struct ProgramChange;
}  // namespace hpsearch::engine

namespace hpsearch::api {

struct SubmittedFile {
  static constexpr Schema schema{"SubmittedFile", "An experiment file as its user wrote it."};
  std::string name{};
  std::string text{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Name of the file; \"\" if it has none.");
    fields("text", self.text, "Its text; in answers `<hidden>` stands for each secret.");
  }
};

struct GitState {
  static constexpr Schema schema{"GitState", "The Git checkout that the context was part of."};
  std::string commit{};
  std::string branch{};
  bool dirty = false;

  static void list_fields(auto& fields, auto& self) {
    fields("commit", self.commit, "Commit in hexadecimal: 40 or 64 digits.");
    fields("branch", self.branch, "Branch; \"\" if the commit was checked out without one.");
    fields("dirty", self.dirty, "Whether the context directory had uncommitted changes or new files.");
  }
};

struct Submission {
  static constexpr Schema schema{"Submission", "An experiment to create.", Schema::Kind::body};
  engine::Value::Map config{};
  std::optional<std::string> name{};
  std::optional<std::string> context_directory{};
  std::optional<std::string> context_digest{};
  std::optional<std::uint64_t> seed{};
  std::optional<SubmittedFile> file{};
  std::optional<GitState> git{};

  static void list_fields(auto& fields, auto& self) {
    fields("config", self.config, "The experiment file as JSON (docs/experiment-file.schema.json).");
    fields.maybe("name", self.name, "Name of the experiment if the file has none.");
    fields.maybe("context_directory", self.context_directory,
                 "Absolute path of the context directory, or \"\". Without `context_digest`, each worker "
                 "uses this directory itself.");
    fields.maybe("context_digest", self.context_digest, "SHA-256 of a context that was uploaded, or \"\".");
    fields.maybe("seed", self.seed, "Seed if the file has none: 0 to 2147483647; missing: random.");
    fields.maybe("file", self.file, "The experiment file as its user wrote it, at most 256 KiB.");
    fields.maybe("git", self.git, "The Git checkout that the context directory is part of.");
  }
};

struct CreatedExperiment {
  static constexpr Schema schema{"CreatedExperiment", "The experiment that was created."};
  engine::ExperimentId experiment{};
  std::string note{};

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment, "ID of the experiment.");
    fields.maybe("note", self.note, "Why the daemon does not keep the experiment file as written.");
  }
};

struct DeletedExperiment {
  static constexpr Schema schema{"DeletedExperiment", "The experiment that was deleted."};
  engine::ExperimentId experiment{};

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment, "ID of the experiment, which is not used again.");
  }
};

struct Fork {
  static constexpr Schema schema{"Fork", "A submission."};
  engine::Value::Map config{};
  std::string name{};
  std::string context_directory{};
  std::string context_digest{};

  static void list_fields(auto& fields, auto& self) {
    fields("config", self.config, "The experiment file without its secrets; they have to be filled in.");
    fields("name", self.name, "Name of the experiment.");
    fields("context_directory", self.context_directory, "Absolute path of the context directory, or \"\".");
    fields("context_digest", self.context_digest, "SHA-256 of the context, or \"\".");
  }
};

struct Validation {
  static constexpr Schema schema{"Validation", "What is wrong with an experiment."};
  bool valid = false;
  std::vector<ProblemItem> problems{};
  std::vector<ProblemItem> notes{};
  std::vector<std::string> to_confirm{};
  std::optional<engine::Value::Map> config{};

  static void list_fields(auto& fields, auto& self) {
    fields("valid", self.valid, "Whether the experiment could be submitted.");
    fields("problems", self.problems, "What is wrong with it.");
    fields("notes", self.notes, "What has no effect, or is not as it seems.");
    fields("to_confirm", self.to_confirm, "Notes that a client asks its user about before it submits.");
    fields("config", self.config, "The configuration with all defaults; null if it is not valid.");
  }
};

struct BracketPreview {
  static constexpr Schema schema{"BracketPreview", "A bracket of the search."};
  std::vector<std::uint64_t> lengths{};
  engine::Value trials{};
  std::uint64_t share = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("lengths", self.lengths, "Lengths of the rungs, shortest first.");
    fields("trials", self.trials, "Number of trials of the bracket.");
    fields("share", self.share, "Its share of `max_concurrent_trials`; 0: no fixed share.");
  }
};

struct Preview {
  static constexpr Schema schema{"Preview", "What an experiment would cost."};
  double trials = 0;
  double repeats = 0;
  std::vector<BracketPreview> brackets{};
  std::map<std::string, double> final_counts{};
  std::optional<double> total_length{};
  std::vector<std::vector<double>> expected_reach{};
  std::optional<double> expected_length{};
  std::optional<double> full_length{};
  std::vector<std::string> warnings{};

  static void list_fields(auto& fields, auto& self) {
    fields("trials", self.trials, "Number of trials, without `repeats`.");
    fields("repeats", self.repeats,
           "At most this many further trials, which train finalists again; counts and lengths include them.");
    fields("brackets", self.brackets, "The brackets of the search.");
    fields("final_counts", self.final_counts,
           "From length to the number of trials that end there, if all metrics are equal.");
    fields(
        "total_length", self.total_length,
        "Length that all trials train together, if all metrics are equal; null if it is too large to count.");
    fields("expected_reach", self.expected_reach,
           "For each bracket, the number of trials expected to train to each length if results come in "
           "random order.");
    fields("expected_length", self.expected_length,
           "Length that these train together; null if it is too large to count.");
    fields("full_length", self.full_length,
           "Length if every trial trained to the maximum; null if it is too large to count.");
    fields("warnings", self.warnings,
           "Likely mistakes, then settings that performed better in measurements, each after `advice: `.");
  }
};

struct BestResult {
  static constexpr Schema schema{"BestResult", "The best result so far."};
  engine::TrialNumber trial{};
  Metric metric{};
  engine::Units step{};
  std::optional<std::optional<Metric>> mean{};
  std::optional<std::optional<Metric>> deviation{};

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the trial.");
    fields("metric", self.metric, "Its best metric.");
    fields("step", self.step, "Step at which it was measured.");
    fields.maybe("mean", self.mean, "Mean over the repeated trainings of the finalist.");
    fields.maybe("deviation", self.deviation,
                 "Sample standard deviation of these; null with fewer than two.");
  }
};

struct CommonFailure {
  static constexpr Schema schema{"CommonFailure", "Why most failed attempts of an experiment failed."};
  std::uint64_t attempts = 0;
  engine::TrialNumber trial{};
  std::string why{};

  static void list_fields(auto& fields, auto& self) {
    fields("attempts", self.attempts, "Number of attempts that failed in this way, 2 or more.");
    fields("trial", self.trial, "Number of the trial that failed last in this way.");
    fields("why", self.why, "How its attempt ended, and the last line of its log.");
  }
};

struct ExperimentSummary {
  static constexpr Schema schema{"ExperimentSummary", "An experiment in a list."};
  engine::ExperimentId id{};
  std::string name{};
  engine::ExperimentState state{};
  bool archived = false;
  std::string reason{};
  std::optional<double> progress{};
  std::string searcher{};
  std::string metric{};
  bool smaller_is_better = false;
  std::string unit{};
  engine::Units max_length{};
  std::map<std::string, std::uint64_t> trials{};
  std::uint64_t trials_total = 0;
  std::optional<BestResult> best{};
  std::optional<CommonFailure> common_failure{};
  double created_at = 0;
  std::optional<double> ended_at{};
  std::string owner{};
  std::string workspace{};
  std::string project{};
  std::vector<std::string> labels{};
  bool starred = false;
  std::string note{};
  std::optional<std::string> waits_for{};

  static void list_fields(auto& fields, auto& self) {
    fields("id", self.id, "ID of the experiment.");
    fields("name", self.name, "Name of the experiment.");
    fields("state", self.state, "State of the experiment.");
    fields("archived", self.archived, "Whether it has ended and lists leave it out.");
    fields("reason", self.reason, "Why it stops or has ended; \"\" otherwise.");
    fields("progress", self.progress, "Share of the planned search that is done, 0 to 1; never decreases.");
    fields("searcher", self.searcher, "Name of the searcher.");
    fields("metric", self.metric, "Name of the searcher's metric.");
    fields("smaller_is_better", self.smaller_is_better, "Whether smaller metrics are better.");
    fields("unit", self.unit, "Unit of lengths.");
    fields("max_length", self.max_length, "Longest length of a trial.");
    fields("trials", self.trials, "Number of trials by state.");
    fields("trials_total", self.trials_total, "Number of trials.");
    fields("best", self.best, "The best result so far; null if there is none.");
    fields("common_failure", self.common_failure,
           "The cause that failed most attempts since the start or the last resumption; null if none failed "
           "two.");
    fields("created_at", self.created_at, "When it was submitted.");
    fields("ended_at", self.ended_at, "When it ended; null before.");
    fields("owner", self.owner, "Name of the user or token that submitted it; \"\": not recorded.");
    fields("workspace", self.workspace, "Workspace of the experiment; `default` if the file names none.");
    fields("project", self.project, "Project of the experiment; `default` if the file names none.");
    fields("labels", self.labels, "Its labels: those of the experiment file, until a user changes them.");
    fields("starred", self.starred, "Whether a user marked it with a star.");
    fields("note", self.note, "Text that users wrote about it; \"\" if there is none.");
    fields.maybe("waits_for", self.waits_for, "Why no trial runs; \"\" if one does.");
  }
};

struct ExperimentPage {
  static constexpr Schema schema{"ExperimentPage", "Experiments by number."};
  std::vector<ExperimentSummary> experiments{};
  engine::Value next{};

  static void list_fields(auto& fields, auto& self) {
    fields("experiments", self.experiments, "The experiments, in the order asked for.");
    fields("next", self.next, "The next page's `after`; null on the last page.");
  }
};

struct SourceCheckpoint {
  static constexpr Schema schema{"SourceCheckpoint", "The checkpoint that trials begin from."};
  std::string id{};
  engine::ExperimentId experiment{};
  engine::TrialNumber trial{};
  engine::Units step{};
  std::string path{};

  static void list_fields(auto& fields, auto& self) {
    fields("id", self.id, "ID of the checkpoint: EXPERIMENT/TRIAL/ATTEMPT-STEP.");
    fields("experiment", self.experiment, "ID of the experiment that published it.");
    fields("trial", self.trial, "Number of the trial that published it.");
    fields("step", self.step, "Step of the checkpoint.");
    fields("path", self.path, "Directory of the checkpoint.");
  }
};

struct ProgramChange {
  static constexpr Schema schema{"ProgramChange", "A program that replaced the one before it."};
  engine::TrialNumber from{};
  std::vector<engine::TrialNumber> also{};
  std::string context_digest{};
  std::uint64_t context_bytes = 0;
  std::vector<std::string> changed{};
  double at = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("from", self.from, "Number of the first new trial that runs it.");
    fields("also", self.also, "Numbers of earlier trials that run it too.");
    fields("context_digest", self.context_digest, "SHA-256 of its context.");
    fields("context_bytes", self.context_bytes, "Size of its context.");
    fields("changed", self.changed, "Names of changed files.");
    fields("at", self.at, "When the program was changed.");
  }
};

struct Note {
  static constexpr Schema schema{"Note", "What the daemon noticed about an attempt."};
  engine::TrialNumber trial{};
  engine::AttemptNumber attempt{};
  std::uint64_t attempts = 0;
  std::string about{};
  std::string text{};

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the first trial with this note.");
    fields("attempt", self.attempt, "Number of the first attempt with this note.");
    fields("attempts", self.attempts, "Number of attempts with this note.");
    fields("about", self.about, "Kind of the note.");
    fields("text", self.text, "The note as a sentence.");
  }
};

struct ReachedLength {
  static constexpr Schema schema{"ReachedLength", "A length that trials are asked for."};
  engine::Units length{};
  std::uint64_t reached = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("length", self.length, "Length that trials were asked for.");
    fields("reached", self.reached, "Number of trials that trained this far.");
  }
};

struct Training {
  static constexpr Schema schema{"Training", "One training of a finalist."};
  engine::TrialNumber trial{};
  std::optional<Metric> metric{};

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the trial.");
    fields("metric", self.metric, "Metric at full length; null if there is none.");
  }
};

struct Finalist {
  static constexpr Schema schema{"Finalist", "A configuration that is trained repeatedly."};
  std::optional<Metric> mean{};
  std::optional<Metric> deviation{};
  engine::Value::Map hparams{};
  std::vector<Training> trainings{};

  static void list_fields(auto& fields, auto& self) {
    fields("mean", self.mean, "Mean of the metrics at full length; null if there is none.");
    fields("deviation", self.deviation, "Sample standard deviation of these; null with fewer than two.");
    fields("hparams", self.hparams, "Hyperparameters of the finalist.");
    fields("trainings", self.trainings, "Its trainings, one per trial.");
  }
};

struct Experiment : ExperimentSummary {
  static constexpr Schema schema{"Experiment", "An experiment."};
  std::string context_directory{};
  std::string context_digest{};
  std::uint64_t context_bytes = 0;
  std::vector<ProgramChange> programs{};
  std::optional<GitState> git{};
  std::optional<SourceCheckpoint> source{};
  std::vector<Note> notes{};
  std::vector<std::string> doubts{};
  std::vector<ReachedLength> rungs{};
  std::vector<Finalist> finalists{};
  std::map<std::string, std::uint64_t> final_counts{};
  engine::Cardinality length_trained = 0;
  bool ran_unlogged = false;
  std::uint64_t length_unreported = 0;
  engine::Cardinality length_full = 0;
  double slot_seconds = 0;
  std::optional<double> first_lease_at{};
  std::optional<double> last_release_at{};

  static void list_fields(auto& fields, auto& self) {
    ExperimentSummary::list_fields(fields, self);
    fields("context_directory", self.context_directory, "Absolute path of the context directory.");
    fields("context_digest", self.context_digest,
           "SHA-256 of the packed context; \"\": workers use `context_directory` itself.");
    fields("context_bytes", self.context_bytes, "Size of the packed context.");
    fields("programs", self.programs, "Programs that replaced this context, in order.");
    fields.maybe("git", self.git, "The Git checkout that the context was part of, if a client sent it.");
    fields("source", self.source, "The checkpoint with which its trials start; null if there is none.");
    fields("notes", self.notes, "Notes about how its programs report, one of each kind.");
    fields("doubts", self.doubts, "What of the search its user may not mean, such as its direction.");
    fields("rungs", self.rungs, "Each length that was the last one asked of a trial, in ascending order.");
    fields("finalists", self.finalists,
           "With `repeats` and from the end of the search on: the finalists, best mean first.");
    fields("final_counts", self.final_counts,
           "From length to the number of closed trials that were asked for it last and reached it.");
    fields("length_trained", self.length_trained, "Length that all trials trained together.");
    fields("ran_unlogged", self.ran_unlogged,
           "Whether the store was restored while the experiment was going on; lengths and slot time lack "
           "what ran between backup and restore then.");
    fields("length_unreported", self.length_unreported,
           "Number of trials that trained and reported no step; `length_trained` lacks something of each.");
    fields("length_full", self.length_full,
           "Length if every trial had trained to `max_length`, or as far as its program goes by itself.");
    fields("slot_seconds", self.slot_seconds, "Slots times time under lease, until now.");
    fields("first_lease_at", self.first_lease_at, "When the first attempt got its slots; null before.");
    fields("last_release_at", self.last_release_at, "When slots were released last; null before.");
  }
};

struct ModelImportance {
  static constexpr Schema schema{"ModelImportance", "How much a hyperparameter matters."};
  std::string name{};
  double share = 0;
  double length_scale = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Path of the hyperparameter.");
    fields("share", self.share,
           "Its share of the mean squared distance between two random configurations, as the model sees it; "
           "all shares add up to 1.");
    fields("length_scale", self.length_scale,
           "Distance within which metrics stay alike, as a part of the range.");
  }
};

struct ModelLength {
  static constexpr Schema schema{"ModelLength", "How well a length predicts the full one."};
  engine::Units length{};
  std::uint64_t results = 0;
  Metric correlation{};

  static void list_fields(auto& fields, auto& self) {
    fields("length", self.length, "Length of the compared results.");
    fields("results", self.results, "Number of results at this length.");
    fields("correlation", self.correlation,
           "Learned correlation of metrics at this length with those at full length.");
  }
};

struct ModelBest {
  static constexpr Schema schema{"ModelBest", "The best configuration by the model."};
  engine::Value::Map hparams{};
  Metric mean{};
  Metric deviation{};
  std::optional<engine::TrialNumber> trial{};

  static void list_fields(auto& fields, auto& self) {
    fields("hparams", self.hparams, "Hyperparameters of the configuration.");
    fields("mean", self.mean, "Expected metric at full length.");
    fields("deviation", self.deviation, "Standard deviation of the expectation.");
    fields("trial", self.trial, "Number of the trial that has the configuration; null if none has.");
  }
};

struct Model {
  static constexpr Schema schema{"Model", "What the model of a search has learnt."};
  engine::ExperimentId experiment{};
  std::string metric{};
  std::string unit{};
  std::uint64_t results = 0;
  std::uint64_t needed = 0;
  std::vector<ModelImportance> hyperparameters{};
  std::vector<ModelLength> lengths{};
  std::optional<ModelBest> best{};

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment, "ID of the experiment.");
    fields("metric", self.metric, "Name of the searcher's metric.");
    fields("unit", self.unit, "Unit of lengths.");
    fields("results", self.results, "Number of results so far.");
    fields("needed", self.needed,
           "Number of results from which on there is a model; below it both lists are empty.");
    fields("hyperparameters", self.hyperparameters,
           "How much each hyperparameter matters, largest share first.");
    fields("lengths", self.lengths, "The lengths that have results, and the full length.");
    fields("best", self.best,
           "The configuration with the best expected metric at full length; null without a model.");
  }
};

struct Checkpoint {
  static constexpr Schema schema{"Checkpoint", "A checkpoint of a trial."};
  std::string id{};
  engine::TrialNumber trial{};
  engine::Units step{};
  std::optional<Metric> metric{};
  std::string path{};
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  bool latest = false;
  bool best = false;

  static void list_fields(auto& fields, auto& self) {
    fields("id", self.id, "ID of the checkpoint: EXPERIMENT/TRIAL/ATTEMPT-STEP.");
    fields("trial", self.trial, "Number of the trial.");
    fields("step", self.step, "Step of the checkpoint.");
    fields("metric", self.metric, "Metric at exactly this step; null if there is none.");
    fields("path", self.path, "Directory of the checkpoint.");
    fields("files", self.files, "Number of its files.");
    fields("bytes", self.bytes, "Size of all its files.");
    fields("latest", self.latest, "Whether it is the trial's latest one.");
    fields("best", self.best, "Whether it is the trial's best one.");
  }
};

struct CheckpointPage {
  static constexpr Schema schema{"CheckpointPage", "Checkpoints of an experiment."};
  std::vector<Checkpoint> checkpoints{};
  engine::Value next{};
  std::uint64_t total = 0;
  std::uint64_t being_deleted = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("checkpoints", self.checkpoints, "The checkpoints, by trial.");
    fields("next", self.next, "The next page's `after`; null on the last page.");
    fields("total", self.total, "Number of trials of the experiment.");
    fields("being_deleted", self.being_deleted, "Number of checkpoints whose files are being deleted.");
  }
};

struct LimitChanges {
  static constexpr Schema schema{"LimitChanges", "The fields of the experiment file that change.",
                                 Schema::Kind::body};
  std::optional<engine::Value::Map> budget{};
  std::optional<engine::Value::Map> resources{};
  std::optional<engine::Value::Map> searcher{};

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("budget", self.budget, "The changed fields of `budget`.");
    fields.maybe("resources", self.resources, "The changed fields of `resources`.");
    fields.maybe("searcher", self.searcher, "The changed fields of `searcher`.");
  }
};

struct Annotation {
  static constexpr Schema schema{"Annotation", "What users wrote about an experiment or a trial."};
  std::string note{};
  std::vector<std::string> labels{};
  bool starred = false;

  static void list_fields(auto& fields, auto& self) {
    fields("note", self.note, "Text that users wrote about it; \"\" if there is none.");
    fields("labels", self.labels, "Its labels, ascending.");
    fields("starred", self.starred, "Whether it has a star.");
  }
};

struct AnnotationChange {
  static constexpr Schema schema{"AnnotationChange", "The parts of an annotation that change.",
                                 Schema::Kind::body};
  std::optional<std::string> note{};
  std::optional<std::vector<std::string>> labels{};
  std::optional<bool> starred{};

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("note", self.note, "Any text of at most 10,000 bytes.");
    fields.maybe("labels", self.labels, "All labels, at most 50 of at most 100 bytes.");
    fields.maybe("starred", self.starred, "Whether it has a star.");
  }
};

struct ProgramRequest {
  static constexpr Schema schema{"ProgramRequest", "The program of trials that have reported nothing yet.",
                                 Schema::Kind::body};
  std::optional<std::string> context_digest{};
  std::optional<std::vector<std::string>> changed{};

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("context_digest", self.context_digest,
                 "SHA-256 of a context on the daemon; missing if the experiment uses a directory.");
    fields.maybe("changed", self.changed, "At most 100 names of changed files.");
  }
};

[[nodiscard]] ExperimentSummary summary_of(const engine::ExperimentRecord& experiment,
                                           sentences::Language language = sentences::Language::english);
/// O(n log n) in its trials.
[[nodiscard]] Experiment detail_of(const engine::ExperimentRecord& experiment, engine::Instant now,
                                   sentences::Language language = sentences::Language::english);
/// The checkpoint from which its trials start.
[[nodiscard]] std::optional<SourceCheckpoint> source_of(const engine::ExperimentRecord& experiment);
[[nodiscard]] ProgramChange program_change(const engine::ProgramChange& program);
/// The trial must exist.
[[nodiscard]] std::size_t count_of_checkpoints(const engine::ExperimentRecord& experiment,
                                               engine::TrialNumber trial);
/// The checkpoint at `place` in order of publication, from 0. It must exist.
[[nodiscard]] Checkpoint checkpoint_of(const engine::ExperimentRecord& experiment, engine::TrialNumber trial,
                                       std::size_t place);
/// Costs as much as the configuration of a new trial. Nothing if its searcher has no model.
[[nodiscard]] std::optional<Model> model_of(const engine::ExperimentRecord& experiment);

}  // namespace hpsearch::api
