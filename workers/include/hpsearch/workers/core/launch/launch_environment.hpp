#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/contract/device_kinds.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/attempt_places.hpp"
#include "hpsearch/workers/core/launch/program_start.hpp"
#include "hpsearch/workers/core/launch/run_as.hpp"

namespace hpsearch::workers {

/// The resources of the worker's machine for programs.
struct LentMachine {
  std::uint64_t slots = 1;
  std::uint64_t cores = 1;
  std::vector<std::string>
      devices;  ///< Names in the kind's variable, by slot; empty if slots are shares of the processors.
  std::map<std::string, std::string> environment;  ///< The worker's own, from its start.
  std::string determined_host = {};   ///< The path of hpsearch-determined; "" = it isn't installed.
  std::string ranks_host = {};        ///< The path of hpsearch-ranks.
  jobs::DeviceKind device_kind = {};  ///< The kind of `devices`.
  RunAs run_as = {};
  bool is_lent_for_a_while = false;          ///< By an allocation: no program may outlive the worker there.
  std::vector<std::string> slot_files = {};  ///< By slot: its file in the slot table; empty: it is in none.
};

/// A program to start, and the files that it reads.
struct Launch {
  ProgramStart program;                      ///< argv is never empty. workers/shell sets the token.
  std::map<std::string, std::string> files;  ///< params_file_name or config_file() → text.
};

/// Paths of these files below the attempt's directory: the parameters file, and the files of PAI_CONFIG_DIR.
inline constexpr std::string_view params_file_name = "params.json";
inline constexpr std::string_view config_directory_name = "ml/input/config";
[[nodiscard]] inline std::string config_file(std::string_view name) {
  return std::string(config_directory_name) + "/" + std::string(name);
}

/// Whether a variable with this name identifies a program. Programs don't get the worker's own values: the
/// worker may be a job of another system.
[[nodiscard]] bool is_identity_variable(std::string_view name) noexcept;

/// The devices of the lease's slots, as in LentMachine; none if slots are shares of the processors.
[[nodiscard]] std::vector<std::string> devices_lent(const jobs::LaunchSpec& spec, const LentMachine& machine);

/// Turns a lease into argv, environment and files. Of several values the last wins: the worker's own
/// environment (without variables that identify a program), thread counts, the experiment's variables, the
/// job contract's (docs/job-contract.md): hpsearch's own, those of other platforms in the order of
/// core/adapters/adapters.cpp, and the slots.
///
/// bad_request: an entrypoint that is empty or has an unknown placeholder; an argument or a
/// variable that is too long for the kernel.
[[nodiscard]] engine::Result<Launch> plan_launch(const jobs::LaunchSpec& spec, const AttemptPlaces& places,
                                                 const LentMachine& machine);

}  // namespace hpsearch::workers
