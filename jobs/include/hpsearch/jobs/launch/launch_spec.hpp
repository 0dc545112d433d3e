#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/engine.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// Everything a worker needs to run one attempt.
struct LaunchSpec {
  engine::AttemptKey key;
  engine::TrialId trial_id;
  std::string experiment_name;
  std::string unix_user;  ///< The submitter's, for workers that start programs as the submitter; "" = none.
  std::vector<engine::SlotIndex> slots;
  Entrypoint entrypoint;
  Value hparams;
  engine::Units length{};      ///< Train until this absolute length …
  engine::Units max_length{};  ///< … which is never beyond this one.
  std::string unit;
  std::uint32_t trial_seed = 0;
  std::string metric;             ///< The searcher's metric: a report of it completes a length.
  std::string context_directory;  ///< "" = none.
  std::string
      context_digest;  ///< SHA-256 of the packed context, which the daemon stores; "" = it isn't packed.
  std::string default_storage;  ///< With a unix_user: the daemon's default directory for checkpoints, which
                                ///< only root and the daemon's user may enter. checkpoint_root may be there.
  std::string checkpoint_root;  ///< Published checkpoints are stored below it; "" = the worker's default.
  std::map<std::string, std::string>
      storage_environment;              ///< Variables for rclone, if the storage is remote (remote_storage).
  std::string latest_checkpoint;        ///< "" on a fresh start.
  engine::Units latest_step{};          ///< The length that the checkpoint was saved at.
  bool checkpoint_may_be_gone = false;  ///< It is the trial's own, which can resume from the previous one.
  bool warm_start = false;  ///< It is another trial's checkpoint: the weights are used, the length isn't.
  std::map<std::string, std::string> source_environment;  ///< The storage_environment of that other trial.
  std::map<std::string, std::string> environment_variables;
  bool install_requirements =
      false;  ///< The context's requirements.txt is installed before the program starts.
  std::vector<std::string> mirrors;  ///< Environment::mirrors.
  std::vector<std::string> preload;  ///< Environment::preload.
  std::string checkpoint_signal;     ///< Environment::checkpoint_signal.
  Value harness_config;  ///< The whole experiment without its secrets, for the Determined harness; null =
                         ///< the program needs none.
  std::map<std::string, std::string> metric_patterns;
  Value data;
  engine::Duration progress_timeout{};  ///< The program is ended after this time without progress; 0 = never.
  engine::Duration finish_within{};     ///< Environment::finish_within.
  bool despite_leaked_processes =
      false;  ///< Leaked processes and failures of these slots are known, and no reason to wait.
  bool hand_over_log = false;  ///< The daemon keeps the output: the worker sends it when the attempt ends.
  std::uint64_t keep_files_mb = 0;  ///< KeepFiles::max_mb.
  bool larger_is_better = false;    ///< For the metric.
  JobContract contract;
  LaunchConfig launch;
  engine::Rendezvous rendezvous;
};

/// The part that all attempts of an experiment share. `effective`: its configuration as a tree.
[[nodiscard]] LaunchSpec launch_of(const engine::ExperimentConfig& config, const Program& program,
                                   const Value& effective);

/// The programs of experiments. Each is read once. Threads: one at a time.
class Programs {
 public:
  /// Returns a configuration with its secrets, which are stored elsewhere. bad_request:
  /// they can't be read.
  using OpenSecrets = std::function<Result<Value>(const Value& effective)>;

  Programs() = default;
  explicit Programs(OpenSecrets open_secrets) : open_secrets_(std::move(open_secrets)) {}

  /// bad_request: the experiment's effective tree describes no program, or its secrets can't be read. The
  /// reference stays valid.
  Result<const Program*> of(const engine::ExperimentRecord& record);

  /// Combines the engine's decision about an attempt with its program. not_found: the engine has no such
  /// experiment; other errors as of().
  Result<LaunchSpec> launch_spec(const engine::Engine& engine, const engine::AttemptSpec& spec);

 private:
  [[nodiscard]] Result<Value> opened(const engine::ExperimentRecord& record) const;

  OpenSecrets open_secrets_;
  std::map<engine::ExperimentId, Program> programs_;
};

}  // namespace hpsearch::jobs
