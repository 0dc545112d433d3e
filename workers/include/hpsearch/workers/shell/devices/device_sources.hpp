#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hpsearch/workers/core/devices.hpp"

namespace hpsearch::workers {

/// The root of /dev and /sys; HPSEARCH_DEVICE_ROOT names another directory, for tests.
[[nodiscard]] std::filesystem::path device_root();

/// The devices of the kind with this name. For "" those of the only kind that the machine has; if it has
/// several, DeviceReport::ambiguous names them.
///
/// May hang, crash or end the process if a driver is broken, so it needs its own process (DeviceWatch).
[[nodiscard]] DeviceReport look_at_devices(std::string_view kind);

/// Whether the machine has device files of this kind, and so should have a driver that answers.
[[nodiscard]] bool has_device_files(std::string_view kind);

}  // namespace hpsearch::workers
