#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::proto {

// How much of its machine an attempt used. Sums and largest values, not means: they stay exact when
// neighbours are merged. What was not measured is absent.

/// The use of one of the devices of an attempt, by all programs on it together.
struct DeviceUtilization {
  std::uint64_t index = 0;                      ///< Number of the device on its machine.
  std::optional<std::uint64_t> busy_ms{};       ///< Time in which it was busy; at most Utilization::ms.
  std::optional<std::uint64_t> memory_bytes{};  ///< The largest that was seen.
  friend bool operator==(const DeviceUtilization&, const DeviceUtilization&) = default;
};

void spell(auto& fields, Is<DeviceUtilization> auto& device) {
  fields("index", device.index);
  fields.maybe("busy_ms", device.busy_ms);
  fields.maybe("memory_bytes", device.memory_bytes);
}

/// A stretch of an attempt's time on one worker.
struct Utilization {
  std::uint64_t at_ms = 0;                      ///< Its end, after the epoch, by the worker's clock.
  std::uint64_t ms = 0;                         ///< How long it is.
  std::optional<std::uint64_t> cpu_ms{};        ///< Processor time of the attempt's processes in it.
  std::optional<std::uint64_t> memory_bytes{};  ///< The largest that was seen.
  std::vector<DeviceUtilization> devices{};     ///< By index.
  friend bool operator==(const Utilization&, const Utilization&) = default;
};

void spell(auto& fields, Is<Utilization> auto& stretch) {
  fields("at_ms", stretch.at_ms);
  fields("ms", stretch.ms);
  fields.maybe("cpu_ms", stretch.cpu_ms);
  fields.maybe("memory_bytes", stretch.memory_bytes);
  fields.maybe("devices", stretch.devices);
}

/// The stream of an attempt's log that has them, beside stdout and stderr.
inline constexpr std::string_view utilization_stream = "utilization";

/// An attempt has no more of them.
inline constexpr std::size_t most_stretches = 500;

/// The text of that stream: a line of JSON for each.
[[nodiscard]] std::string utilization_text(const std::vector<Utilization>& stretches);

/// Reads such a text, at most most_stretches of it. Lines that are none, and lines that are not later than
/// those before, are left out: the text may be read while it is written anew, and programs can change it.
[[nodiscard]] std::vector<Utilization> utilization_from(std::string_view text);

}  // namespace hpsearch::proto
