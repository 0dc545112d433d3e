#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/contract/device_kinds.hpp"
#include "hpsearch/jobs/contract/job_contract.hpp"
#include "hpsearch/workers/core/launch/program_start.hpp"

namespace hpsearch::workers {

/// The container runtimes of a node, in order of preference.
enum class ContainerRuntime : std::uint8_t { apptainer, podman, docker };
inline constexpr std::array<std::string_view, 3> container_runtime_names = {"apptainer", "podman", "docker"};
[[nodiscard]] std::string_view name_of(ContainerRuntime runtime) noexcept;

/// A program that runs in a container. Directories that it shares with the worker have the same path inside,
/// so that paths in its variables and files are valid there.
struct ContainerPlan {
  ProgramStart program;  ///< The program as it would run without a container, with its variables inside.
  ContainerRuntime runtime{};
  std::string runtime_file;
  std::string image;
  bool pull = false;       ///< Pull the image even if the node has it.
  std::string name;        ///< Unique for this attempt.
  std::uint64_t user = 0;  ///< The owner of the files that it leaves.
  std::uint64_t group = 0;
  std::vector<std::string> shared;  ///< Readable and writable, at the same path.
  std::vector<std::string> shown;   ///< Read-only, at the same path.
  std::vector<jobs::BindMount>
      mounts;      ///< The experiment's; a relative container_path is below the directory.
  std::string ml;  ///< The directory that is mounted at /ml, or "". The program then runs in /ml/usercode.
  std::vector<std::string> devices;  ///< As devices_lent() lists them.
  jobs::DeviceKind device_kind{};
  std::map<std::string, std::string>
      worker_environment;  ///< The worker's environment, with which the runtime runs.
};

/// The command that starts the program in a container: the runtime and its arguments. The container shares
/// the network and the process table of the node. All processes of the program are found by their mark, as
/// without a container. Values of variables aren't among the arguments, which all users of the node can
/// read, except those that the runtime itself would read (PATH, HOME and the like). The worker's own
/// variables aren't passed.
///
/// bad_request, with its name: a path that the runtime's arguments can't express (commas, quotes, line ends;
/// colons for Apptainer), or devices that the runtime can't pass into a container.
[[nodiscard]] engine::Result<ProgramStart> container_command(const ContainerPlan& plan);

}  // namespace hpsearch::workers
