#include "core/adapters/modelarts/modelarts.hpp"

#include <string>
#include <vector>

#include "core/launch/launch_parts.hpp"
#include "hpsearch/workers/core/adapters/launch_kinds/launch_kind.hpp"
#include "hpsearch/workers/core/adapters/modelarts/job_directory.hpp"

namespace hpsearch::workers {

using engine::Status;
using jobs::Channel;
using jobs::PassedAs;

namespace {

constexpr std::string_view modelarts_identity[] = {"MA_", "VC_", "VK_TASK_INDEX"};

void pass_as_variables(const std::vector<Channel>& channels, const Variables& places,
                       Variables& environment) {
  for (const Channel& channel : channels) {
    const auto place = places.find(channel.name);
    if (channel.passed_as == PassedAs::variable && place != places.end()) {
      environment[channel.name] = place->second;
    }
  }
}

/// One task, "worker", with as many hosts as the attempt has workers.
Status add_modelarts(const LaunchFacts& facts, Launch& launch) {
  const jobs::LaunchSpec& spec = facts.spec;
  const AttemptPlaces& places = facts.places;
  Variables& environment = launch.program.environment;
  environment["MA_HOME"] = places.ml;  // The attempt's own directory, like everything below it.
  environment["MA_JOB_DIR"] = places.ml + "/" + std::string(job_directory);
  environment["MA_MOUNT_PATH"] = places.ml;
  environment["MA_LOG_DIR"] = places.ml + "/output/logs";
  const std::vector<std::string> nodes = addresses_of(spec);
  environment["MA_CURRENT_IP"] = nodes[spec.rendezvous.rank];
  environment["MA_NUM_GPUS"] = std::to_string(device_names(spec, facts.machine).size());
  environment["MA_SCRIPT_INTERPRETER"] = "";  // Empty, as in ModelArts: the program chooses its interpreter.
  environment["MA_TASK_NAME"] = "worker";
  environment["MA_NUM_HOSTS"] = environment["VC_WORKER_NUM"] = std::to_string(nodes.size());
  environment["VC_TASK_INDEX"] = environment["VK_TASK_INDEX"] = std::to_string(spec.rendezvous.rank);
  environment["VC_WORKER_HOSTS"] = joined(nodes);
  pass_as_variables(spec.contract.inputs, places.inputs, environment);
  pass_as_variables(spec.contract.outputs, places.outputs, environment);
  return engine::Done{};
}

}  // namespace

const Adapter modelarts_adapter{.add = add_modelarts, .identity = modelarts_identity};

}  // namespace hpsearch::workers
