#include "hpsearch/workers/core/launch_environment.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/workers/core/determined_launch.hpp"
#include "hpsearch/workers/core/entrypoint.hpp"
#include "hpsearch/workers/core/hyperparameter_forms.hpp"
#include "hpsearch/workers/core/launch_kind.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::SlotIndex;
using engine::Status;
using engine::Value;
using jobs::Channel;
using jobs::LaunchSpec;
using jobs::PassedAs;

namespace {

using Variables = std::map<std::string, std::string>;

// The kernel's limit for one argument or one NAME=VALUE, its zero included (MAX_ARG_STRLEN).
constexpr std::size_t longest_string = std::size_t{128} * 1024;

/// What NAME=VALUE takes.
std::size_t string_of(const std::string& name, const std::string& value) {
  return name.size() + 1 + value.size() + 1;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    all.append(all.empty() ? "" : ",").append(word);
  }
  return all;
}

std::string number(auto id) {
  return std::to_string(id.number());
}

/// The slots that are devices, by number: none on the processors.
std::vector<std::size_t> devices_of(const LaunchSpec& spec, const LentMachine& machine) {
  std::vector<std::size_t> numbers;
  for (const SlotIndex slot : spec.slots) {
    if (slot.number() < machine.devices.size()) {
      numbers.push_back(slot.number());
    }
  }
  return numbers;
}

/// Those devices' names, each once: several slots may share one.
std::vector<std::string> device_names(const LaunchSpec& spec, const LentMachine& machine) {
  std::vector<std::string> names;
  for (const std::size_t slot : devices_of(spec, machine)) {
    if (std::find(names.begin(), names.end(), machine.devices[slot]) == names.end()) {
      names.push_back(machine.devices[slot]);
    }
  }
  return names;
}

/// The slot variables of programs (job contract §3): device names on a GPU worker, nothing on the processors.
void lend_slots(const LaunchSpec& spec, const LentMachine& machine, Variables& environment) {
  const std::vector<std::string> devices = device_names(spec, machine);
  std::vector<std::string> ids;
  for (const std::size_t slot : devices_of(spec, machine)) {
    ids.push_back(std::to_string(slot));
  }
  environment["HPSEARCH_SLOT_IDS"] = joined(ids);
  environment["DET_SLOT_IDS"] = "[" + joined(ids) + "]";
  environment["CUDA_VISIBLE_DEVICES"] = joined(devices);
  environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  // Programs tell "no GPU" by its absence.
  if (devices.empty()) {
    environment.erase("NVIDIA_VISIBLE_DEVICES");
  } else {
    environment["NVIDIA_VISIBLE_DEVICES"] = joined(devices);
  }
}

void set_identity_variables(const LaunchSpec& spec, const AttemptPlaces& places, Variables& environment) {
  environment["HPSEARCH_EXPERIMENT_ID"] = environment["DET_EXPERIMENT_ID"] = number(spec.key.experiment);
  environment["HPSEARCH_EXPERIMENT_NAME"] = spec.experiment_name;
  environment["HPSEARCH_TRIAL_ID"] = environment["DET_TRIAL_ID"] = number(spec.trial_id);
  environment["HPSEARCH_TRIAL_NUMBER"] = number(spec.key.trial);
  environment["HPSEARCH_ATTEMPT"] = environment["DET_TRIAL_RUN_ID"] = number(spec.key.attempt);
  environment["HPSEARCH_TRIAL_SEED"] = environment["DET_TRIAL_SEED"] = std::to_string(spec.trial_seed);
  environment["HPSEARCH_LENGTH"] = std::to_string(count(spec.length));
  environment["HPSEARCH_UNIT"] = spec.unit;
  environment["HPSEARCH_METRIC"] = spec.metric;
  environment["HPSEARCH_CHECKPOINT_DIR"] = places.checkpoint_directory;
  environment["HPSEARCH_OUTPUT_DIR"] = places.output_directory;
  environment["HPSEARCH_LATEST_CHECKPOINT"] = spec.latest_checkpoint;
  // Determined-style scripts tell a fresh start by its absence.
  environment.erase("DET_LATEST_CHECKPOINT");
  if (!spec.latest_checkpoint.empty()) {
    environment["DET_LATEST_CHECKPOINT"] = spec.latest_checkpoint;
  }
  environment.erase("HPSEARCH_WARM_START");
  if (spec.warm_start) {
    environment["HPSEARCH_WARM_START"] = "1";
  }
  if (spec.rendezvous.rank == 0) {  // Only rank 0 reports.
    environment["HPSEARCH_SOCKET"] = places.socket;
  }
  environment["HPSEARCH_PARAMS_FILE"] = places.params_file;
  environment["HPSEARCH_DATA"] = spec.data.is_null() ? "{}" : engine::compact_json(spec.data);
}

