#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::cli {

/// The files of `hpsearch run`:
///
///     STATE/run.lock      held while a run uses the directory; contains its process id
///     STATE/run.json      what is run here (RunRecord)
///     STATE/daemon/       the private hpsearchd's own directory; daemon.json in it tells its addresses
///     STATE/worker/       the private hpsearch-worker's own directory
///     STATE/daemon.log, STATE/worker.log
class StateDirectory {
 public:
  explicit StateDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path daemon() const { return path_ / "daemon"; }
  [[nodiscard]] std::filesystem::path worker() const { return path_ / "worker"; }
  [[nodiscard]] std::filesystem::path daemon_log() const { return path_ / "daemon.log"; }
  [[nodiscard]] std::filesystem::path worker_log() const { return path_ / "worker.log"; }
  [[nodiscard]] std::filesystem::path run_file() const { return path_ / "run.json"; }
  [[nodiscard]] std::filesystem::path lock_file() const { return path_ / "run.lock"; }

  /// True if a daemon has used it: there is something to read.
  [[nodiscard]] bool has_store() const;

 private:
  std::filesystem::path path_;
};

/// Makes a directory and its missing parents; only its owner may enter it (mode 0700). An existing directory
/// keeps its mode.
[[nodiscard]] Outcome<engine::Done> make_private_directory(const std::filesystem::path& path);

/// An exclusive lock on a file, held until destruction or the end of the process, even a killed one.
class FileLock {
 public:
  /// Makes the file if necessary and writes our process id into it. conflict: another process holds it; the
  /// message names `what` (for example "the state directory x") and that process.
  [[nodiscard]] static Outcome<FileLock> take(const std::filesystem::path& file, const std::string& what);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

/// The process that holds the lock on that file: its id (0 = unknown), or null if the lock is free.
[[nodiscard]] std::optional<pid_t> lock_holder(const std::filesystem::path& file);

/// How a state directory is used; stored in run.json.
struct RunRecord {
  std::string file;                   ///< Absolute, or "-".
  std::string state_directory;        ///< Absolute path of this directory, when `file` had that path.
  std::string context_directory;      ///< Absolute.
  engine::Value program;              ///< Path → SHA-256 of the program's files; null = unknown.
  double program_at = 0;              ///< Time at which `program` was read, in seconds since the epoch.
  engine::Value config;               ///< The file's tree when the search began, without overrides.
  std::optional<std::uint64_t> seed;  ///< Overrides when the search began.
  std::optional<std::string> name;
  std::string idempotency_key;  ///< Stored before the submission is sent, so that sending it again is
                                ///< harmless.
  std::optional<std::uint64_t> experiment;  ///< Set once the submission was answered.
  double wall_seconds = 0;  ///< Time of all runs here so far, including starts and ends of daemon and worker.
  double engine_seconds = 0;  ///< The part of wall_seconds spent in the engine.
  std::uint64_t slots = 0;    ///< The most slots that the worker had.
  bool allow_network_filesystem = false;
  std::string workers;  ///< Where jobs of Slurm reached the daemon last; those of a killed run know no other.

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

void spell(auto& fields, proto::Is<RunRecord> auto& record) {
  fields("file", record.file);
  fields.maybe("state_directory", record.state_directory);
  fields("context_directory", record.context_directory);
  fields("program", record.program);
  fields("program_at", record.program_at);
  fields("config", record.config);
  fields.maybe("seed", record.seed);
  fields.maybe("name", record.name);
  fields("idempotency_key", record.idempotency_key);
  fields.maybe("experiment", record.experiment);
  fields("wall_seconds", record.wall_seconds);
  fields("engine_seconds", record.engine_seconds);
  fields("slots", record.slots);
  fields.maybe("allow_network_filesystem", record.allow_network_filesystem);
  fields.maybe("workers", record.workers);
}

/// The record, null if there is none yet, or why it cannot be read.
[[nodiscard]] Outcome<std::optional<RunRecord>> load_run_record(const StateDirectory& state);

/// Replaces the record atomically: after a crash the old or the new one is there. Otherwise a storage
/// failure.
[[nodiscard]] Outcome<engine::Done> save_run_record(const StateDirectory& state, const RunRecord& record);

/// Addresses of the daemon, from DIR/daemon.json.
struct DaemonAddresses {
  pid_t pid = 0;
  std::string socket;   ///< "unix:///path/api.sock"
  std::string workers;  ///< "ipc:///path/workers.sock"
};
[[nodiscard]] std::optional<DaemonAddresses> read_daemon_file(const std::filesystem::path& daemon_directory);

/// Moves STATE to STATE.old-<time>; returns the new path.
[[nodiscard]] Outcome<std::filesystem::path> move_aside(const StateDirectory& state);

/// The error of the file system, as a Failure with the right exit code: 74 for a full or broken disk.
[[nodiscard]] Failure storage_failure(const std::string& doing, int error);

}  // namespace hpsearch::cli
