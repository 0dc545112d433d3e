#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/cluster/faults/faults.hpp"
#include "simulation/cluster/faults/liar.hpp"
#include "simulation/cluster/nodes/daemon_node.hpp"
#include "simulation/cluster/nodes/network.hpp"
#include "simulation/cluster/nodes/stranger.hpp"
#include "simulation/cluster/nodes/users.hpp"
#include "simulation/cluster/nodes/worker_node.hpp"
#include "simulation/cluster/promises.hpp"

namespace hpsearch::simulation {

/// What a run is to be like.
struct RunOptions {
  std::uint64_t seed = 1;
  double hours = 0;                                   ///< Of the first phase; 0: drawn from the seed.
  std::vector<std::pair<std::string, double>> rates;  ///< Instead of those drawn from the seed.
  std::optional<StoreKind> store;                     ///< nullopt: drawn from the seed.
  bool trace = false;                                 ///< Write what happens to stderr.
};

/// What came of it.
struct RunResult {
  std::string broken;  ///< The first promise that was, or "".
  std::uint64_t digest = 0;
  double simulated_hours = 0;
  std::uint64_t happened = 0;
  std::uint64_t events = 0;
  std::uint64_t frames = 0;
  std::array<std::uint64_t, fault_count> faults{};
  std::map<std::string, std::uint64_t> kinds;
  std::string options;
};

/// A whole cluster from one seed: first everything goes wrong that may and nothing promised is broken; then
/// everything heals and every search must end within a bounded time.
///
/// The result is a function of the options alone. bad_request: an option that does not exist.
[[nodiscard]] engine::Result<RunResult> run_cluster(const RunOptions& options);

/// The command line that runs the same life again.
[[nodiscard]] std::string replay_command(const RunOptions& options);

}  // namespace hpsearch::simulation
