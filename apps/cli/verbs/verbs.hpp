#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/render/output.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/io/archive/context_files.hpp"

namespace hpsearch::cli {

// One function per command, each in a file of its own name. They return the exit code.

/// Selects the daemon of a command.
struct ServerOptions {
  std::optional<std::string> server;      ///< unix:///PATH or HOST:PORT, from --server or HPSEARCH_SERVER.
  std::optional<std::string> token_file;  ///< A file with the token that the server requires.
  std::optional<std::string> state_dir;   ///< State directory of a run, for its private daemon.
};

/// Queues of allocations.
struct AllocOptions {
  std::string queue;  ///< For log: QUEUE/NUMBER.
  std::string file;   ///< For apply.
  std::string backend = "slurm";
  std::map<std::string, std::string> settings;  ///< By option, without its dashes.
  std::vector<std::string> labels;              ///< KEY=VALUE
  std::vector<std::string> arguments;           ///< For the other scheduler's command.
  std::vector<std::string> assignments;         ///< For set: SETTING=VALUE.
  bool no_check = false;
  bool at_once = false;  ///< For remove.
  ServerOptions server;
};

struct RunOptions {
  std::string file;
  std::optional<std::string> context_directory;
  std::optional<std::string> state_dir;
  std::optional<std::string> slots;       ///< As hpsearch-worker reads them.
  std::optional<std::uint64_t> gpu_free;  ///< Percent: see hpsearch-worker --gpu-free.
  bool on_slurm = false;  ///< Jobs of Slurm run the trials, by a queue with the settings in `queue`.
  AllocOptions queue;
  std::optional<std::string> address;  ///< A name or address of this machine that the nodes reach.
  std::optional<std::uint64_t> seed;
  std::optional<std::string> name;
  std::uint64_t context_limit = context::default_limit_megabytes;
  bool allow_network_filesystem = false;
  bool take_over = false;  ///< Take the directory over from a daemon of another host that cannot be stopped.
  bool fresh = false;
  bool with_new_program = false;
  bool yes = false;                  ///< Don't ask before a useless search starts.
  std::vector<std::string> command;  ///< The typed words, to show the command that continues the search.
};
[[nodiscard]] int run(const RunOptions& options, const Output& output);

struct FileOptions {
  std::string file;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> name;
};
/// With a daemon named, it also checks whether its workers have enough slots.
[[nodiscard]] int validate(const FileOptions& options, const ServerOptions& server, const Output& output);
[[nodiscard]] int preview(const FileOptions& options, const ServerOptions& server, const Output& output);

struct ImportOptions {
  std::string file;
  std::optional<std::string> to;            ///< The file to write; standard output if not set.
  std::optional<std::string> pod_template;  ///< The file to write the pod of a Kubernetes job to.
};
/// Translates the file of another product into an experiment file.
[[nodiscard]] int import_file(const ImportOptions& options, const Output& output);

struct SimulateOptions {
  FileOptions file;
  std::optional<std::string> curves;  ///< A table's path, experiment:ID, surrogate:INSTANCE, synthetic:KIND.
  std::optional<std::string> expression;      ///< Instead of curves.
  std::optional<std::string> data_directory;  ///< Directory of the surrogate's data; otherwise
                                              ///< HPSEARCH_LCBENCH_DIR.
  bool cycle = false;  ///< Trials without a curve of their own use the recorded ones in turn.
  std::optional<std::uint64_t> workers;  ///< Default: the file's max_concurrent_trials.
  std::optional<std::string> duration;   ///< unit, op or curve.
  std::optional<std::uint64_t> report_every;
  std::optional<double> until_seconds;
  std::vector<std::string> exits;  ///< TRIAL:OP:REASON
  double failure_rate = 0;
  std::string failure_seed = "0";
  ServerOptions server;  ///< For experiment:ID.
};
[[nodiscard]] int simulate(const SimulateOptions& options, const Output& output);

struct SubmitOptions {
  FileOptions file;
  std::optional<std::string> context_directory;
  ServerOptions server;
  std::uint64_t context_limit = context::default_limit_megabytes;
};
[[nodiscard]] int submit(const SubmitOptions& options, const Output& output);

struct ListOptions {
  bool archived = false;  ///< Only archived ones …
  bool all = false;      ///< … or these too. For a daemon; archived searches of a directory are moved away.
  bool starred = false;  ///< Only a daemon's with a star …
  std::optional<std::string> label;  ///< … or with this label.
  ServerOptions server;
};
[[nodiscard]] int list(const ListOptions& options, const Output& output);

/// For commands about one experiment. It may be left out while exactly one exists.
struct ExperimentOptions {
  std::optional<std::string> experiment;  ///< As which.hpp reads it.
  ServerOptions server;
};
struct ShowOptions {
  ExperimentOptions experiment;
  std::optional<std::uint64_t> trial;  ///< Only this trial, with its attempts.
};
[[nodiscard]] int show(const ShowOptions& options, const Output& output);
struct TrialsOptions {
  ExperimentOptions experiment;
  std::optional<std::uint64_t> after;  ///< Only those with higher numbers.
  std::optional<std::uint64_t> limit;  ///< Shows at most this many, in the order of `sort`.
  std::optional<std::string> sort;     ///< Sort by this column; -NAME: the largest first. "metric": the best
                                       ///< first.
  std::optional<std::string> where;  ///< Shows only trials that satisfy this condition (docs/conditions.md).
  std::optional<std::string> columns;  ///< Only these columns, in this order, separated by commas.
};
[[nodiscard]] int trials(const TrialsOptions& options, const Output& output);
struct BestOptions {
  ExperimentOptions experiment;
  bool path = false;  ///< Print the path of its model, instead of the trial itself.
  std::optional<std::string> copy_to;
};
[[nodiscard]] int best(const BestOptions& options, const Output& output);
/// For --path or --copy-to.
[[nodiscard]] int best_path(const BestOptions& options, const Output& output);
/// The importance of the hyperparameters, by PED-ANOVA of the results of one rung.
[[nodiscard]] int importance(const ExperimentOptions& options, const Output& output);
/// Shows the model of a search.
[[nodiscard]] int model(const ExperimentOptions& options, const Output& output);
struct ConfigOptions {
  ExperimentOptions experiment;
  bool as_written = false;  ///< The file as its user wrote it, instead of the effective configuration.
};
[[nodiscard]] int config(const ConfigOptions& given, const Output& output);

struct CompareOptions {
  std::vector<std::string> which;  ///< Two experiments or more.
  ServerOptions server;
};
[[nodiscard]] int compare(const CompareOptions& options, const Output& output);

struct CurvesOptions {
  ExperimentOptions experiment;
  std::optional<std::uint64_t> trial;  ///< Only this one.
  std::uint64_t top = 5;               ///< Without `trial`: shows this many of the best.
  std::optional<std::string> metric;   ///< Another metric than the searcher's.
  std::string format = "plot";         ///< "plot", "table" or "csv".
};
[[nodiscard]] int curves(const CurvesOptions& options, const Output& output);

struct ExportOptions {
  ExperimentOptions experiment;
  std::string what = "trials";  ///< Or "metrics".
  std::string format = "csv";   ///< Or "jsonl".
};
[[nodiscard]] int export_data(const ExportOptions& options, const Output& output);

struct RemoveOptions {
  std::string search;  ///< A search of the current directory.
  bool yes = false;    ///< Otherwise it only prints what would be removed.
};
[[nodiscard]] int remove_search(const RemoveOptions& options, const Output& output);
[[nodiscard]] int archive_search(const RemoveOptions& options, const Output& output);

/// For experiments that have ended: searches of the current directory, or a daemon's.
struct EndedOptions {
  std::vector<std::string> names;
  bool yes = false;  ///< Don't ask; searches of the directory are moved and deleted only with it.
  ServerOptions server;
};
[[nodiscard]] int archive(const EndedOptions& options, const Output& output);
[[nodiscard]] int unarchive(const EndedOptions& options, const Output& output);
[[nodiscard]] int delete_ended(const EndedOptions& options, const Output& output);

struct OpenOptions {
  ExperimentOptions experiment;  ///< Without a number: the page with all experiments.
  bool no_browser = false;       ///< Only print the address.
  bool makes_tokens = false;     ///< The browser may create tokens.
};
/// Opens the dashboard in a browser.
[[nodiscard]] int open(const OpenOptions& options, const Output& output);

struct ControlOptions {
  ExperimentOptions experiment;
  std::optional<std::uint64_t> trial;  ///< Only for "cancel" and "retry".
  bool yes = false;                    ///< Don't ask before an experiment is ended.
};
/// "pause", "resume", "cancel", "kill" or "retry".
[[nodiscard]] int control(const std::string& what, const ControlOptions& options, const Output& output);

struct SetOptions {
  std::optional<std::string> experiment;
  std::vector<std::string> assignments;  ///< LIMIT=VALUE
  ServerOptions server;
};
[[nodiscard]] int set_limits(const SetOptions& options, const Output& output);

struct AnnotateOptions {
  ExperimentOptions experiment;
  std::optional<std::uint64_t> trial;
  std::optional<std::string> note;
  std::vector<std::string> labels;          ///< To add …
  std::vector<std::string> removed_labels;  ///< … and to remove.
  bool star = false;
  bool no_star = false;
};
[[nodiscard]] int annotate(const AnnotateOptions& options, const Output& output);

struct ExplainOptions {
  std::vector<std::string> which;  ///< [EXPERIMENT] TRIAL
  ServerOptions server;
};
[[nodiscard]] int explain(const ExplainOptions& options, const Output& output);

struct WaitOptions {
  ExperimentOptions experiment;
  std::optional<double> timeout_seconds;
};
[[nodiscard]] int wait(const WaitOptions& options, const Output& output);

/// Shows a running search on the whole terminal; prints lines if there is none.
[[nodiscard]] int watch(const ExperimentOptions& options, const Output& output);

struct LogsOptions {
  std::vector<std::string> which;  ///< [EXPERIMENT] TRIAL
  bool follow = false;
  bool standard_error = false;
  std::optional<std::uint64_t> attempt;
  std::uint64_t rank = 0;             ///< For an attempt of several processes.
  std::optional<std::uint64_t> tail;  ///< Only the last lines.
  std::optional<std::string> grep;    ///< Only lines that match this regular expression (RE2).
  bool raw = false;                   ///< Unchanged, with overwritten lines and escape sequences.
  ServerOptions server;
};
[[nodiscard]] int logs(const LogsOptions& options, const Output& output);

struct CheckpointOptions {
  std::vector<std::string> which;  ///< [EXPERIMENT [TRIAL]], [EXPERIMENT] TRIAL, or the id of one checkpoint.
  ServerOptions server;
  std::optional<std::uint64_t> step;
  bool latest = false;  ///< For download: the latest instead of the best.
  bool all = false;     ///< For delete: every checkpoint of the trial.
  std::string to;       ///< For download: the directory to make.
};
[[nodiscard]] int list_checkpoints(const CheckpointOptions& options, const Output& output);
[[nodiscard]] int download_checkpoint(const CheckpointOptions& options, const Output& output);
[[nodiscard]] int delete_checkpoints(const CheckpointOptions& options, const Output& output);

struct FilesOptions {
  enum class Take : std::uint8_t { directory, path, archive };
  /// [EXPERIMENT [TRIAL]]; for get, tar and path [EXPERIMENT] TRIAL, for get and tar also where to.
  std::vector<std::string> which;
  Take take = Take::path;
  ServerOptions server;
};
[[nodiscard]] int list_files(const FilesOptions& options, const Output& output);
/// get, tar and path.
[[nodiscard]] int take_files(const FilesOptions& options, const Output& output);

/// Sends a test to those in the file of hpsearchd --notify.
struct NotifyOptions {
  std::string file;
  std::string receiver;  ///< "" = all.
};
[[nodiscard]] int notify(const NotifyOptions& options, const Output& output);

/// For the commands about a daemon's store. STORE is a daemon's state directory, that of a run, or a backup;
/// for restore also the address of a backup in an object store.
struct StoreOptions {
  std::string store;
  std::string endpoint_url;  ///< Where that object store is reached; "" = at its provider.
  std::string to;            ///< The place of the new store or backup; not for verify and export.

