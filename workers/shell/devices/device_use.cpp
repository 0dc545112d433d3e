#include "hpsearch/workers/shell/devices/device_use.hpp"

#include <algorithm>
#include <fstream>
#include <optional>

#include "hpsearch/workers/shell/processes/process_table.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::SlotIndex;

namespace {

constexpr std::uint64_t mebibyte = 1024UL * 1024;

/// Whether the process or an ancestor was started with one of `marks`.
bool descends(pid_t pid, const std::vector<std::string>& marks) {
  constexpr int deepest = 64;
  for (int depth = 0; depth < deepest && pid > 1; ++depth) {
    if (std::any_of(marks.begin(), marks.end(),
                    [pid](const std::string& mark) { return started_with(pid, mark); })) {
      return true;
    }
    const std::optional<ProcessInfo> info = process_info(pid);
    pid = info ? info->parent : 0;
  }
  return false;
}

std::string name_of_process(std::int64_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(in, name);
  return name.empty() ? "" : " (" + name + ")";
}

}  // namespace

void DeviceUse::began(const AttemptKey& key, const std::vector<SlotIndex>& slots,
                      std::vector<std::string> marks, bool had_leaked_processes) {
  Attempt attempt{
      .uuids = {}, .marks = std::move(marks), .had_leaked_processes = had_leaked_processes, .processes = {}};
  for (const SlotIndex slot : slots) {
    if (slot.number() < slots_.size()) {
      attempt.uuids.insert(slots_[slot.number()].uuid);
    }
  }
  if (!attempt.uuids.empty()) {
    attempts_[key] = std::move(attempt);
  }
}

void DeviceUse::over(const AttemptKey& key) {
  attempts_.erase(key);
}

std::vector<const Device*> DeviceUse::devices_of(const Attempt& attempt, const DeviceReport& report) const {
  std::vector<const Device*> devices;
  for (const Device& device : report.devices) {
    if (attempt.uuids.contains(device.uuid)) {
      devices.push_back(&device);
    }
  }
  return devices;
}

std::vector<Device> DeviceUse::devices_of(const AttemptKey& key, const DeviceReport& report) const {
  std::vector<Device> devices;
  if (const auto attempt = attempts_.find(key); attempt != attempts_.end()) {
    for (const Device* device : devices_of(attempt->second, report)) {
      devices.push_back(*device);
    }
  }
  return devices;
}

bool DeviceUse::is_of(const Attempt& attempt, pid_t pid) const {
  const auto known = attempt.processes.find(pid);
  if (known != attempt.processes.end()) {
    const std::optional<ProcessInfo> info = process_info(pid);
    return !info || info->start_time == known->second;
  }
  // The agent that saw the dead processes alive has ended, so its knowledge about them is lost.
  return (attempt.had_leaked_processes && !process_info(pid)) || descends(pid, attempt.marks);
}

void DeviceUse::look(const DeviceReport& report) {
  for (auto& [key, attempt] : attempts_) {
    for (const Device* device : devices_of(attempt, report)) {
      for (const DeviceProcess& process : device->processes) {
        const auto pid = static_cast<pid_t>(process.pid);
        const std::optional<ProcessInfo> info = process_info(pid);
        if (info && descends(pid, attempt.marks)) {
          attempt.processes[pid] = info->start_time;
        }
      }
    }
  }
}

std::vector<pid_t> DeviceUse::of(const AttemptKey& key, const DeviceReport& report) const {
  std::vector<pid_t> left;
  const auto attempt = attempts_.find(key);
  if (attempt == attempts_.end()) {
    return left;
  }
  for (const Device* device : devices_of(attempt->second, report)) {
    for (const DeviceProcess& process : device->processes) {
      const auto pid = static_cast<pid_t>(process.pid);
      if (is_of(attempt->second, pid) && std::find(left.begin(), left.end(), pid) == left.end()) {
        left.push_back(pid);
      }
    }
  }
  return left;
}

std::string DeviceUse::strangers(const AttemptKey& key, const DeviceReport& report) const {
  std::string text;
  const auto attempt = attempts_.find(key);
  if (attempt == attempts_.end()) {
    return text;
  }
  for (const Device* device : devices_of(attempt->second, report)) {
    std::string processes;
    for (const DeviceProcess& process : device->processes) {
      const bool ours = std::any_of(attempts_.begin(), attempts_.end(), [&](const auto& entry) {
        return is_of(entry.second, static_cast<pid_t>(process.pid));
      });
      if (!ours) {
        processes += (processes.empty() ? " process " : ", process ") + std::to_string(process.pid) +
                     name_of_process(process.pid) + ", " + std::to_string(process.memory_bytes / mebibyte) +
                     " MiB";
      }
    }
    if (!processes.empty()) {
      text += (text.empty() ? "" : "; ") + noun_ + " " + std::to_string(device->index) + ":" + processes;
    }
  }
  return text;
}

std::string DeviceUse::memory(const AttemptKey& key, const DeviceReport& report) const {
  std::string text;
  const auto attempt = attempts_.find(key);
  if (attempt == attempts_.end()) {
    return text;
  }
  for (const Device* device : devices_of(attempt->second, report)) {
    text += (text.empty() ? "" : "; ") + noun_ + " " + std::to_string(device->index) + ": " +
            (device->free_bytes ? std::to_string(*device->free_bytes / mebibyte) + " of " +
                                      std::to_string(device->memory_bytes / mebibyte) + " MiB free"
                                : "its free memory is unknown");
  }
  return text;
}

}  // namespace hpsearch::workers
