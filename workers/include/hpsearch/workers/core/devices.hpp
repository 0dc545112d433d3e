#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/slot_device.hpp"
#include "hpsearch/engine/base/value.hpp"
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

/// A device, or an instance of a GPU in MIG mode, as its driver reports it now.
struct Device {
  std::string uuid;  ///< Stays the same while the machine runs.
  std::string name;
  std::string selector;  ///< Its name in the variable of its kind: its number, or for an instance its UUID.
  std::uint64_t index = 0;  ///< Number of the device or of the instance's GPU, in the order of its kind.
  bool whole_in_mig_mode = false;  ///< A GPU that is divided into instances; CUDA can't use it as a whole.
  std::uint64_t memory_bytes = 0;  ///< 0 = unknown.
  std::optional<std::uint64_t> free_bytes;
  std::optional<std::int64_t> temperature;  ///< Degrees Celsius.
  std::optional<std::int64_t> utilization;  ///< Percent of the driver's last sampling period.
  std::string trouble;                      ///< Why it is broken, or "".
  std::string remark;                       ///< A problem for its operator, or "".
  std::vector<DeviceProcess> processes;
};

void spell(auto& fields, proto::Is<Device> auto& device) {
  fields("uuid", device.uuid);
  fields("name", device.name);
  fields("selector", device.selector);
  fields("index", device.index);
  fields("in_mig_mode", device.whole_in_mig_mode);
  fields("memory_bytes", device.memory_bytes);
  fields.maybe("free_bytes", device.free_bytes);
  fields("temperature", device.temperature);
  fields.maybe("utilization", device.utilization);
  fields("trouble", device.trouble);
  fields("remark", device.remark);
  fields("processes", device.processes);
}

/// The driver's report about all devices of one kind.
struct DeviceReport {
  std::string kind;                    ///< The name of a jobs::DeviceKind; "" if it is not known.
  std::vector<std::string> ambiguous;  ///< The kinds, if the machine has several and none was chosen.
  std::string problem;                 ///< Why the driver doesn't answer, or "".
  std::string driver;                  ///< The driver's version.
  std::vector<Device> devices;
  std::vector<std::string> unknown;  ///< Devices that can't be used, each with the reason.
};

void spell(auto& fields, proto::Is<DeviceReport> auto& report) {
  fields("kind", report.kind);
  fields("ambiguous", report.ambiguous);
  fields("problem", report.problem);
  fields("driver", report.driver);
  fields("devices", report.devices);
  fields("unknown", report.unknown);
}

[[nodiscard]] engine::Value to_value(const DeviceReport& report);
/// corrupt: it isn't the result of to_value().
[[nodiscard]] engine::Result<DeviceReport> device_report_from(const engine::Value& value);

/// The devices for programs: those that aren't in MIG mode, with the instances of those that are. Of these
/// the ones that the first of `lists` names, in its order, as for the programs of this kind; each further
/// list has positions in what the one before has left.
[[nodiscard]] std::vector<Device> usable_devices(const DeviceReport& report,
                                                 const std::vector<std::string>& lists);

/// The slots a worker offers.
struct SlotPlan {
  std::uint64_t slots = 0;
  std::vector<std::size_t>
      devices;  ///< By slot: the index of the usable device; empty: shares of the processors.
};

/// The kind of device that --slots names: "amd" in amd, amd:2 and amd*4; "" in the other forms.
[[nodiscard]] std::string_view kind_in_slots(std::string_view wanted);

/// Reads --slots:
///
///     auto           one slot per device, or, without devices, one per core
///     N              the first N devices, or, without devices, N slots of the processors
///     0,2,GPU-5a1c   these devices, by number or start of the UUID; one that is there twice has two slots
///     cpu, cpu:N     slots of the processors, one per core or N, devices or not
///     …*K            each of these devices has K slots
///     KIND, KIND:…   the same, with the devices of this kind only
///
/// `noun` is the word for one device in messages. bad_request: other texts, or devices that don't exist. At
/// most proto::max_worker_slots slots.
[[nodiscard]] engine::Result<SlotPlan> plan_slots(std::string_view wanted, const std::vector<Device>& usable,
                                                  std::uint64_t cores, std::string_view noun);

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
                                   const std::vector<engine::SlotDevice>& now, std::string_view noun);

/// The slots of a worker that are devices, as it remembers them for its next start.
struct RememberedSlots {
  std::string kind;  ///< The name of their jobs::DeviceKind; "" if there are none.
  std::vector<engine::SlotDevice> slots;
  friend bool operator==(const RememberedSlots&, const RememberedSlots&) = default;
};

/// In the form of the worker's files. corrupt: it isn't the result of slots_value().
[[nodiscard]] engine::Value slots_value(const RememberedSlots& slots);
[[nodiscard]] engine::Result<RememberedSlots> slots_from(const engine::Value& value);

[[nodiscard]] engine::SlotDevice slot_device(const Device& device);

/// The slots that this report makes unusable: those with a broken or missing device. If the driver doesn't
/// answer, all of them, none as broken.
[[nodiscard]] std::vector<UnusableSlot> unusable_slots(const std::vector<engine::SlotDevice>& slots,
                                                       const DeviceReport& report, std::string_view noun);
/// Adds the withheld slots, unless they have another reason.
[[nodiscard]] std::vector<UnusableSlot> with_withheld(std::vector<UnusableSlot> unusable,
                                                      const std::vector<UnusableSlot>& withheld);

}  // namespace hpsearch::workers
