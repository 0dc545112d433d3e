#pragma once

#include <filesystem>

#include "hpsearch/workers/core/devices.hpp"

namespace hpsearch::workers {

/// Reads the GPUs that AMD's driver for computing (KFD) lists below `root`/sys. Their numbers are those of
/// ROCR_VISIBLE_DEVICES. Integrated graphics are left out, and have a number.
///
/// Written from the kernel's and ROCm's sources; no real GPU has been read with it.
[[nodiscard]] DeviceReport look_at_amd(const std::filesystem::path& root);

}  // namespace hpsearch::workers
