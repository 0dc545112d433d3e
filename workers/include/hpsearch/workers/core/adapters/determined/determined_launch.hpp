#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/jobs/launch/launch_spec.hpp"

namespace hpsearch::workers {

/// In which an attempt on several workers says where its harnesses are: {"addresses": [by rank], "rank",
/// "ports": [of PyTorch's store, and two for the harness itself]}, the ports on rank 0's machine.
inline constexpr const char* harness_nodes_variable = "HPSEARCH_HARNESS_NODES";

/// Those: the attempt's own and one of each range of as many ports below it.
[[nodiscard]] std::vector<std::uint64_t> harness_ports(const jobs::LaunchSpec& spec);

/// The trial's program is written for the Determined harness. hpsearch-determined then is the program of its
/// launch, and starts the harness, which starts the trial's own entrypoint.
[[nodiscard]] bool needs_determined_harness(const jobs::LaunchSpec& spec);

}  // namespace hpsearch::workers
