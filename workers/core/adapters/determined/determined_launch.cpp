#include "hpsearch/workers/core/adapters/determined/determined_launch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/adapters/determined/determined.hpp"
#include "core/launch/launch_parts.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/dialects/determined.hpp"
#include "hpsearch/workers/core/adapters/determined/determined_config.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Status;
using engine::Value;
using jobs::LaunchSpec;

namespace {

constexpr std::string_view determined_identity[] = {"DET_"};
// The kernel refuses longer variables (MAX_ARG_STRLEN), and its error, "argument list too long", does not
// name it.
constexpr std::size_t longest_variable = 128UL * 1024 - 64;
// The number of ports that attempts share out.
constexpr std::uint64_t port_range = 4'000;

/// Makes hpsearch-determined the program: it starts the harness, which starts the trial's own entrypoint.
Status launch_in_harness(const LaunchFacts& facts, ProgramStart& program) {
  const LaunchSpec& spec = facts.spec;
  if (facts.machine.determined_host.empty()) {
    return Error{Errc::bad_request,
                 "entrypoint: it needs the Determined harness, but this worker has no program "
                 "hpsearch-determined beside it"};
  }
  std::string config = engine::compact_json(determined_config(spec.harness_config));
  if (config.size() > longest_variable) {
    return Error{Errc::bad_request,
                 "the experiment has " + std::to_string(config.size()) +
                     " bytes as JSON; the Determined harness gets it in one variable of at most " +
                     std::to_string(longest_variable)};
  }
  program.argv = {facts.machine.determined_host};
  program.environment[jobs::determined_config_variable] = std::move(config);
  program.environment["HPSEARCH_HARNESS_DIR"] = facts.places.harness_directory;
  if (!spec.rendezvous.addresses.empty()) {
    Value::List ports;
    for (const std::uint64_t port : harness_ports(spec)) {
      ports.emplace_back(static_cast<std::int64_t>(port));
    }
    Value::List addresses(spec.rendezvous.addresses.begin(), spec.rendezvous.addresses.end());
    program.environment[harness_nodes_variable] =
        engine::compact_json(Value::Map{{"addresses", std::move(addresses)},
                                        {"rank", static_cast<std::int64_t>(spec.rendezvous.rank)},
                                        {"ports", std::move(ports)}});
  }
  return engine::Done{};
}

Status add_determined(const LaunchFacts& facts, Launch& launch) {
  const LaunchSpec& spec = facts.spec;
  Variables& environment = launch.program.environment;
  environment["DET_EXPERIMENT_ID"] = std::to_string(spec.key.experiment.number());
  environment["DET_TRIAL_ID"] = std::to_string(spec.trial_id.number());
  environment["DET_TRIAL_RUN_ID"] = std::to_string(spec.key.attempt.number());
  environment["DET_TRIAL_SEED"] = std::to_string(spec.trial_seed);
  environment["DET_HPARAMS"] = engine::compact_json(facts.hparams);
  environment["DET_SLOT_IDS"] = "[" + joined(slot_ids(spec, facts.machine)) + "]";
  // Without it, programs start from scratch.
  environment.erase("DET_LATEST_CHECKPOINT");
  if (!spec.latest_checkpoint.empty()) {
    environment["DET_LATEST_CHECKPOINT"] = spec.latest_checkpoint;
  }
  return needs_determined_harness(spec) ? launch_in_harness(facts, launch.program) : Status(engine::Done{});
}

}  // namespace

const Adapter determined_adapter{
    .add = add_determined, .identity = determined_identity, .starts_entrypoint = needs_determined_harness};

bool needs_determined_harness(const LaunchSpec& spec) {
  return !spec.harness_config.is_null();
}

std::vector<std::uint64_t> harness_ports(const LaunchSpec& spec) {
  const std::uint64_t port = spec.rendezvous.port;
  return {port, port - port_range, port - 2 * port_range};
}

}  // namespace hpsearch::workers
