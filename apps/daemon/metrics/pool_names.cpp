#include "daemon/metrics/pool_names.hpp"

namespace hpsearch::daemon {

PoolNames::PoolNames(const engine::Engine& engine) {
  for (const auto& [id, worker] : engine.workers()) {
    if (names_.size() == most) {
      break;
    }
    if (!worker.pool.empty()) {
      names_.insert(worker.pool);
    }
  }
}

std::string_view PoolNames::shown(std::string_view pool) const {
  const auto found = names_.find(engine::pool_named(pool));
  return found == names_.end() ? std::string_view("other") : std::string_view(*found);
}

}  // namespace hpsearch::daemon
