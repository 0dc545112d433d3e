#pragma once

#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/contract/device_kinds.hpp"
#include "hpsearch/workers/core/devices.hpp"

namespace hpsearch::workers {

/// Devices that no driver lists: their operator names them, and the variable that programs read.
struct GenericDevices {
  jobs::DeviceKind kind;
  DeviceReport report;  ///< Nothing is known of a device but its name.
};

/// From "a,b,c" (--devices) and a variable's name (--device-env). bad_request: one of them is missing or
/// wrong.
[[nodiscard]] engine::Result<GenericDevices> generic_devices(const std::string& names,
                                                             const std::string& variable);

}  // namespace hpsearch::workers
