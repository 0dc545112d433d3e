#include "hpsearch/workers/core/launch/launch_environment.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/adapters/adapters.hpp"
#include "core/launch/launch_parts.hpp"
#include "core/launch/training_job.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/workers/core/launch/entrypoint.hpp"
#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"
#include "hpsearch/workers/core/launch/spare.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;
using jobs::LaunchSpec;

namespace {

/// Variables of hpsearch, and those of a job that this worker itself may be part of.
constexpr std::string_view own_identity[] = {
    "HPSEARCH_",
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

/// Whether it is one of `names`; a name that ends in _ is a prefix.
bool is_one_of(std::string_view variable, std::span<const std::string_view> names) noexcept {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return name.ends_with('_') ? variable.starts_with(name) : variable == name;
  });
}

/// Sets the slot variables of programs (job contract §3): the devices of their slots, and none of other
/// kinds.
void lend_slots(const LaunchSpec& spec, const LentMachine& machine, Variables& environment) {
  environment["HPSEARCH_SLOT_IDS"] = joined(slot_ids(spec, machine));
  const jobs::DeviceKind& own = machine.device_kind;
  for (const jobs::DeviceKind& kind : jobs::device_kinds()) {
    if (!own.hides_others) {
      break;
    }
    environment[kind.variable] = "";
    for (const std::string& copy : kind.copies) {
      environment.erase(copy);
    }
    for (const auto& [name, value] : kind.constants) {
      environment[name] = value;
    }
  }
  if (own.variable.empty()) {
    return;
  }
  const std::string devices = joined(device_names(spec, machine));
  environment[own.variable] = devices;
  if (!devices.empty()) {
    for (const std::string& copy : own.copies) {
      environment[copy] = devices;
    }
    for (const std::string& selector : own.selectors) {
      environment.erase(selector);
    }
  }
}

/// Sets hpsearch's own variables.
void set_own_variables(const LaunchFacts& facts, ProgramStart& program) {
  Variables& environment = program.environment;
  const LaunchSpec& spec = facts.spec;
  const AttemptPlaces& places = facts.places;
  environment["HPSEARCH_PARAMS"] = engine::compact_json(facts.hparams);
  environment["HPSEARCH_EXPERIMENT_ID"] = std::to_string(spec.key.experiment.number());
  environment["HPSEARCH_EXPERIMENT_NAME"] = spec.experiment_name;
  environment["HPSEARCH_TRIAL_ID"] = std::to_string(spec.trial_id.number());
  environment["HPSEARCH_TRIAL_NUMBER"] = std::to_string(spec.key.trial.number());
  environment["HPSEARCH_ATTEMPT"] = std::to_string(spec.key.attempt.number());
  environment["HPSEARCH_TRIAL_SEED"] = std::to_string(spec.trial_seed);
  environment["HPSEARCH_LENGTH"] = std::to_string(count(spec.length));
  environment["HPSEARCH_MAX_LENGTH"] = std::to_string(count(spec.max_length));
  environment["HPSEARCH_UNIT"] = spec.unit;
  environment["HPSEARCH_METRIC"] = spec.metric;
  environment["HPSEARCH_CHECKPOINT_DIR"] = places.checkpoint_directory;
  environment["HPSEARCH_OUTPUT_DIR"] = places.output_directory;
  environment["HPSEARCH_LATEST_CHECKPOINT"] = spec.latest_checkpoint;
  environment.erase("HPSEARCH_WARM_START");
  if (spec.warm_start) {
    environment["HPSEARCH_WARM_START"] = "1";
  }
  if (spec.rendezvous.rank == 0) {  // Only rank 0 reports.
    environment["HPSEARCH_SOCKET"] = places.socket;
  }
  environment["HPSEARCH_PARAMS_FILE"] = places.params_file;
  const std::pair<const char*, std::string> wanted[] = {
      {"HPSEARCH_CHECKPOINT_SIGNAL", spec.checkpoint_signal},
      {"HPSEARCH_MIRRORS", joined(spec.mirrors)},
      {preload_variable, joined(spec.preload)}};
  for (const auto& [name, value] : wanted) {
    if (!value.empty()) {
      environment[name] = value;
    }
  }
  environment["HPSEARCH_DATA"] = spec.data.is_null() ? "{}" : engine::compact_json(spec.data);
  add_hyperparameters(facts.forms.variables(), program);
}

/// The program's variables before hpsearch and the adapters add theirs.
Variables given_environment(const LaunchSpec& spec, const LentMachine& machine) {
  Variables environment;
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
  if (spec.contract.terminal) {
    environment.emplace("TERM", "dumb");  // A worker that runs as a service has none.
  }
  return environment;
}

bool is_started_by_an_adapter(const LaunchSpec& spec) {
  const auto all = adapters();
  return std::any_of(all.begin(), all.end(), [&](const Adapter* adapter) {
    return adapter->starts_entrypoint != nullptr && adapter->starts_entrypoint(spec);
  });
}

Status check_lengths(const ProgramStart& program) {
  const auto too_long = [](const std::string& what, std::size_t bytes) {
    return Error{
        Errc::bad_request,
        what + " would take " + std::to_string(bytes) + " bytes; a program can be given at most " +
            std::to_string(longest_string - 1) +
            " in one piece. hyperparameters.json has long values, or put them into a file of the context "
            "directory"};
  };
  for (std::size_t i = 0; i < program.argv.size(); ++i) {
    if (program.argv[i].size() >= longest_string) {
      return too_long("argument " + std::to_string(i), program.argv[i].size());
    }
  }
  for (const auto& [name, value] : program.environment) {
    if (string_size(name, value) > longest_string) {
      return too_long("the variable " + name, name.size() + 1 + value.size());
    }
  }
  return engine::Done{};
}

}  // namespace

bool is_identity_variable(std::string_view name) noexcept {
  const auto all = adapters();
  return is_one_of(name, own_identity) || std::any_of(all.begin(), all.end(), [&](const Adapter* adapter) {
           return is_one_of(name, adapter->identity);
         });
}

std::vector<std::string> devices_lent(const LaunchSpec& spec, const LentMachine& machine) {
  std::vector<std::string> devices;
  for (const std::size_t device : device_slots(spec, machine)) {
    devices.push_back(machine.devices[device]);
  }
  return devices;
}

Result<Launch> plan_launch(const LaunchSpec& spec, const AttemptPlaces& places, const LentMachine& machine) {
  const HyperparameterForms forms(spec.hparams, spec.contract.bool_styles);
  const Value hparams = spec.hparams.is_null() ? Value(Value::Map{}) : spec.hparams;
  const LaunchFacts facts{spec, places, machine, forms, hparams};
  Launch launch;
  ProgramStart& program = launch.program;
  program.directory = places.work_directory;
  program.terminal = spec.contract.terminal;
  program.environment = given_environment(spec, machine);
  set_own_variables(facts, program);
  if (!is_started_by_an_adapter(spec)) {
    Result<std::vector<std::string>> argv = expand_entrypoint(spec, forms, places, program.environment);
    if (!argv) {
      return argv.error();
    }
    program.argv = *std::move(argv);
  }
  launch.files[std::string(params_file_name)] = engine::compact_json(hparams) + "\n";
  launch.files[config_file("training_job.json")] =
      training_job(spec, places, machine, program.argv, hparams) + "\n";
  for (const Adapter* adapter : adapters()) {
    if (const Status added = adapter->add(facts, launch); !added) {
      return added.error();
    }
  }
  lend_slots(spec, machine, program.environment);
  if (const Status fits = check_lengths(program); !fits) {
    return fits.error();
  }
  return launch;
}

}  // namespace hpsearch::workers
