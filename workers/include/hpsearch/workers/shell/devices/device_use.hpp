#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/slot_device.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/workers/core/devices.hpp"

namespace hpsearch::workers {

/// Which processes on the devices belong to which attempt of this worker.
///
/// A process belongs to an attempt if it or an ancestor was started with one of the attempt's marks;
/// it stays so while its pid means the same process, even if only the driver still lists
/// it. All other processes are foreign: they are reported, and don't block attempts.
///
/// Threads: none of its own; callers take turns.
class DeviceUse {
 public:
  /// `slots`: the device of each slot. `noun`: the word for one of them.
  DeviceUse(std::vector<engine::SlotDevice> slots, std::string noun)
      : slots_(std::move(slots)), noun_(std::move(noun)) {}

  /// The attempt has these slots; its programs were started with one of the assignments `marks`.
  /// `had_leaked_processes`: an earlier agent saw some of its processes survive; processes that only the
  /// driver lists belong to it.
  void began(const engine::AttemptKey& key, const std::vector<engine::SlotIndex>& slots,
             std::vector<std::string> marks, bool had_leaked_processes = false);
  void over(const engine::AttemptKey& key);
  [[nodiscard]] bool on_devices(const engine::AttemptKey& key) const { return attempts_.contains(key); }

  /// Assigns processes to attempts.
  void look(const DeviceReport& report);

  /// The attempt's devices in the report.
  [[nodiscard]] std::vector<Device> devices_of(const engine::AttemptKey& key,
                                               const DeviceReport& report) const;

  /// The attempt's processes that its devices still list.
  [[nodiscard]] std::vector<pid_t> of(const engine::AttemptKey& key, const DeviceReport& report) const;

  /// "GPU 0: process 123 (python3), 512 MiB": foreign processes on the attempt's devices; or "".
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
  std::string noun_;
  std::map<engine::AttemptKey, Attempt> attempts_;
};

}  // namespace hpsearch::workers
