#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/contract/job_contract.hpp"

namespace hpsearch::workers {

/// Where programs written for PAI expect their tree.
inline constexpr std::string_view ml_mount_point = "/ml";

/// Whether this process may give a program mounts of its own: it is root with the right to mount. Asks the
/// kernel once; later answers are that one.
[[nodiscard]] bool can_mount();

/// Whether this process may give a program a /ml of its own: it is root with the right to mount, and /ml is
/// there or can be made. Asks the kernel once; later answers are that one.
[[nodiscard]] bool can_mount_ml();

/// A command that runs `argv` in a mount namespace of its own, in which /ml is the directory `tree` and the
/// current directory is /ml/usercode. Nobody else sees that mount, and it ends with the program.
[[nodiscard]] std::vector<std::string> under_ml(const std::string& tree, std::vector<std::string> argv);

/// A root for one program alone, which has places that the machine's lacks (missing_place.hpp).
struct OwnRoot {
  std::string root;              ///< A directory over which it can be mounted; "" = no place is missing.
  std::set<std::string> levels;  ///< The directories that lack one.
};

/// A command that runs `argv` in a mount namespace of its own, in which every container_path is its
/// host_path. Nobody else sees these mounts, and they end with the program. Nothing can be written in remade
/// levels themselves, where it would be lost.
[[nodiscard]] std::vector<std::string> under_mounts(const std::vector<jobs::BindMount>& mounts,
                                                    const OwnRoot& own, std::vector<std::string> argv);

}  // namespace hpsearch::workers
