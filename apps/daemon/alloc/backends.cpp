#include "daemon/alloc/backend.hpp"
#include "daemon/alloc/programs.hpp"
#include "daemon/alloc/slurm.hpp"

namespace hpsearch::daemon {

std::unique_ptr<Backend> backend_named(const std::string& name, std::uint64_t cluster) {
  if (name == "slurm") {
    return std::make_unique<Slurm>(cluster);
  }
  return std::make_unique<Programs>(name, cluster);
}

}  // namespace hpsearch::daemon