/// PAI's training jobs and components.
void set_pai_variables(const LaunchSpec& spec, const HyperparameterForms& forms, const AttemptPlaces& places,
                       Variables& environment) {
  environment["PAI_WORKING_DIR"] = places.ml + "/usercode";
  environment["PAI_CONFIG_DIR"] = places.ml + "/input/config/";
  Variables hyperparameters = forms.pai_variables();
  hyperparameters.merge(forms.variables());
  hyperparameters["PAI_HPS"] = forms.pai_hps(spec.contract.pai_hps_strings);
  hyperparameters["PAI_USER_ARGS"] = forms.pai_user_args();
  // A program that does not read them shall not fail for them; submission has told of it.
  std::erase_if(hyperparameters,
                [](const auto& one) { return string_of(one.first, one.second) > longest_string; });
  environment.merge(std::move(hyperparameters));
  for (const auto& [name, place] : places.inputs) {
    environment["PAI_INPUT_" + jobs::variable_part(name)] = place;
  }
  for (const auto& [name, place] : places.outputs) {
    environment["PAI_OUTPUT_" + jobs::variable_part(name)] = place;
  }
}

/// ModelArts' containers: one task, "worker", on as many hosts as the attempt has workers.
void set_modelarts_variables(const LaunchSpec& spec, const AttemptPlaces& places, const LentMachine& machine,
                             Variables& environment) {
  environment["MA_HOME"] = places.ml;     // The job's own, as everything below.
  environment["MA_JOB_DIR"] = places.ml;  // The code lies in one directory of it.
  environment["MA_MOUNT_PATH"] = places.ml;
  environment["MA_LOG_DIR"] = places.ml + "/output/logs";
  const std::vector<std::string> nodes = addresses_of(spec);
  environment["MA_CURRENT_IP"] = nodes[spec.rendezvous.rank];
  environment["MA_NUM_GPUS"] = std::to_string(device_names(spec, machine).size());
  environment["MA_SCRIPT_INTERPRETER"] = "";  // As there: no other than the program's own.
  environment["MA_TASK_NAME"] = "worker";
  environment["MA_NUM_HOSTS"] = environment["VC_WORKER_NUM"] = std::to_string(nodes.size());
  environment["VC_TASK_INDEX"] = environment["VK_TASK_INDEX"] = std::to_string(spec.rendezvous.rank);
  environment["VC_WORKER_HOSTS"] = joined(nodes);
  const auto pass = [&](const std::vector<Channel>& channels, const Variables& where) {
    for (const Channel& channel : channels) {
      const auto place = where.find(channel.name);
      if (channel.passed_as == PassedAs::variable && place != where.end()) {
        environment[channel.name] = place->second;
      }
    }
  };
  pass(spec.contract.inputs, places.inputs);
  pass(spec.contract.outputs, places.outputs);
}

Value texts(const Variables& members) {
  Value::Map map;
  for (const auto& [key, text] : members) {
    map[key] = text;
  }
  return map;
}

