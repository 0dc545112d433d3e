#include "hpsearch/jobs/launch/launch_spec.hpp"

#include <optional>
#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/jobs/fields/requirements.hpp"
#include "hpsearch/jobs/fields/secrets.hpp"

namespace hpsearch::jobs {

namespace {

void set_storage(const CheckpointStorage& storage, LaunchSpec& launch) {
  launch.checkpoint_root = storage.host_path;
  if (!storage.storage_path.empty()) {
    launch.checkpoint_root += "/" + storage.storage_path;
  }
  if (std::optional<RemoteStorage> remote = remote_storage(storage)) {
    launch.checkpoint_root = std::move(remote->root);
    launch.storage_environment = std::move(remote->environment);
  }
}

}  // namespace

LaunchSpec launch_of(const engine::ExperimentConfig& config, const Program& program, const Value& effective) {
  LaunchSpec launch;
  launch.experiment_name = config.name;
  launch.entrypoint = program.entrypoint;
  launch.max_length = config.searcher.max_length;
  launch.unit = config.unit;
  launch.metric = config.searcher.metric;
  launch.larger_is_better = config.searcher.goal() == engine::Goal::maximize;
  set_storage(program.checkpoint_storage, launch);
  launch.environment_variables = program.environment.environment_variables;
  launch.install_requirements = installs_requirements(program);
  launch.mirrors = program.environment.mirrors;
  launch.preload = program.environment.preload;
  launch.checkpoint_signal = program.environment.checkpoint_signal;
  launch.harness_config = program.needs_harness ? without_secrets(effective) : Value();
  launch.metric_patterns = program.metrics;
  launch.data = program.data;
  launch.progress_timeout = config.progress_timeout.value_or(engine::Duration{});
  launch.finish_within = program.environment.finish_within;
  launch.hand_over_log = program.log_storage == LogStorage::daemon;
  launch.keep_files_mb = program.keep_files.max_mb;
  launch.contract = program.contract;
  launch.launch = program.launch;
  return launch;
}

Result<Value> Programs::opened(const engine::ExperimentRecord& record) const {
  return open_secrets_ ? open_secrets_(record.effective) : Result<Value>(record.effective);
}

Result<const Program*> Programs::of(const engine::ExperimentRecord& record) {
  const auto known = programs_.find(record.id);
  if (known != programs_.end()) {
    return &known->second;
  }
  const Result<Value> effective = opened(record);
  if (!effective) {
    return effective.error();
  }
  Result<Program> read = read_program(*effective, record.config.space);
  if (!read) {
    return read.error();
  }
  return &programs_.emplace(record.id, std::move(*read)).first->second;
}

Result<LaunchSpec> Programs::launch_spec(const engine::Engine& engine, const engine::AttemptSpec& spec) {
  const engine::ExperimentRecord* found = engine.find(spec.key.experiment);
  if (found == nullptr) {
    return Error{engine::Errc::not_found, "no experiment " + std::to_string(spec.key.experiment.number())};
  }
  const engine::ExperimentRecord& record = *found;
  const engine::ExperimentConfig& config = record.config;
  const Result<const Program*> read = of(record);
  if (!read) {
    return read.error();
  }
  LaunchSpec launch = launch_of(config, **read, record.effective);
  launch.key = spec.key;
  launch.trial_id = spec.trial_id;
  launch.unix_user = record.unix_user;
  launch.slots = spec.slots;
  launch.hparams = spec.hparams;
  launch.length = spec.length;
  launch.trial_seed = spec.trial_seed;
  launch.context_directory = record.context_directory;
  const engine::ProgramChange* other = engine::program_of(record, spec.key.trial);
  launch.context_digest = other != nullptr ? other->context_digest : record.context_digest;
  launch.latest_checkpoint = spec.latest_checkpoint;
  launch.latest_step = spec.latest_step;
  launch.checkpoint_may_be_gone = spec.checkpoint_may_be_gone;
  launch.warm_start = spec.warm_start_of.has_value();
  if (const auto* source = spec.warm_start_of ? engine.find(*spec.warm_start_of) : nullptr) {
    const Result<Value> effective = opened(*source);
    if (!effective) {
      return effective.error();
    }
    if (std::optional<RemoteStorage> remote = remote_storage(*effective)) {
      launch.source_environment = std::move(remote->environment);
    }
  }
  launch.despite_leaked_processes = spec.despite_leaked_processes;
  launch.rendezvous = spec.rendezvous;
  return launch;
}

}  // namespace hpsearch::jobs
