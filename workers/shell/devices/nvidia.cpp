#include "hpsearch/workers/shell/devices/nvidia.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace hpsearch::workers {

namespace {

// --- the used part of NVML's interface, from its reference manual ---

using Code = int;               // nvmlReturn_t
using Handle = struct Opaque*;  // nvmlDevice_t
constexpr Code nvml_success = 0;
constexpr Code nvml_insufficient_size = 7;
constexpr Code nvml_driver_not_loaded = 9;
constexpr Code nvml_gpu_is_lost = 15;
constexpr Code nvml_reset_required = 16;
constexpr unsigned compute_prohibited = 2;
constexpr unsigned compute_exclusive = 3;

struct Memory {  // nvmlMemory_t
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct Utilization {  // nvmlUtilization_t, in percent
  unsigned gpu = 0;
  unsigned memory = 0;
};
struct PciInfo {  // nvmlPciInfo_t since version 3
  std::array<char, 16> bus_id_legacy;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  std::array<char, 32> bus_id;
};
struct ProcessV1 {  // nvmlProcessInfo_v1_t
  unsigned pid;
  unsigned long long memory;
};
struct ProcessV2 {  // nvmlProcessInfo_v2_t, also for calls that end in _v3
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

/// The library, and calls by name. A missing symbol or an unsupported call gives nothing.
class Library {
 public:
  explicit Library(const std::string& file) : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      const char* why = ::dlerror();
      problem_ = why != nullptr ? why : "it cannot be loaded";
    }
  }
  ~Library() {
    if (handle_ != nullptr) {
      ::dlclose(handle_);
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  template <class... Arguments>
  [[nodiscard]] std::optional<Code> call(const char* name, Arguments... arguments) const {
    // The only way from dlsym's void* to a function.
    const auto function = reinterpret_cast<Code (*)(Arguments...)>(::dlsym(handle_, name));
    return function == nullptr ? std::nullopt : std::optional(function(arguments...));
  }
  template <class... Arguments>
  [[nodiscard]] bool does(const char* name, Arguments... arguments) const {
    return call(name, arguments...) == nvml_success;
  }

  [[nodiscard]] std::string text_of(Code code) const {
    const auto function = reinterpret_cast<const char* (*)(Code)>(::dlsym(handle_, "nvmlErrorString"));
    const char* text = function == nullptr ? nullptr : function(code);
    return text == nullptr ? "NVML error " + std::to_string(code) : text;
  }

 private:
  void* handle_;
  std::string problem_;
};

template <std::size_t size>
std::string text_in(const std::array<char, size>& held) {
  return {held.data(), ::strnlen(held.data(), size)};
}

std::string text_by(const Library& nvml, const char* name, Handle handle) {
  std::array<char, 96> held{};
  return nvml.does(name, handle, held.data(), static_cast<unsigned>(held.size())) ? text_in(held) : "";
}

template <class Process>
bool add_processes(const Library& nvml, const char* name, Handle handle, Device& device) {
  std::vector<Process> held(64);
  for (int tries = 0; tries < 4; ++tries) {
    auto count = static_cast<unsigned>(held.size());
    const std::optional<Code> code = nvml.call(name, handle, &count, held.data());
    if (code == nvml_insufficient_size) {
      held.resize(static_cast<std::size_t>(count) + held.size());  // More processes may start meanwhile.
      continue;
    }
    if (code != nvml_success) {
      return code.has_value();  // The field is supported, and the driver has no value.
    }
    for (unsigned i = 0; i < std::min<std::size_t>(count, held.size()); ++i) {
      const std::int64_t pid = held[i].pid;
      const bool known = std::any_of(device.processes.begin(), device.processes.end(),
                                     [pid](const DeviceProcess& process) { return process.pid == pid; });
      const bool has_memory = held[i].memory != std::numeric_limits<unsigned long long>::max();
      if (!known) {
        device.processes.push_back({pid, has_memory ? held[i].memory : 0});
      }
    }
    return true;
  }
  return true;
}

/// Reads processes with their own context, and those that compute through the MPS server.
void read_processes(const Library& nvml, Handle handle, Device& device) {
  for (const std::string& name : {std::string("nvmlDeviceGetComputeRunningProcesses"),
                                  std::string("nvmlDeviceGetMPSComputeRunningProcesses")}) {
    const bool newer = add_processes<ProcessV2>(nvml, (name + "_v3").c_str(), handle, device) ||
                       add_processes<ProcessV2>(nvml, (name + "_v2").c_str(), handle, device);
    if (!newer) {
      add_processes<ProcessV1>(nvml, name.c_str(), handle, device);
    }
  }
}

void add(std::string& text, const std::string& sentence) {
  text += (text.empty() ? "" : "; ") + sentence;
}

void read_memory(const Library& nvml, Handle handle, Device& device) {
  Memory memory{};
  const std::optional<Code> code = nvml.call("nvmlDeviceGetMemoryInfo", handle, &memory);
  if (code == nvml_success) {
    device.memory_bytes = memory.total;
    device.free_bytes = memory.free;
  } else if (code == nvml_gpu_is_lost) {
    add(device.trouble, "is lost: it fell off the bus, or the driver gave it up");
  } else if (code == nvml_reset_required) {
    add(device.trouble, "needs a reset before it computes again");
  }
}

void read_health(const Library& nvml, Handle handle, Device& device) {
  constexpr int uncorrected = 1;
  constexpr int since_the_driver_was_loaded = 0;
  unsigned long long errors = 0;
  if (nvml.does("nvmlDeviceGetTotalEccErrors", handle, uncorrected, since_the_driver_was_loaded, &errors) &&
      errors > 0) {
    add(device.trouble,
        "has " + std::to_string(errors) +
            " uncorrectable memory errors (ECC) since the driver was loaded; a reset clears them");
  }
  unsigned corrected = 0;
  unsigned uncorrectable = 0;
  unsigned pending = 0;
  unsigned failed = 0;
  if (nvml.does("nvmlDeviceGetRemappedRows", handle, &corrected, &uncorrectable, &pending, &failed)) {
    if (failed != 0) {
      add(device.trouble, "could not replace a broken row of its memory");
    }
    if (pending != 0) {
      add(device.remark, "replaces a broken row of its memory at the next reset");
    }
  }
  unsigned pages_pending = 0;
  if (nvml.does("nvmlDeviceGetRetiredPagesPendingStatus", handle, &pages_pending) && pages_pending != 0) {
    add(device.remark, "retires a page of its memory at the next reset");
  }
  unsigned degrees = 0;
  constexpr int of_the_chip = 0;
  if (nvml.does("nvmlDeviceGetTemperature", handle, of_the_chip, &degrees)) {
    device.temperature = degrees;
  }
  Utilization utilization;
  if (nvml.does("nvmlDeviceGetUtilizationRates", handle, &utilization)) {
    device.utilization = utilization.gpu;
  }
  unsigned mode = 0;
  if (nvml.does("nvmlDeviceGetComputeMode", handle, &mode)) {
    if (mode == compute_prohibited) {
      add(device.trouble, "is in compute mode PROHIBITED: no program may use it");
    } else if (mode == compute_exclusive) {
      add(device.remark, "is in compute mode EXCLUSIVE_PROCESS: programs can share it through MPS only");
    }
  }
}

/// Adds the instances of a GPU in MIG mode after it.
void read_instances(const Library& nvml, Handle handle, const Device& gpu, std::vector<Device>& devices) {
  unsigned most = 0;
  if (!nvml.does("nvmlDeviceGetMaxMigDeviceCount", handle, &most)) {
    return;
  }
  for (unsigned i = 0; i < most; ++i) {
    Handle instance = nullptr;
    if (!nvml.does("nvmlDeviceGetMigDeviceHandleByIndex", handle, i, &instance)) {
      continue;  // Unused places for instances.
    }
    Device device;
    device.uuid = text_by(nvml, "nvmlDeviceGetUUID", instance);
    device.name = text_by(nvml, "nvmlDeviceGetName", instance);
    device.selector = device.uuid;  // CUDA knows an instance by its UUID only.
    device.index = gpu.index;
    device.trouble = gpu.trouble;
    device.remark = gpu.remark;
    device.temperature = gpu.temperature;
    read_memory(nvml, instance, device);
    read_processes(nvml, instance, device);
    if (!device.uuid.empty()) {
      devices.push_back(std::move(device));
    }
  }
}

struct Found {
  Handle handle = nullptr;
  unsigned listed = 0;  ///< Its index in NVML's list.
  std::tuple<unsigned, unsigned, unsigned> bus{};
};

/// All GPUs that answer, in the order of the PCI bus, which CUDA uses.
std::vector<Found> find_gpus(const Library& nvml, unsigned count, DeviceReport& report) {
  std::vector<Found> gpus;
  bool all_placed = true;
  for (unsigned i = 0; i < count; ++i) {
    Found gpu{.listed = i};
    const std::optional<Code> code = nvml.call("nvmlDeviceGetHandleByIndex_v2", i, &gpu.handle);
    if (code != nvml_success) {
      report.unknown.push_back("number " + std::to_string(i) + " of the driver's list does not answer: " +
                               (code ? nvml.text_of(*code) : "it does not know the question"));
      continue;
    }
    PciInfo pci{};
    if (nvml.does("nvmlDeviceGetPciInfo_v3", gpu.handle, &pci)) {
      gpu.bus = {pci.domain, pci.bus, pci.device};
    } else {
      all_placed = false;
    }
    gpus.push_back(gpu);
  }
  if (all_placed && report.unknown.empty()) {
    std::sort(gpus.begin(), gpus.end(), [](const Found& a, const Found& b) { return a.bus < b.bus; });
    for (unsigned i = 0; i < gpus.size(); ++i) {
      gpus[i].listed = i;
    }
  }
  return gpus;
}

void read_gpus(const Library& nvml, DeviceReport& report) {
  std::array<char, 80> version{};
  if (nvml.does("nvmlSystemGetDriverVersion", version.data(), static_cast<unsigned>(version.size()))) {
    report.driver = text_in(version);
  }
  unsigned count = 0;
  const std::optional<Code> counted = nvml.call("nvmlDeviceGetCount_v2", &count);
  if (counted != nvml_success) {
    report.problem =
        "NVML does not count the GPUs: " + (counted ? nvml.text_of(*counted) : "the driver is too old");
    return;
  }
  for (const Found& gpu : find_gpus(nvml, count, report)) {
    Device device;
    device.index = gpu.listed;
    device.selector = std::to_string(device.index);
    device.uuid = text_by(nvml, "nvmlDeviceGetUUID", gpu.handle);
    device.name = text_by(nvml, "nvmlDeviceGetName", gpu.handle);
    read_memory(nvml, gpu.handle, device);
    read_health(nvml, gpu.handle, device);
    if (device.uuid.empty()) {
      report.unknown.push_back("GPU " + std::to_string(device.index) + " does not tell its UUID" +
                               (device.trouble.empty() ? "" : " and " + device.trouble));
      continue;
    }
    unsigned mig = 0;
    unsigned mig_later = 0;
    device.whole_in_mig_mode = nvml.does("nvmlDeviceGetMigMode", gpu.handle, &mig, &mig_later) && mig != 0;
    if (!device.whole_in_mig_mode) {
      read_processes(nvml, gpu.handle, device);
    }
    report.devices.push_back(device);
    if (device.whole_in_mig_mode) {
      read_instances(nvml, gpu.handle, device, report.devices);
    }
  }
}

}  // namespace

std::string nvml_library() {
  const char* named = std::getenv("HPSEARCH_NVML_LIBRARY");
  return named != nullptr && *named != '\0' ? named : "libnvidia-ml.so.1";
}

DeviceReport ask_nvml(const std::string& library) {
  DeviceReport report;
  const Library nvml(library);
  if (!nvml.problem().empty()) {
    report.problem = "NVML cannot be loaded: " + nvml.problem();
    return report;
  }
  const std::optional<Code> begun = nvml.call("nvmlInit_v2");
  if (begun == nvml_driver_not_loaded) {
    report.problem = "the driver is not loaded";
  } else if (begun != nvml_success) {
    report.problem = "NVML does not begin: " + (begun ? nvml.text_of(*begun) : library + " is no NVML");
  } else {
    read_gpus(nvml, report);
    static_cast<void>(nvml.call("nvmlShutdown"));
  }
  return report;
}

}  // namespace hpsearch::workers
