#include "hpsearch/workers/core/adapters/container/container_launch.hpp"

#include <algorithm>
#include <utility>

#include "core/launch/launch_parts.hpp"
#include "hpsearch/workers/core/launch/attempt_places.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using jobs::BindMount;

namespace {

/// The runtime itself reads these variables, so it must not get the program's.
bool steers_the_runtime(std::string_view name) {
  constexpr std::array<std::string_view, 7> names{"HOME", "LOGNAME", "PATH",           "TMPDIR",
                                                  "USER", "SHELL",   "XDG_RUNTIME_DIR"};
  constexpr std::array<std::string_view, 9> prefixes{
      "APPTAINER", "BUILDAH_", "CONTAINER", "DBUS_", "DOCKER_", "PODMAN", "REGISTRY_", "SINGULARITY", "XDG_"};
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// The permanent names of CUDA devices. Numbers mean other devices if only some devices are visible.
bool are_lasting(const std::vector<std::string>& devices) {
  return std::all_of(devices.begin(), devices.end(), [](const std::string& device) {
    return device.starts_with("GPU-") || device.starts_with("MIG-");
  });
}

/// The program's current directory in the container.
std::string directory_inside(const ContainerPlan& plan) {
  return plan.ml.empty() ? plan.program.directory : "/ml/usercode";
}

std::vector<BindMount> mounts_of(const ContainerPlan& plan) {
  std::vector<BindMount> mounts;
  for (const std::string& path : plan.shared) {
    mounts.push_back({path, path, false});
  }
  for (const std::string& path : plan.shown) {
    mounts.push_back({path, path, true});
  }
  if (!plan.ml.empty()) {
    mounts.push_back({plan.ml, "/ml", false});
  }
  for (BindMount mount : plan.mounts) {
    if (mount.container_path.front() != '/') {
      mount.container_path = directory_inside(plan) + "/" + mount.container_path;
    }
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

const std::string* unspeakable(const std::vector<BindMount>& mounts, std::string_view letters) {
  for (const BindMount& mount : mounts) {
    for (const std::string* path : {&mount.host_path, &mount.container_path}) {
      if (path->find_first_of(letters) != std::string::npos) {
        return path;
      }
    }
  }
  return nullptr;
}

using Words = std::vector<std::string>;

Words apptainer_words(const ContainerPlan& plan, const std::vector<BindMount>& mounts) {
  // Only the requested parts of the node: no home, no current directory, no variables.
  Words words{"exec", "--cleanenv", "--no-home", "--contain", "--pwd", directory_inside(plan)};
  for (const BindMount& mount : mounts) {
    words.insert(words.end(), {"--bind", mount.host_path + ":" + mount.container_path +
                                             (mount.read_only ? ":ro" : ":rw")});
  }
  if (!plan.devices.empty()) {
    words.push_back(plan.device_kind.apptainer_option);
  }
  const bool is_place = plan.image.find("://") != std::string::npos || plan.image.front() == '/' ||
                        plan.image.ends_with(".sif");
  words.push_back(is_place ? plan.image : "docker://" + plan.image);
  return words;
}

/// Whether the runtime can pass the plan's devices into the container.
bool can_have_devices(const ContainerPlan& plan) {
  const jobs::DeviceKind& kind = plan.device_kind;
  const bool by_apptainer = plan.runtime == ContainerRuntime::apptainer;
  return plan.devices.empty() || !(by_apptainer ? kind.apptainer_option : kind.cdi_kind).empty();
}

void add_devices(const ContainerPlan& plan, Words& words) {
  const bool lasting = are_lasting(plan.devices);
  if (plan.runtime == ContainerRuntime::docker) {
    words.insert(words.end(), {"--gpus", lasting ? "\"device=" + joined(plan.devices) + "\"" : "all"});
    return;
  }
  for (const std::string& device : lasting ? plan.devices : Words{"all"}) {
    words.insert(words.end(), {"--device", plan.device_kind.cdi_kind + "=" + device});
  }
}

/// Docker's arguments. Podman's are the same.
Words docker_words(const ContainerPlan& plan, const std::vector<BindMount>& mounts) {
  Words words{"run",
              "--rm",
              "--name",
              plan.name,
              plan.pull ? "--pull=always" : "--pull=missing",
              "--network=host",
              "--ipc=host",
              "--pid=host",
              "--workdir",
              directory_inside(plan),
              "--entrypoint",
              ""};
  const std::string user = std::to_string(plan.user) + ":" + std::to_string(plan.group);
  if (plan.program.terminal) {
    words.emplace_back("--tty");
  }
  if (plan.runtime == ContainerRuntime::docker) {
    words.insert(words.end(), {"--user", user});
  } else if (plan.user == 0) {
    words.insert(words.end(), {"--user", user, "--security-opt", "label=disable"});
  } else {
    words.insert(words.end(), {"--userns=keep-id", "--security-opt", "label=disable"});
  }
  for (const BindMount& mount : mounts) {
    words.insert(words.end(), {"--mount", "type=bind,source=" + mount.host_path + ",target=" +
                                              mount.container_path + (mount.read_only ? ",readonly" : "")});
  }
  if (!plan.devices.empty()) {
    add_devices(plan, words);
  }
  for (const auto& [name, value] : plan.program.environment) {
    words.insert(words.end(), {"--env", steers_the_runtime(name) ? name + "=" + value : name});
  }
  words.push_back(plan.image);
  return words;
}

}  // namespace

std::string_view name_of(ContainerRuntime runtime) noexcept {
  return container_runtime_names[static_cast<std::size_t>(runtime)];
}

Result<ProgramStart> container_command(const ContainerPlan& plan) {
  const bool apptainer = plan.runtime == ContainerRuntime::apptainer;
  const std::vector<BindMount> mounts = mounts_of(plan);
  if (const std::string* path =
          unspeakable(mounts, apptainer ? std::string_view(",:\"\n\\") : std::string_view(",\"\n"))) {
    return Error{Errc::bad_request, "the path " + *path + " cannot be shown in a container: " +
                                        std::string(name_of(plan.runtime)) + " has no way to spell it"};
  }
  if (!can_have_devices(plan)) {
    return Error{Errc::bad_request,
                 "the slots of this worker are " + plan.device_kind.name +
                     " devices, which cannot be used in a container of " +
                     std::string(name_of(plan.runtime)) +
                     (plan.device_kind.apptainer_option.empty() ? "" : " (in one of Apptainer they can)") +
                     ". Leave environment.image out"};
  }
  ProgramStart command = plan.program;
  command.environment = plan.worker_environment;
  for (const auto& [name, value] : plan.program.environment) {
    if (apptainer) {
      command.environment["APPTAINERENV_" + name] = value;
      command.environment["SINGULARITYENV_" + name] = value;
    } else if (!steers_the_runtime(name)) {
      command.environment[name] = value;
    }
  }
  // The mark makes the runtime one of this attempt's processes.
  if (const auto mark = plan.program.environment.find(std::string(attempt_mark));
      mark != plan.program.environment.end()) {
    command.environment[mark->first] = mark->second;
  }
  if (apptainer) {
    // Without these, the runtime's start script would execute commands inside of values.
    command.environment["APPTAINER_NO_EVAL"] = "1";
    command.environment["SINGULARITY_NO_EVAL"] = "1";
  }
  command.argv = apptainer ? apptainer_words(plan, mounts) : docker_words(plan, mounts);
  command.argv.insert(command.argv.begin(), plan.runtime_file);
  command.argv.insert(command.argv.end(), plan.program.argv.begin(), plan.program.argv.end());
  return command;
}

}  // namespace hpsearch::workers