  std::optional<std::uint64_t> upto{};  ///< For restore: the last event; nothing: all events.

  // For backup and restore: what seals the keys, or that they are left out.
  std::string key_file;
  bool passphrase = false;  ///< Ask for a passphrase.
  bool without_keys = false;
};
[[nodiscard]] int store_verify(const StoreOptions& options, const Output& output);
[[nodiscard]] int store_export(const StoreOptions& options, const Output& output);
[[nodiscard]] int store_backup(const StoreOptions& options, const Output& output);
[[nodiscard]] int store_restore(const StoreOptions& options, const Output& output);
[[nodiscard]] int store_salvage(const StoreOptions& options, const Output& output);
[[nodiscard]] int store_copy(const StoreOptions& options, const Output& output);

/// The workers that may connect to a daemon over TCP.
struct KeyOptions {
  std::string state_dir;  ///< The daemon's state directory.
  std::string name;       ///< Name of a worker; for deny its name or a key.
  std::string key;        ///< For allow.
};
[[nodiscard]] int keys_list(const KeyOptions& options, const Output& output);
[[nodiscard]] int keys_allow(const KeyOptions& options, const Output& output);
[[nodiscard]] int keys_deny(const KeyOptions& options, const Output& output);

/// Daemons by name: the contexts of `hpsearch context`.
struct ContextOptions {
  std::string name;
  std::string address;                     ///< For add: unix:///PATH, HOST:PORT or https://HOST:PORT.
  std::optional<std::string> fingerprint;  ///< For add: fingerprint of the only certificate that is accepted.
  std::optional<std::string> token_file;   ///< For add; its content is stored.
};
[[nodiscard]] int context_add(const ContextOptions& options, const Output& output);
[[nodiscard]] int context_use(const ContextOptions& options, const Output& output);
[[nodiscard]] int context_remove(const ContextOptions& options, const Output& output);
[[nodiscard]] int context_list(const Output& output);

/// Credentials of users over TCP.
struct TokenOptions {
  std::string id;  ///< For rotate and revoke.
  std::string name;
  std::string role;
  std::string expires = "90d";
  std::vector<std::string> workspaces;  ///< The workspaces in which it has its role; none = all.
  std::optional<std::string> unix_user;
  ServerOptions server;
};
[[nodiscard]] int token_create(const TokenOptions& options, const Output& output);
[[nodiscard]] int token_rotate(const TokenOptions& options, const Output& output);
[[nodiscard]] int token_revoke(const TokenOptions& options, const Output& output);
[[nodiscard]] int token_list(const ServerOptions& options, const Output& output);

/// Workspaces and their quotas.
struct WorkspaceOptions {
  std::string name;
  /// In the order of engine::quota_limits: a number, or "none"; null = unchanged.
  std::array<std::optional<std::string>, engine::quota_limits.size()> limits;
  ServerOptions server;
};
[[nodiscard]] int workspace_list(const WorkspaceOptions& options, const Output& output);
[[nodiscard]] int workspace_create(const WorkspaceOptions& options, const Output& output);
[[nodiscard]] int workspace_quota(const WorkspaceOptions& options, const Output& output);

/// The commands of `hpsearch alloc`: "add", "apply", "list", "show", "log", "script", "check", "pause",
/// "resume", "set", "remove" or "explain".
[[nodiscard]] int alloc(const std::string& what, const AllocOptions& options, const Output& output);

struct UsageOptions {
  std::string by = "user";  ///< Or workspace, experiment.
  std::string since;        ///< "30d", "12h", "2026-11-01"; "" = the beginning.
  ServerOptions server;
};
/// How long slots were used, and by which user, workspace or experiment.
[[nodiscard]] int usage(const UsageOptions& options, const Output& output);

/// The audit log: changes and their authors.
struct AuditOptions {
  std::string state_dir;    ///< For verify: a daemon's state directory, or that of a run.
  std::string holds;        ///< For verify: the hash of an earlier line; "" = none is known.
  std::uint64_t after = 0;  ///< For list: only later lines.
  bool refusals = false;    ///< For list: refused requests instead of changes.
  ServerOptions server;     ///< For list.
};
[[nodiscard]] int audit_list(const AuditOptions& options, const Output& output);
[[nodiscard]] int audit_verify(const AuditOptions& options, const Output& output);

/// Checks a component file and shows what it declares.
[[nodiscard]] int component_check(const std::string& file, const Output& output);

/// Lists the workers and their problems.
[[nodiscard]] int workers(const ServerOptions& server, bool devices, const Output& output);

struct WorkerOptions {
  std::string worker;   ///< Its number or name.
  std::string why;      ///< For quarantine.
  std::string attempt;  ///< For adopt and disown: EXPERIMENT/TRIAL/ATTEMPT or all.
  ServerOptions server;
};
/// "quarantine", "drain", "release", "forget", "adopt" or "disown".
[[nodiscard]] int change_worker(const std::string& what, const WorkerOptions& options, const Output& output);

[[nodiscard]] int version(const Output& output);

struct DoctorOptions {
  ServerOptions server;
  bool worker = false;                ///< Look at this machine as one that runs a worker.
  bool all = false;                   ///< Print checks without a problem, too.
  bool list = false;                  ///< Only list the checks.
  std::optional<std::string> bundle;  ///< File for a bug report.
  std::vector<std::string> logs;      ///< Log files for it.
};
/// Returns 0, 1 if there are warnings, 2 if there are errors.
int doctor(const DoctorOptions& options, const Output& output);

}  // namespace hpsearch::cli
