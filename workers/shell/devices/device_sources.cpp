#include "hpsearch/workers/shell/devices/device_sources.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "hpsearch/workers/shell/devices/amd.hpp"
#include "hpsearch/workers/shell/devices/ascend.hpp"
#include "hpsearch/workers/shell/devices/nvidia.hpp"

namespace hpsearch::workers {

namespace {

namespace fs = std::filesystem;

/// How the devices of one kind are found. Each kind has a source file of its own.
struct DeviceSource {
  std::string_view kind;   ///< The name of a jobs::DeviceKind.
  std::string_view files;  ///< Device files have this name in /dev, with a number; "": they say nothing.
  DeviceReport (*look)();
};

// Display drivers make /dev/kfd on machines that never compute with it.
constexpr DeviceSource sources[] = {
    {"nvidia", "nvidia", [] { return ask_nvml(nvml_library()); }},
    {"amd", "", [] { return look_at_amd(device_root()); }},
    {"ascend", "davinci", [] { return ask_npu_smi(npu_smi()); }},
};

bool is_numbered(const std::string& name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

fs::path device_root() {
  const char* named = std::getenv("HPSEARCH_DEVICE_ROOT");
  return named != nullptr && *named != '\0' ? named : "/";
}

DeviceReport look_at_devices(std::string_view kind) {
  DeviceReport none;
  std::vector<DeviceReport> found;
  for (const DeviceSource& source : sources) {
    if (!kind.empty() && kind != source.kind) {
      continue;
    }
    const bool has_files = has_device_files(source.kind);
    DeviceReport report = source.look();
    report.kind = source.kind;
    if (!kind.empty()) {
      return report;
    }
    if (!report.devices.empty() || has_files) {
      found.push_back(std::move(report));
      continue;
    }
    none.unknown.insert(none.unknown.end(), report.unknown.begin(), report.unknown.end());
    none.problem += (none.problem.empty() ? "" : "; ") + report.kind + ": " +
                    (report.problem.empty() ? "the driver lists no device" : report.problem);
  }
  if (found.size() == 1) {
    return std::move(found.front());
  }
  for (const DeviceReport& report : found) {
    none.ambiguous.push_back(report.kind);
  }
  return none;
}

bool has_device_files(std::string_view kind) {
  const auto* source = std::find_if(std::begin(sources), std::end(sources),
                                    [&](const DeviceSource& one) { return one.kind == kind; });
  if (source == std::end(sources) || source->files.empty()) {
    return false;
  }
  std::error_code error;
  for (fs::directory_iterator at(device_root() / "dev", error), end; !error && at != end;
       at.increment(error)) {
    if (is_numbered(at->path().filename().string(), source->files)) {
      return true;
    }
  }
  return false;
}

}  // namespace hpsearch::workers
