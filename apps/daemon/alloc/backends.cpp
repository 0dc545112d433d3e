#include <algorithm>
#include <string_view>

#include "daemon/alloc/backend.hpp"
#include "daemon/alloc/kubernetes.hpp"
#include "daemon/alloc/programs.hpp"
#include "daemon/alloc/slurm.hpp"

namespace hpsearch::daemon {

std::unique_ptr<Backend> backend_named(const std::string& name, std::uint64_t cluster) {
  if (name == "slurm") {
    return std::make_unique<Slurm>(cluster);
  }
  constexpr std::string_view kubernetes = "kubernetes";
  if (name == kubernetes || name.starts_with("kubernetes/")) {
    return std::make_unique<Kubernetes>(name.substr(std::min(name.size(), kubernetes.size() + 1)), cluster);
  }
  return std::make_unique<Programs>(name, cluster);
}

}  // namespace hpsearch::daemon
