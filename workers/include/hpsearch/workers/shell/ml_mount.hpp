#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/contract/job_contract.hpp"

namespace hpsearch::workers {

/// The path at which programs written for PAI expect their tree.
inline constexpr std::string_view ml_mount_point = "/ml";

/// Whether this process may give a program its own mounts: it is root with the right to mount. Asks the
/// kernel once and keeps the answer.
[[nodiscard]] bool can_mount();

/// Whether this process may give a program its own /ml: it is root with the right to mount, and /ml
/// exists or can be made. Asks the kernel once and keeps the answer.
[[nodiscard]] bool can_mount_ml();

/// A command that runs `argv` in its own mount namespace, in which /ml is the directory `tree` and the
/// current directory is /ml/usercode. No other process sees that mount, and it ends with the program.
[[nodiscard]] std::vector<std::string> under_ml(const std::string& tree, std::vector<std::string> argv);

/// A private root for one program, with directories that the machine's lacks (missing_place.hpp).
struct OwnRoot {
  std::string root;              ///< A directory on which it can be mounted; "" = nothing is missing.
  std::set<std::string> levels;  ///< The directories that lack one.
};

/// A command that runs `argv` in its own mount namespace, in which every container_path is its
/// host_path. No other process sees these mounts, and they end with the program. The remade directories
/// themselves are read-only, because files there would be lost.
[[nodiscard]] std::vector<std::string> under_mounts(const std::vector<jobs::BindMount>& mounts,
                                                    const OwnRoot& own, std::vector<std::string> argv);

}  // namespace hpsearch::workers
