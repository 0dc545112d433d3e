#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/launch_spec.hpp"
#include "hpsearch/workers/core/launch_environment.hpp"

namespace hpsearch::workers {

/// In which an attempt on several workers says where its harnesses are: {"addresses": [by rank], "rank",
/// "ports": [of PyTorch's store, and two for the harness itself]}, the ports on rank 0's machine.
inline constexpr const char* harness_nodes_variable = "HPSEARCH_HARNESS_NODES";

/// Those: the attempt's own and one of each range of as many ports below it.
[[nodiscard]] std::vector<std::uint64_t> harness_ports(const jobs::LaunchSpec& spec);

/// The trial's program is written for the Determined harness; hpsearch-determined runs it.
[[nodiscard]] bool needs_determined_harness(const jobs::LaunchSpec& spec);

/// Makes hpsearch-determined the program of a planned launch: it then starts the harness, and the harness
/// the trial's own entrypoint. bad_request: this machine has no hpsearch-determined, or the experiment that
/// came along is unreadable.
[[nodiscard]] engine::Status launch_in_determined_harness(const jobs::LaunchSpec& spec,
                                                          const AttemptPlaces& places,
                                                          const LentMachine& machine, Launch& launch);

}  // namespace hpsearch::workers
