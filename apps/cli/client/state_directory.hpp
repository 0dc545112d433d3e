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

/// What `hpsearch run` keeps on disk, and where:
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

  /// True when a daemon has been here: there is something to read.
  [[nodiscard]] bool has_store() const;

 private:
  std::filesystem::path path_;
};

/// Makes a directory and what is missing above it; only its owner may enter it (mode 0700). A directory that
/// exists keeps its mode.
[[nodiscard]] Outcome<engine::Done> make_private_directory(const std::filesystem::path& path);

/// An exclusive lock on a file, held for life and gone with the process, even a killed one.
class FileLock {
 public:
  /// Makes the file if needed and writes our process id into it. conflict: somebody holds it, and `what` (for
  /// example "the state directory x") is named with the holder's process id.
  [[nodiscard]] static Outcome<FileLock> take(const std::filesystem::path& file, const std::string& what);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

/// Who holds the lock on that file: a process id (0 = unknown), or nothing when nobody does.
[[nodiscard]] std::optional<pid_t> lock_holder(const std::filesystem::path& file);

/// What a state directory is used for; lives in run.json.
struct RunRecord {
  std::string file;                   ///< Absolute, or "-".
  std::string state_directory;        ///< Where this is, or was when the file was called so. Absolute.
  std::string context_directory;      ///< Absolute.
  engine::Value program;              ///< Path → SHA-256 of the program's files; null = not known.
  double program_at = 0;              ///< When they were so, in seconds since the epoch.
  engine::Value config;               ///< The file's tree as it was when the search began, without overrides.
  std::optional<std::uint64_t> seed;  ///< Overrides of that time.
  std::optional<std::string> name;
  std::string idempotency_key;  ///< Saved before the submission is sent, so that sending again is harmless.
  std::optional<std::uint64_t> experiment;  ///< Known once the submission was answered.
  double wall_seconds = 0;    ///< Of all runs here so far, starts and ends of the helpers included.
  double engine_seconds = 0;  ///< Of these, spent in the engine.
  std::uint64_t slots = 0;    ///< Most that the worker had.
  bool allow_network_filesystem = false;

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
}

/// The record, nothing when there is none yet, or why it cannot be read.
[[nodiscard]] Outcome<std::optional<RunRecord>> load_run_record(const StateDirectory& state);

/// Replaces the record in one go: after a crash there is the old one or the new one. storage failure
/// otherwise.
[[nodiscard]] Outcome<engine::Done> save_run_record(const StateDirectory& state, const RunRecord& record);

/// Addresses of the daemon that wrote DIR/daemon.json.
struct DaemonAddresses {
  pid_t pid = 0;
  std::string socket;   ///< "unix:///path/api.sock"
  std::string workers;  ///< "ipc:///path/workers.sock"
};
[[nodiscard]] std::optional<DaemonAddresses> read_daemon_file(const std::filesystem::path& daemon_directory);

/// Moves STATE to STATE.old-<time>; returns the new place.
[[nodiscard]] Outcome<std::filesystem::path> move_aside(const StateDirectory& state);

/// Why the filesystem refused, as a Failure with the right exit status: a full or broken disk is 74.
[[nodiscard]] Failure storage_failure(const std::string& doing, int error);

}  // namespace hpsearch::cli
