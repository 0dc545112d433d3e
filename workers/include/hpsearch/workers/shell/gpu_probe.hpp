#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::workers {

/// The CUDA devices this process may use, by the names CUDA_VISIBLE_DEVICES knows: those that variable lists
/// when it is set, else all there are. Empty on a machine without GPUs. No CUDA library is needed.
[[nodiscard]] std::vector<std::string> probe_gpus();

/// The pure part: `present` devices, and the value of CUDA_VISIBLE_DEVICES or nullptr.
[[nodiscard]] std::vector<std::string> usable_gpus(std::uint64_t present, const char* visible);

/// Processors this process may run on, at least 1.
[[nodiscard]] std::uint64_t usable_cores();

}  // namespace hpsearch::workers
