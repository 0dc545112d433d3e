#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/io/zmq/zmq_port.hpp"
#include "hpsearch/workers/core/devices.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"
#include "hpsearch/workers/core/worker_machine.hpp"
#include "hpsearch/workers/shell/devices/device_watch.hpp"

namespace hpsearch::workers {

/// The options of a worker.
struct WorkerOptions {
  std::string daemon;                       ///< "tcp://127.0.0.1:8078"
  bool over_ipv6 = false;                   ///< Its name has no other addresses.
  std::optional<net::CurveClient> curve{};  ///< For a daemon that requires keys.
  std::string name;
  std::string host{};    ///< The name of the machine.
  std::string kills_by;  ///< "cgroup" or "process table", by ControlGroup::may_be_made().
  std::string address;   ///< The address at which other workers reach this one.
  LentMachine machine;
  WorkerRules rules;
  std::filesystem::path shim;                        ///< The program hpsearch-shim.
  std::uint64_t most_context_bytes = 2'000'000'000;  ///< Limit of contexts kept for later attempts.
  /// The first wait between tries to fetch a context; it doubles each time. After `context_tries` the attempt
  /// is lost.
  std::chrono::milliseconds context_wait{1000};
  unsigned context_tries = 5;
  std::string pool{};  ///< "" = the default one.
  std::map<std::string, std::string> labels{};
  std::vector<engine::SlotDevice> devices{};  ///< One per slot, or none.
  std::vector<UnusableSlot> unusable{};       ///< As found at the start.
  std::vector<UnusableSlot> withheld{};       ///< Withheld in any state of their devices.
  DeviceLook look{};                          ///< How they are polled again.
  std::string version{};                      ///< The version of the program.
  std::string metrics{};                      ///< The address "HOST:PORT" of its metrics; "" = none.
  std::uint64_t max_unslotted = 0;            ///< The maximum number of attempts without slots.
  std::string allocation{};                   ///< The allocation of this worker, as "gpu/17"; "" = none.
  DeviceReport seen{};                        ///< The report of the devices at the start.
};

}  // namespace hpsearch::workers
