#include "daemon/metrics/device_metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace hpsearch::daemon {
namespace {

using enum proto::MetricType;

/// Sums over the devices of one kind of slot.
struct Devices {
  std::uint64_t working = 0;
  std::uint64_t broken = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t measured_ms = 0;  ///< Devices times the stretches in which their use was measured.
  std::uint64_t busy_ms = 0;      ///< The part of it in which they were busy.
};

/// A device is broken if a slot on it is. Slots that share a device name the same uuid.
void add_devices(Devices& sum, const engine::WorkerRecord& worker) {
  struct Device {
    bool is_broken = false;
    std::uint64_t memory_bytes = 0;
  };
  std::map<std::string_view, Device> devices;
  for (std::size_t slot = 0; slot < worker.devices.size(); ++slot) {
    Device& device = devices[worker.devices[slot].uuid];
    device.memory_bytes = worker.devices[slot].memory_bytes;
    device.is_broken = device.is_broken || worker.withdrawn.contains(engine::SlotIndex(slot));
  }
  for (const auto& [uuid, device] : devices) {
    ++(device.is_broken ? sum.broken : sum.working);
    sum.memory_bytes += device.memory_bytes;
  }
}

void add_use(Devices& sum, const proto::Utilization& stretch) {
  for (const proto::DeviceUtilization& device : stretch.devices) {
    if (device.busy_ms) {
      sum.measured_ms += stretch.ms;
      sum.busy_ms += *device.busy_ms;
    }
  }
}

}  // namespace

void add_device_metrics(proto::PrometheusText& text, const Runtime* runtime, const WorkerSessions* sessions) {
  std::map<std::string_view, Devices> kinds;
  if (runtime != nullptr) {
    for (const auto& [id, worker] : runtime->engine().workers()) {
      if (!worker.present || worker.devices.empty()) {
        continue;
      }
      Devices& sum = kinds[worker.slot_kind];
      add_devices(sum, worker);
      if (sessions != nullptr && sessions->connected(id)) {
        sessions->for_each_utilization(id, [&sum](const proto::Utilization& use) { add_use(sum, use); });
      }
    }
  }
  text.family("devices", gauge,
              "Devices of workers that are not lost, by state: working, broken (its worker has withdrawn a "
              "slot on it).",
              {"state", "kind"});
  for (const auto& [kind, sum] : kinds) {
    text.sample(static_cast<double>(sum.working), {"working", kind});
    text.sample(static_cast<double>(sum.broken), {"broken", kind});
  }
  text.family("device_memory_bytes", gauge, "Memory of these devices.", {"kind"});
  for (const auto& [kind, sum] : kinds) {
    text.sample(static_cast<double>(sum.memory_bytes), {kind});
  }
  text.family("device_busy_ratio", gauge,
              "Share of the last measured stretch of time in which devices of running attempts were busy; no "
              "sample if it was not measured.",
              {"kind"});
  for (const auto& [kind, sum] : kinds) {
    if (sum.measured_ms > 0) {
      text.sample(static_cast<double>(sum.busy_ms) / static_cast<double>(sum.measured_ms), {kind});
    }
  }
}

}  // namespace hpsearch::daemon
