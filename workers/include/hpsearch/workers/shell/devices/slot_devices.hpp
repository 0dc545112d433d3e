#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/slot_device.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/shell/devices/device_use.hpp"
#include "hpsearch/workers/shell/devices/device_watch.hpp"

namespace hpsearch::workers {

/// The devices of the worker's slots: polls the driver every DeviceLook::every, and detects when devices
/// no longer list processes of an attempt that has ended. Without devices, attempts never wait for them.
///
/// Threads: the loop's, which outlives it.
class SlotDevices {
 public:
  using OnReport = std::function<void(const DeviceReport& report)>;

  /// `devices`: one per slot, or none. `noun`: the word for one of them.
  SlotDevices(net::Loop& loop, const std::vector<engine::SlotDevice>& devices, const std::string& noun,
              const DeviceLook& look, OnReport on_report);

  /// The attempt holds the devices of these slots; DeviceUse::began() describes the other arguments.
  void hold(const engine::AttemptKey& key, const std::vector<engine::SlotIndex>& slots,
            std::vector<std::string> marks, bool had_leaked_processes = false);
  void forget(const engine::AttemptKey& key);

  /// Logs processes of other users or programs on the attempt's devices.
  void look_for_strangers(const engine::AttemptKey& key);

  /// The attempt's program has ended: calls `on_free` when its devices list no process of it. If they still
  /// do after DeviceLook::settle, calls `on_stuck` once, and `on_free` when they are free.
  void wait_until_free(const engine::AttemptKey& key, std::function<void()> on_free,
                       std::function<void(const std::string& why)> on_stuck);

  /// The attempt's devices in the last report; none if the driver did not answer.
  [[nodiscard]] std::vector<Device> devices_of(const engine::AttemptKey& key) const {
    return use_.devices_of(key, last_report_);
  }

  /// Asks the driver now; OnReport gets the answer.
  void look();

  [[nodiscard]] const DeviceReport& last_report() const noexcept { return last_report_; }

 private:
  /// An attempt that has ended and whose devices may not be free yet.
  struct Waiting {
    std::function<void()> on_free;
    std::function<void(const std::string& why)> on_stuck;
    engine::Instant until;
    bool stuck = false;
    net::Watch next_look;
  };

  void take(const DeviceReport& report);
  void look_for(const engine::AttemptKey& key);
  void free(const engine::AttemptKey& key);

  net::Loop& loop_;
  std::string noun_;
  engine::Duration settle_;
  OnReport on_report_;
  DeviceReport last_report_;
  DeviceUse use_;
  std::unique_ptr<DeviceWatch> watch_;  ///< None if no driver can be asked about the slots.
  net::Watch next_look_;
  std::map<engine::AttemptKey, Waiting> waiting_;
};

}  // namespace hpsearch::workers
