#pragma once

#include <string>
#include <string_view>

#include "hpsearch/workers/core/devices.hpp"

namespace hpsearch::workers {

/// The program of Ascend's driver; HPSEARCH_NPU_SMI names another file.
[[nodiscard]] std::string npu_smi();

/// Asks the program about every NPU.
[[nodiscard]] DeviceReport ask_npu_smi(const std::string& program);

/// Reads the texts that `npu-smi info -m` and `npu-smi info` print. The first lists the NPUs; the second adds
/// what it shows of each, and may be empty.
///
/// Written from published outputs of several versions; no real NPU has been read with it.
[[nodiscard]] DeviceReport npus_in(std::string_view mapping, std::string_view table);

}  // namespace hpsearch::workers
