// A driver's library for tests. Its answers are in the file that FAKE_NVML names, read at each
// nvmlInit_v2: one line per GPU of words NAME=VALUE (uuid, name, bus, memory and free in MiB, ecc,
// failed_rows, mode, mig, and for each process of it process=PID:MiB), in the order in which the driver lists
// them; lost=1 makes its handle fail. A line `init=CODE` makes nvmlInit_v2 fail, `hang=1` makes it never
// return, `crash=1` ends the process.
//
// With FAKE_NVML_OLD it is one of an older driver: without the newer symbols.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct FakeProcess {
  unsigned pid = 0;
  unsigned long long memory = 0;
};
struct FakeGpu {
  std::string uuid;
  std::string name = "Fake GPU";
  unsigned bus = 0;
  unsigned long long memory = 1000;
  unsigned long long free = 1000;
  unsigned long long ecc = 0;
  unsigned failed_rows = 0;
  unsigned mode = 0;
  bool lost = false;
  std::vector<std::string> instances;
  std::vector<FakeProcess> processes;
};

constexpr unsigned long long mebibyte = 1024ULL * 1024;
constexpr int success = 0;
constexpr int not_supported = 3;
constexpr int insufficient_size = 7;
constexpr int is_lost = 15;
std::vector<FakeGpu> gpus;

int read_file() {
  gpus.clear();
  const char* file = std::getenv("FAKE_NVML");
  if (file != nullptr) {
    std::ofstream(std::string(file) + ".asked", std::ios::app)
        << '.';  // So that tests can see that they were reached.
  }
  std::ifstream in(file != nullptr ? file : "");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    FakeGpu gpu;
    for (std::string word; words >> word;) {
      const std::string name = word.substr(0, word.find('='));
      const std::string value = word.substr(word.find('=') + 1);
      if (name == "init") {
        return std::stoi(value);
      }
      if (name == "crash") {
        std::abort();
      }
      while (name == "hang") {
        ::pause();
      }
      if (name == "uuid")
        gpu.uuid = value;
      if (name == "name")
        gpu.name = value;
      if (name == "bus")
        gpu.bus = static_cast<unsigned>(std::stoul(value));
      if (name == "memory")
        gpu.memory = std::stoull(value);
      if (name == "free")
        gpu.free = std::stoull(value);
      if (name == "ecc")
        gpu.ecc = std::stoull(value);
      if (name == "failed_rows")
        gpu.failed_rows = static_cast<unsigned>(std::stoul(value));
      if (name == "mode")
        gpu.mode = static_cast<unsigned>(std::stoul(value));
      if (name == "lost")
        gpu.lost = value == "1";
      if (name == "mig")
        gpu.instances.push_back(value);
      if (name == "process") {
        gpu.processes.push_back(
            {static_cast<unsigned>(std::stoul(value)), std::stoull(value.substr(value.find(':') + 1))});
      }
    }
    gpus.push_back(gpu);
  }
  return success;
}

struct Memory {
  unsigned long long total, free, used;
};
struct Pci {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct ProcessV1 {
  unsigned pid;
  unsigned long long memory;
};
struct ProcessV2 {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

// Handles are indices in the list, from 1; those of instances are 1000 × the GPU's plus their own.
using Handle = std::size_t;
FakeGpu& gpu_of(Handle handle) {
  return gpus.at((handle >= 1000 ? handle / 1000 : handle) - 1);
}

int put(const std::string& text, char* to, unsigned size) {
  std::snprintf(to, size, "%s", text.c_str());
  return success;
}

template <class Process>
int put_processes(Handle handle, unsigned* count, Process* to) {
  const std::vector<FakeProcess>& all = gpu_of(handle).processes;
  const unsigned room = *count;
  *count = static_cast<unsigned>(all.size());
  if (room < all.size()) {
    return insufficient_size;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    to[i] = Process{};
    to[i].pid = all[i].pid;
    to[i].memory = all[i].memory * mebibyte;
  }
  return success;
}

}  // namespace

extern "C" {

const char* nvmlErrorString(int code) {
  return code == is_lost ? "GPU is lost" : "fake error";
}
int nvmlInit_v2() {
  return read_file();
}
int nvmlShutdown() {
  return success;
}
int nvmlSystemGetDriverVersion(char* to, unsigned size) {
  return put("550.00", to, size);
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(gpus.size());
  return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* handle) {
  if (gpus.at(index).lost) {
    return is_lost;
  }
  *handle = index + 1;
  return success;
}
int nvmlDeviceGetUUID(Handle handle, char* to, unsigned size) {
  const FakeGpu& gpu = gpu_of(handle);
  return put(handle >= 1000 ? gpu.instances.at(handle % 1000) : gpu.uuid, to, size);
}
int nvmlDeviceGetName(Handle handle, char* to, unsigned size) {
  return put(gpu_of(handle).name, to, size);
}
int nvmlDeviceGetMemoryInfo(Handle handle, Memory* memory) {
  const FakeGpu& gpu = gpu_of(handle);
  *memory = {gpu.memory * mebibyte, gpu.free * mebibyte, (gpu.memory - gpu.free) * mebibyte};
  return success;
}
#ifdef FAKE_NVML_OLD
int nvmlDeviceGetComputeRunningProcesses(Handle handle, unsigned* count, ProcessV1* to) {
  return put_processes(handle, count, to);
}
#else
int nvmlDeviceGetComputeRunningProcesses_v3(Handle handle, unsigned* count, ProcessV2* to) {
  return put_processes(handle, count, to);
}
int nvmlDeviceGetPciInfo_v3(Handle handle, Pci* pci) {
  *pci = Pci{};
  pci->bus = gpu_of(handle).bus;
  return success;
}
int nvmlDeviceGetTotalEccErrors(Handle handle, int type, int counter, unsigned long long* errors) {
  *errors = type == 1 && counter == 0 ? gpu_of(handle).ecc : 0;
  return success;
}
int nvmlDeviceGetRemappedRows(Handle handle, unsigned* corrected, unsigned* uncorrectable, unsigned* pending,
                              unsigned* failed) {
  *corrected = *uncorrectable = *pending = 0;
  *failed = gpu_of(handle).failed_rows;
  return success;
}
int nvmlDeviceGetTemperature(Handle, int, unsigned* degrees) {
  *degrees = 41;
  return success;
}
int nvmlDeviceGetUtilizationRates(Handle, unsigned* gpu_and_memory) {
  gpu_and_memory[0] = 25;
  gpu_and_memory[1] = 10;
  return success;
}
int nvmlDeviceGetComputeMode(Handle handle, unsigned* mode) {
  *mode = gpu_of(handle).mode;
  return success;
}
int nvmlDeviceGetMigMode(Handle handle, unsigned* now, unsigned* later) {
  *now = *later = gpu_of(handle).instances.empty() ? 0 : 1;
  return gpu_of(handle).instances.empty() ? not_supported : success;
}
int nvmlDeviceGetMaxMigDeviceCount(Handle, unsigned* count) {
  *count = 7;
  return success;
}
int nvmlDeviceGetMigDeviceHandleByIndex(Handle handle, unsigned index, Handle* instance) {
  if (index >= gpu_of(handle).instances.size()) {
    return 6;  // NVML_ERROR_NOT_FOUND
  }
  *instance = handle * 1000 + index;
  return success;
}
#endif

}  // extern "C"
