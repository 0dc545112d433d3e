#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/jobs/launch/launch_spec.hpp"

namespace hpsearch::workers {

/// The variable with the places of the harnesses of an attempt on several workers: {"addresses": [by rank],
/// "rank", "ports": [of PyTorch's store, and two for the harness]}, the ports on rank 0's machine.
inline constexpr const char* harness_nodes_variable = "HPSEARCH_HARNESS_NODES";

/// These ports: the attempt's own, and one in each of two ranges of the same size below it.
[[nodiscard]] std::vector<std::uint64_t> harness_ports(const jobs::LaunchSpec& spec);

/// Whether the program is written for the Determined harness. Then hpsearch-determined is the program of its
/// launch, and starts the harness, which starts the trial's own entrypoint.
[[nodiscard]] bool needs_determined_harness(const jobs::LaunchSpec& spec);

}  // namespace hpsearch::workers
