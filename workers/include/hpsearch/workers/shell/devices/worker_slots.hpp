#pragma once

#include <chrono>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/workers/core/devices.hpp"
#include "hpsearch/workers/shell/worker_options.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"

namespace hpsearch::workers {

/// The arguments of a worker about its slots.
struct SlotArguments {
  std::string slots = "auto";      ///< As plan_slots() reads it.
  std::string generic_names{};     ///< --devices
  std::string generic_variable{};  ///< --device-env
  std::chrono::milliseconds look_every{15'000};
  std::chrono::milliseconds look_deadline{20'000};

  [[nodiscard]] bool names_generic_devices() const {
    return !generic_names.empty() || !generic_variable.empty();
  }
};

/// Finds the slots and their devices. bad_request: the arguments don't fit the machine. unavailable: the
/// machine has devices, and their driver doesn't answer.
[[nodiscard]] engine::Status find_slots(const SlotArguments& arguments, WorkerOptions& options);

/// The output of `hpsearch-worker --list-devices`: the DeviceReport, and of its devices those that the worker
/// may use, as for any program. bad_request: wrong arguments.
[[nodiscard]] engine::Result<engine::Value> listed_devices(const SlotArguments& arguments);

/// Stores the devices for the next start. While the worker holds attempts of an earlier run (`holds`), slots
/// stay the same: a lease names a slot by its number.
[[nodiscard]] engine::Status keep_slots_of(const WorkerState& state, const SlotArguments& arguments,
                                           bool holds, WorkerOptions& options);

}  // namespace hpsearch::workers