Value integer(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

/// docs/job-contract.md describes it.
std::string training_job(const LaunchSpec& spec, const AttemptPlaces& places, const LentMachine& machine,
                         const std::vector<std::string>& argv, const Value& hparams) {
  Value::List slots;
  Value::List devices;
  Value::List command;
  for (const SlotIndex slot : spec.slots) {
    slots.push_back(integer(slot.number()));
  }
  for (const std::string& device : device_names(spec, machine)) {
    devices.emplace_back(device);
  }
  for (const std::string& word : argv) {
    command.emplace_back(word);
  }
  return engine::compact_json(Value::Map{
      {"version", 1},
      {"experiment",
       Value::Map{{"id", integer(spec.key.experiment.number())}, {"name", spec.experiment_name}}},
      {"trial", Value::Map{{"id", integer(spec.trial_id.number())},
                           {"number", integer(spec.key.trial.number())},
                           {"attempt", integer(spec.key.attempt.number())},
                           {"seed", integer(spec.trial_seed)}}},
      {"command", std::move(command)},
      {"context", Value::Map{{"directory", spec.context_directory}, {"sha256", spec.context_digest}}},
      {"hyperparameters", hparams},
      {"length", Value::Map{{"unit", spec.unit},
                            {"until", integer(count(spec.length))},
                            {"done", integer(count(spec.latest_step))}}},
      {"metric", spec.metric},
      {"inputs", texts(places.inputs)},
      {"outputs", texts(places.outputs)},
      {"resources", Value::Map{{"slots", std::move(slots)},
                               {"devices", std::move(devices)},
                               {"instance_count", integer(addresses_of(spec).size())},
                               {"instance_index", integer(spec.rendezvous.rank)}}},
      {"data", spec.data.is_null() ? Value(Value::Map{}) : spec.data},
  });
}

/// What each process has of the attempt's share of the machine's cores.
std::uint64_t threads_of(const LaunchSpec& spec, const LentMachine& machine, std::uint64_t processes) {
  const std::uint64_t slots = std::max<std::uint64_t>(1, spec.slots.size());
  const std::uint64_t all = std::max<std::uint64_t>(1, machine.slots) * processes;
  return std::max<std::uint64_t>(1, machine.cores * slots / all);
}

/// The variables of its launch kind, and more processes than one where that asks for them.
Status start_processes(const LaunchSpec& spec, const AttemptPlaces& places, const LentMachine& machine,
                       Launch& launch) {
  LaunchForm form = launch_form(spec, {.port = places.free_port, .hostfile = places.hostfile});
  for (auto& [name, value] : form.variables) {
    launch.environment[name] = std::move(value);
  }
  launch.hostfile = std::move(form.hostfile);
  if (only_lends_slots(spec)) {
    launch.argv = {"sleep", "infinity"};
  } else if (form.processes > 1 || spec.launch.rank == jobs::RankLevel::process) {
    if (machine.ranks_host.empty()) {
      return Error{Errc::bad_request,
                   "launch.rank is process, but this worker has no program hpsearch-ranks beside it"};
    }
    std::vector<std::string> argv = {machine.ranks_host, std::to_string(form.processes),
                                     std::to_string(form.first_rank), places.log_directory, "--"};
    argv.insert(argv.end(), launch.argv.begin(), launch.argv.end());
    launch.argv = std::move(argv);
    if (!spec.environment_variables.contains("OMP_NUM_THREADS")) {
      launch.environment["OMP_NUM_THREADS"] = std::to_string(threads_of(spec, machine, form.processes));
    }
  }
  return engine::Done{};
}

Status check_lengths(const Launch& launch) {
  const auto too_long = [](const std::string& what, std::size_t bytes) {
    return Error{Errc::bad_request,
                 what + " would take " + std::to_string(bytes) + " bytes; a program can be given at most " +
                     std::to_string(longest_string - 1) +
                     " in one piece. Put long values into a file of the context directory"};
  };
  for (std::size_t i = 0; i < launch.argv.size(); ++i) {
    if (launch.argv[i].size() >= longest_string) {
      return too_long("argument " + std::to_string(i), launch.argv[i].size());
    }
  }
  for (const auto& [name, value] : launch.environment) {
    if (string_of(name, value) > longest_string) {
      return too_long("the variable " + name, name.size() + 1 + value.size());
    }
  }
  return engine::Done{};
}

}  // namespace

