#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/slot_device.hpp"
#include "hpsearch/workers/core/devices.hpp"

namespace hpsearch::workers {

/// Which processes on the devices belong to which attempt of this worker.
///
/// A process is an attempt's when it, or one it descends from, was started with one of the attempt's marks;
/// and stays so while its number means the same process, also when the process table has lost it and only the
/// driver still lists it. All other processes are strangers: they are reported, and block no attempt.
///
/// Threads: none of its own; callers take turns.
class DeviceUse {
 public:
  /// `slots`: the device of each slot.
  explicit DeviceUse(std::vector<engine::SlotDevice> slots) : slots_(std::move(slots)) {}

  /// The attempt has these slots; its programs were started with one of the assignments `marks`.
  /// With `had_leaked_processes`, an earlier agent saw something of it survive: processes that only the
  /// driver lists are its.
  void began(const engine::AttemptKey& key, const std::vector<engine::SlotIndex>& slots,
             std::vector<std::string> marks, bool had_leaked_processes = false);
  void over(const engine::AttemptKey& key);
  [[nodiscard]] bool on_devices(const engine::AttemptKey& key) const { return attempts_.contains(key); }

  /// Finds out which processes belong to which attempt.
  void look(const DeviceReport& report);

  /// The attempt's processes that its devices still list.
  [[nodiscard]] std::vector<pid_t> of(const engine::AttemptKey& key, const DeviceReport& report) const;

  /// "GPU 0: process 123 (python3), 512 MiB": strangers on the attempt's devices; or "".
  [[nodiscard]] std::string strangers(const engine::AttemptKey& key, const DeviceReport& report) const;

  /// "GPU 0: 143000 of 143771 MiB free"; or "".
  [[nodiscard]] std::string memory(const engine::AttemptKey& key, const DeviceReport& report) const;

 private:
  struct Attempt {
    std::set<std::string> uuids;
    std::vector<std::string> marks;
    bool had_leaked_processes = false;
    std::map<pid_t, std::uint64_t> processes;  ///< With their start times.
  };
  [[nodiscard]] std::vector<const Device*> devices_of(const Attempt& attempt,
                                                      const DeviceReport& report) const;
  [[nodiscard]] bool is_of(const Attempt& attempt, pid_t pid) const;

  std::vector<engine::SlotDevice> slots_;
  std::map<engine::AttemptKey, Attempt> attempts_;
};

}  // namespace hpsearch::workers
