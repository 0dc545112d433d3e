#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/slot_device.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/workers/core/effects.hpp"

namespace hpsearch::workers {

/// A process that has a context on a device.
struct DeviceProcess {
  std::int64_t pid = 0;
  std::uint64_t memory_bytes = 0;  ///< 0 = unknown.
};

void spell(auto& fields, proto::Is<DeviceProcess> auto& process) {
  fields("pid", process.pid);
  fields("memory_bytes", process.memory_bytes);
}

/// A GPU, or an instance of one in MIG mode, as the driver reports it now.
struct Device {
  std::string uuid;
  std::string name;
  std::uint64_t index = 0;         ///< Number of the GPU, in the order of the PCI bus.
  bool instance = false;           ///< Part of a GPU in MIG mode; CUDA knows it by its UUID only.
  bool whole_in_mig_mode = false;  ///< A GPU that is divided into instances; CUDA can't use it as a whole.
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::optional<std::int64_t> temperature;  ///< Degrees Celsius.
  std::optional<std::int64_t> utilization;  ///< Percent of the driver's last sampling period.
  std::string trouble;                      ///< Why it is broken, or "".
  std::string remark;                       ///< A problem for its operator, or "".
  std::vector<DeviceProcess> processes;
};

void spell(auto& fields, proto::Is<Device> auto& device) {
  fields("uuid", device.uuid);
  fields("name", device.name);
  fields("index", device.index);
  fields("instance", device.instance);
  fields("in_mig_mode", device.whole_in_mig_mode);
  fields("memory_bytes", device.memory_bytes);
  fields("free_bytes", device.free_bytes);
  fields("temperature", device.temperature);
  fields.maybe("utilization", device.utilization);
  fields("trouble", device.trouble);
  fields("remark", device.remark);
  fields("processes", device.processes);
}

/// The driver's report about all devices.
struct DeviceReport {
  std::string problem;  ///< Why the driver doesn't answer, or "".
  std::string driver;   ///< The driver's version.
  std::vector<Device> devices;
  std::vector<std::string> unknown;  ///< GPUs without a known UUID, each with its problem.
};

void spell(auto& fields, proto::Is<DeviceReport> auto& report) {
  fields("problem", report.problem);
  fields("driver", report.driver);
  fields("devices", report.devices);
  fields("unknown", report.unknown);
}

[[nodiscard]] engine::Value to_value(const DeviceReport& report);
/// corrupt: it isn't the result of to_value().
[[nodiscard]] engine::Result<DeviceReport> device_report_from(const engine::Value& value);

/// The devices for CUDA programs, in this order: GPUs that aren't in MIG mode, then the instances of those
/// that are; of these the ones that `cuda_visible_devices` lists, or all if it is nullptr.
[[nodiscard]] std::vector<Device> usable_devices(const DeviceReport& report,
                                                 const char* cuda_visible_devices);

/// The slots a worker offers.
struct SlotPlan {
  std::uint64_t slots = 0;
  std::vector<std::size_t>
      devices;  ///< By slot: the index of the usable device; empty: shares of the processors.
};

/// Reads --slots:
///
///     auto           one slot per GPU, or, without GPUs, one per core
///     N              the first N GPUs, or, without GPUs, N slots of the processors
///     0,2,GPU-5a1c   these GPUs, by number or by the beginning of their UUID; one named twice has two slots
///     cpu, cpu:N     slots of the processors, one per core or N, GPUs or not
///     …*K            each of these GPUs has K slots
///
/// bad_request: other texts, or GPUs that don't exist. At most proto::max_worker_slots slots.
[[nodiscard]] engine::Result<SlotPlan> plan_slots(std::string_view wanted, const std::vector<Device>& usable,
                                                  std::uint64_t cores);

/// The default maximum of attempts without slots, for a worker with that many slots.
[[nodiscard]] constexpr std::uint64_t usual_max_unslotted(std::uint64_t slots) noexcept {
  return 4 * (slots == 0 ? 1 : slots);
}

/// The slots of a worker that holds attempts from an earlier start.
struct KeptSlots {
  std::vector<engine::SlotDevice> devices;
  std::vector<UnusableSlot>
      withheld;  ///< Kept for running attempts; the worker doesn't offer them now, so they aren't broken.
};

/// Slots keep their numbers and devices: those of `before` stay in their order, whatever the state of their
/// devices, and additional ones of `now` follow. A slot that isn't in `now` is withheld.
[[nodiscard]] KeptSlots keep_slots(const std::vector<engine::SlotDevice>& before,
                                   const std::vector<engine::SlotDevice>& now);

/// In the form of the worker's files. corrupt: it isn't the result of slots_value().
[[nodiscard]] engine::Value slots_value(const std::vector<engine::SlotDevice>& slots);
[[nodiscard]] engine::Result<std::vector<engine::SlotDevice>> slots_from(const engine::Value& value);

/// The device's name in CUDA_VISIBLE_DEVICES, with CUDA_DEVICE_ORDER=PCI_BUS_ID.
[[nodiscard]] std::string cuda_name(const Device& device);

[[nodiscard]] engine::SlotDevice slot_device(const Device& device);

/// The slots that this report makes unusable: those with a broken or missing device. If the driver doesn't
/// answer, all of them, none as broken.
[[nodiscard]] std::vector<UnusableSlot> unusable_slots(const std::vector<engine::SlotDevice>& slots,
                                                       const DeviceReport& report);
/// Adds the withheld slots, unless they have another reason.
[[nodiscard]] std::vector<UnusableSlot> with_withheld(std::vector<UnusableSlot> unusable,
                                                      const std::vector<UnusableSlot>& withheld);

}  // namespace hpsearch::workers