bool is_identity_variable(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 5> prefixes{"DET_", "HPSEARCH_", "MA_", "PAI_", "VC_"};
  // The last two lines: of the job that this worker itself may be a part of.
  constexpr std::array<std::string_view, 24> names{
      "ELASTICBATCH_CONFIG",
      "ElASTICBATCH_CONFIG",
      "GROUP_RANK",
      "LOCAL_RANK",
      "LOCAL_WORLD_SIZE",
      "MASTER_ADDR",
      "MASTER_PORT",
      "NPROC_PER_NODE",
      "RANK",
      "TF_CONFIG",
      "VK_TASK_INDEX",
      "WORKER_ADDRS",
      "WORKER_PORT",
      "WORLD_SIZE",
      "OMPI_COMM_WORLD_LOCAL_RANK",
      "OMPI_COMM_WORLD_RANK",
      "OMPI_COMM_WORLD_SIZE",
      "PMIX_RANK",
      "PMI_RANK",
      "PMI_SIZE",
      "SLURM_LOCALID",
      "SLURM_NPROCS",
      "SLURM_NTASKS",
      "SLURM_PROCID",
  };
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> devices_lent(const LaunchSpec& spec, const LentMachine& machine) {
  std::vector<std::string> devices;
  for (const std::size_t device : devices_of(spec, machine)) {
    devices.push_back(machine.devices[device]);
  }
  return devices;
}

Result<Launch> plan_launch(const LaunchSpec& spec, const AttemptPlaces& places, const LentMachine& machine) {
  Launch launch;
  const HyperparameterForms forms(spec.hparams, spec.contract.bool_styles);
  const bool harness = needs_determined_harness(spec);
  if (!harness) {  // Else it starts the entrypoint itself, word for word.
    Result<std::vector<std::string>> argv = expand_entrypoint(spec, forms, places);
    if (!argv) {
      return argv.error();
    }
    launch.argv = *std::move(argv);
  }
  const Value hparams = spec.hparams.is_null() ? Value(Value::Map{}) : spec.hparams;
  launch.params_json = engine::compact_json(hparams);
  launch.hyperparameters_json = forms.hyperparameters_json();
  launch.training_job_json = training_job(spec, places, machine, launch.argv, hparams);

  Variables& environment = launch.environment;
  for (const auto& [name, value] : machine.environment) {
    if (!is_identity_variable(name)) {
      environment[name] = value;
    }
  }
  environment["OMP_NUM_THREADS"] = std::to_string(threads_of(spec, machine, 1));
  for (const auto& [name, value] : spec.environment_variables) {
    environment[name] = value;
  }
  environment["PYTHONUNBUFFERED"] = "1";
  environment["HPSEARCH_PARAMS"] = environment["DET_HPARAMS"] = launch.params_json;
  set_identity_variables(spec, places, environment);
  set_pai_variables(spec, forms, places, environment);
  set_modelarts_variables(spec, places, machine, environment);
  lend_slots(spec, machine, environment);
  if (const Status placed = start_processes(spec, places, machine, launch); !placed) {
    return placed.error();
  }
  if (harness) {
    if (const Status hosted = launch_in_determined_harness(spec, places, machine, launch); !hosted) {
      return hosted.error();
    }
  }
  if (const Status fits = check_lengths(launch); !fits) {
    return fits.error();
  }
  return launch;
}

}  // namespace hpsearch::workers
