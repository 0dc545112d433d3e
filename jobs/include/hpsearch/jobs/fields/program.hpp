#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/jobs/contract/job_contract.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/launch/launch.hpp"

namespace hpsearch::jobs {

/// How the training program is started: an argv run without a shell, or a line for `sh -c`.
struct Entrypoint {
  std::variant<std::vector<std::string>, std::string> command;
};

/// Where checkpoints go: `checkpoint_storage` without the counts of those that are kept.
struct CheckpointStorage {
  std::string type = "shared_fs";  ///< "shared_fs", "s3", "gcs" or "azure".
  std::string host_path;           ///< shared_fs: "" = under the daemon's state directory.
  std::string storage_path;        ///< shared_fs: below host_path, or "".
  Value::Map fields;               ///< Further fields of the type, as written. Secrets too.
};

/// Where the output of a program can be read when its worker is gone.
enum class LogStorage : std::uint8_t {
  daemon,  ///< The daemon keeps its beginning and its end.
  worker,  ///< Nowhere.
};

/// What is trained, and how it wants to be started: everything of an experiment that its search does not
/// decide by.
struct Program {
  Entrypoint entrypoint;
  Value::Map data;  ///< Free-form; reaches the program.
  std::map<std::string, std::string> environment_variables;
  std::map<std::string, std::string> metrics;  ///< Metric name → regular expression over the output.
  std::vector<std::string> mirrors;            ///< Trackers that the Python package reports to, each once.
  std::vector<std::string> preload;            ///< Modules that workers import ahead of trials, each once.
  std::string checkpoint_signal;               ///< "SIGUSR1", "SIGUSR2", or "" = none.
  /// At its length a program may take this long to finish what it does: to evaluate or to save, say.
  engine::Duration finish_within = engine::Duration::seconds(3600);
  CheckpointStorage checkpoint_storage;
  LogStorage log_storage = LogStorage::daemon;
  /// Of the files that programs leave in their working directories, in all trials, on one worker; in 10^6
  /// bytes, 0 = nothing is kept.
  std::uint64_t keep_files_mb = 500;
  JobContract contract;                 ///< What it asks of the way it is started.
  LaunchConfig launch;                  ///< How its processes find each other.
  bool single_node = false;             ///< Never on several workers, whatever `launch` says.
  std::uint64_t scheduling_unit = 100;  ///< In batches; the Determined harness trains so many at once.
  bool saves_no_checkpoints = false;    ///< As far as `checkpoint_policy` says.
  bool needs_harness = false;           ///< It is written for the Determined harness.
  Value::Map other_sections;            ///< Without effect here, or read by the harness alone; verbatim.
};

/// Reads the program of an experiment's effective tree (engine::to_value). `space` is that experiment's.
[[nodiscard]] Result<Program> read_program(const Value& effective, const Space& space);

/// The fields of the effective tree: ExperimentConfig::program. Reading them gives the same program.
[[nodiscard]] Value::Map to_value(const Program& program);

}  // namespace hpsearch::jobs
