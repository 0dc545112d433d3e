#include "core/adapters/launch_kinds/launch_kinds.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/launch/launch_parts.hpp"
#include "hpsearch/workers/core/adapters/launch_kinds/launch_kind.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Status;

namespace {

constexpr std::string_view launch_kind_identity[] = {
    "ELASTICBATCH_CONFIG", "ElASTICBATCH_CONFIG", "GROUP_RANK",     "LOCAL_RANK", "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",         "MASTER_PORT",         "NPROC_PER_NODE", "RANK",       "TF_CONFIG",
    "WORKER_ADDRS",        "WORKER_PORT",         "WORLD_SIZE",
};

/// Adds the variables of the launch kind, and starts several processes if the kind needs them.
Status add_launch_kind(const LaunchFacts& facts, Launch& launch) {
  const jobs::LaunchSpec& spec = facts.spec;
  const LentMachine& machine = facts.machine;
  ProgramStart& program = launch.program;
  LaunchForm form = launch_form(spec, {.port = facts.places.free_port, .hostfile = facts.places.hostfile});
  for (auto& [name, value] : form.variables) {
    program.environment[name] = std::move(value);
  }
  if (!form.hostfile.empty()) {
    launch.files[config_file("hostfile")] = std::move(form.hostfile);
  }
  if (only_lends_slots(spec)) {
    program.argv = {"sleep", "infinity"};
  } else if (form.processes > 1 || spec.launch.rank == jobs::RankLevel::process) {
    if (machine.ranks_host.empty()) {
      return Error{Errc::bad_request,
                   "launch.rank is process, but this worker has no program hpsearch-ranks beside it"};
    }
    std::vector<std::string> argv = {machine.ranks_host, std::to_string(form.processes),
                                     std::to_string(form.first_rank), facts.places.log_directory, "--"};
    argv.insert(argv.end(), program.argv.begin(), program.argv.end());
    program.argv = std::move(argv);
    if (!spec.environment_variables.contains("OMP_NUM_THREADS")) {
      program.environment["OMP_NUM_THREADS"] = std::to_string(threads_of(spec, machine, form.processes));
    }
  }
  return engine::Done{};
}

}  // namespace

const Adapter launch_kinds_adapter{.add = add_launch_kind, .identity = launch_kind_identity};

}  // namespace hpsearch::workers
