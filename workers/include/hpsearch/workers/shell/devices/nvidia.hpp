#pragma once

#include <string>

#include "hpsearch/workers/core/devices.hpp"

namespace hpsearch::workers {

/// The library of NVIDIA's driver; HPSEARCH_NVML_LIBRARY names another file.
[[nodiscard]] std::string nvml_library();

/// Loads NVML, asks it about every GPU, and unloads it. Fields that an older driver doesn't support are left
/// out.
[[nodiscard]] DeviceReport ask_nvml(const std::string& library);

}  // namespace hpsearch::workers
