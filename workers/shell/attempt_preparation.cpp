#include "hpsearch/workers/shell/attempt_preparation.hpp"

#include <exception>
#include <optional>
#include <utility>

#include "hpsearch/engine/config/remote_storage.hpp"
#include "hpsearch/net/rclone.hpp"
#include "hpsearch/workers/core/determined_launch.hpp"
#include "hpsearch/workers/shell/channels.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/launch_order.hpp"
#include "hpsearch/workers/shell/ml_mount.hpp"
#include "hpsearch/workers/shell/node_setup.hpp"
#include "hpsearch/workers/shell/object_storage.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::LaunchSpec;
using engine::Result;
using engine::Status;

namespace {

/// With what an object store keeps brought here: the checkpoint that the program starts from.
Result<LaunchSpec> with_checkpoint_here(const LaunchSpec& asked, const AttemptDirectory& directory) {
  LaunchSpec spec = asked;
  const bool fetch = engine::is_remote(asked.latest_checkpoint);
  if (fetch || engine::is_remote(asked.checkpoint_root)) {
    if (const Status found = net::find_rclone(); !found) {
      return Error{found.error().code, "checkpoint storage " + (fetch ? asked.latest_checkpoint : asked.checkpoint_root) + ": " + found.error().message};
    }
  }
  if (fetch) {
    spec.latest_checkpoint = directory.fetched().string();
    const Status fetched =
        download_checkpoint(asked.latest_checkpoint, directory.fetched(),
                            asked.warm_start ? asked.source_environment : asked.storage_environment);
    if (!fetched) {
      return fetched.error();
    }
  }
  return spec;
}

Status prepare(const LaunchSpec& asked, const AttemptDirectory& directory, const LentMachine& machine,
               const AttemptSockets& sockets, const std::filesystem::path& setups) {
  if (const Status made = directory.make(asked.context_directory); !made) {
    return made;
  }
  const Result<LaunchSpec> here = with_checkpoint_here(asked, directory);
  if (!here) {
    return here.error();
  }
  const LaunchSpec& spec = *here;
  const bool at_ml = spec.contract.ml_layout && can_mount_ml();
  const std::string ml = at_ml ? std::string(ml_mount_point) : directory.ml().string();
  Result<ChannelPlaces> channels = make_channels(spec, directory, ml);
  if (!channels) {
    return channels.error();
  }
  const AttemptPlaces places{.work_directory = directory.work().string(),
                             .checkpoint_directory = (directory.output() / "checkpoints").string(),
                             .output_directory = directory.output().string(),
                             .params_file = directory.params().string(),
                             .socket = sockets.report,
                             .ml = ml,
                             .harness_directory = directory.harness().string(),
                             .inputs = std::move(channels->inputs),
                             .outputs = std::move(channels->outputs)};
  Result<Launch> plan = plan_launch(spec, places, machine);
  if (!plan) {
    return plan.error();
  }
  const std::pair<std::filesystem::path, const std::string*> files[] = {
      {directory.params(), &plan->params_json},
      {directory.config() / "hyperparameters.json", &plan->hyperparameters_json},
      {directory.config() / "training_job.json", &plan->training_job_json},
  };
  for (const auto& [path, text] : files) {
    if (const Status written = write_file(path, *text + "\n", false); !written) {
      return written;
    }
  }
  // The Determined harness sources the hook itself, in every attempt.
  if (const auto setup = wants_determined_harness(spec) ? std::nullopt : setup_of(directory.work(), setups)) {
    if (const Status made = make_directories(setup->directory); !made) {
      return made;
    }
    plan->argv = after_setup(*setup, std::move(plan->argv), plan->environment);
  }
  const LaunchOrder order{
      .program = {.argv = at_ml ? under_ml(directory.ml().string(), std::move(plan->argv))
                                : std::move(plan->argv),
                  .environment = std::move(plan->environment),
                  .directory = places.work_directory,
                  .token = "HPSEARCH_SOCKET=" + sockets.report},
      .report_socket = sockets.report,
      .agent_socket = sockets.agent,
      .metric_patterns = spec.metric_patterns,
      .first_step = spec.latest_step};
  return write_launch_order(directory.launch(), order);
}

}  // namespace

Status prepare_attempt(const LaunchSpec& spec, const AttemptDirectory& directory, const LentMachine& machine,
                       const AttemptSockets& sockets, const std::filesystem::path& setups) {
  try {
    return prepare(spec, directory, machine, sockets, setups);
  } catch (const std::exception& error) {  // The file system library throws when memory is short.
    return Error{Errc::unavailable,
                 "cannot prepare " + directory.root().string() + ": " + std::string(error.what())};
  }
}

}  // namespace hpsearch::workers
