#pragma once

#include <string>

#include "hpsearch/workers/core/devices.hpp"

namespace hpsearch::workers {

/// The library of NVIDIA's driver; HPSEARCH_NVML_LIBRARY names another file.
[[nodiscard]] std::string nvml_library();

/// Loads NVML, asks it about every GPU, and unloads it. Fields that an older driver doesn't support are left
/// out.
///
/// May hang, crash or end the process if the driver is broken, so it needs its own process (DeviceWatch).
[[nodiscard]] DeviceReport ask_nvml(const std::string& library);

/// Whether the machine has device files of NVIDIA's driver, and so should have NVML.
[[nodiscard]] bool has_gpu_files();

}  // namespace hpsearch::workers
