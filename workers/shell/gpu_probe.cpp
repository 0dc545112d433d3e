#include "hpsearch/workers/shell/gpu_probe.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

namespace hpsearch::workers {

namespace fs = std::filesystem;

namespace {

std::uint64_t count_device_files() {
  std::uint64_t count = 0;
  std::error_code error;
  for (fs::directory_iterator at("/dev", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    constexpr std::string_view prefix = "nvidia";
    const bool numbered = name.size() > prefix.size() && name.starts_with(prefix) &&
                          std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
    count += numbered ? 1 : 0;
  }
  return count;
}

struct ClosePipe {
  void operator()(FILE* pipe) const noexcept { ::pclose(pipe); }
};

/// For systems that show their GPUs by the driver's tool only. A hanging driver must not hang the worker.
std::uint64_t count_by_tool() {
  const std::unique_ptr<FILE, ClosePipe> pipe(
      ::popen("command -v nvidia-smi >/dev/null 2>&1 && timeout 20 nvidia-smi -L 2>/dev/null", "re"));
  if (!pipe) {
    return 0;
  }
  std::uint64_t count = 0;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), pipe.get()) != nullptr) {
    count += std::string_view(line.data()).starts_with("GPU ") ? 1U : 0U;
  }
  return count;
}

}  // namespace

std::vector<std::string> usable_gpus(std::uint64_t present, const char* visible) {
  std::vector<std::string> devices;
  if (present == 0) {
    return devices;
  }
  if (visible == nullptr) {
    for (std::uint64_t device = 0; device < present; ++device) {
      devices.push_back(std::to_string(device));
    }
    return devices;
  }
  std::string_view rest = visible;
  while (!rest.empty()) {
    const std::size_t end = rest.find(',');
    std::string_view name = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    if (name.empty() || name.front() == '-') {
      break;  // CUDA, too, sees only what stands before the first invalid entry.
    }
    devices.emplace_back(name);
  }
  return devices;
}

std::vector<std::string> probe_gpus() {
  std::uint64_t present = count_device_files();
  if (present == 0) {
    present = count_by_tool();
  }
  return usable_gpus(present, std::getenv("CUDA_VISIBLE_DEVICES"));
}

std::uint64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) {
    return 1;
  }
  return static_cast<std::uint64_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace hpsearch::workers
