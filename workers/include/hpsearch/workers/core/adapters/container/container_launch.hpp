#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/contract/job_contract.hpp"
#include "hpsearch/workers/core/launch/program_start.hpp"

namespace hpsearch::workers {

/// The container runtimes of a node, in the order in which they are looked for.
enum class ContainerRuntime : std::uint8_t { apptainer, podman, docker };
inline constexpr std::array<std::string_view, 3> container_runtime_names = {"apptainer", "podman", "docker"};
[[nodiscard]] std::string_view name_of(ContainerRuntime runtime) noexcept;

/// A program that is to run in a container. Places that it shares with the worker have the same path inside,
/// so that what its variables and files say is true there too.
struct ContainerPlan {
  ProgramStart program;  ///< As it would run without a container, with the variables that it gets inside.
  ContainerRuntime runtime{};
  std::string runtime_file;
  std::string image;
  bool pull = false;       ///< Fetch the image anew.
  std::string name;        ///< Unique for this attempt.
  std::uint64_t user = 0;  ///< Whose the files are that it leaves.
  std::uint64_t group = 0;
  std::vector<std::string> shared;  ///< Read and written, at the same path.
  std::vector<std::string> shown;   ///< Only read, at the same path.
  std::vector<jobs::BindMount>
      mounts;      ///< The experiment's; a relative container_path is below the directory.
  std::string ml;  ///< The directory that is mounted at /ml, or "". The program then runs in /ml/usercode.
  std::vector<std::string> devices;  ///< Its GPUs, by CUDA's names.
  std::map<std::string, std::string>
      worker_environment;  ///< The worker's: what the runtime itself runs with.
};

/// The command that is started instead: the runtime, which runs the plan's program in its container, in the
/// network and the process table of the node. All processes of the program are found by their mark, as
/// without a container. Values of variables never stand among the arguments, which everybody on the node can
/// read, but for those that the runtime itself would read (PATH, HOME and the like). The worker's own
/// variables do not enter.
///
/// bad_request, naming it: a path that the runtime's arguments cannot spell (commas, quotes, line ends;
/// colons for Apptainer).
[[nodiscard]] engine::Result<ProgramStart> container_command(const ContainerPlan& plan);

}  // namespace hpsearch::workers
