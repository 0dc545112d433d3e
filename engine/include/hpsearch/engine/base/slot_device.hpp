#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::engine {

/// What stands behind a slot, as its worker found it. Slots that share a device name the same.
struct SlotDevice {
  std::string uuid;                ///< The driver's: "GPU-…" or "MIG-…".
  std::string name;                ///< "NVIDIA H200"
  std::uint64_t index = 0;         ///< The number of the GPU on its machine, in the order of the PCI bus.
  std::uint64_t memory_bytes = 0;  ///< 0 = unknown.
  friend bool operator==(const SlotDevice&, const SlotDevice&) = default;
};

/// A slot that cannot be used, by its worker's word: its device is broken, or cannot be asked.
struct SlotTrouble {
  SlotIndex slot;
  std::string why;  ///< One sentence for people.
};

/// Workers and experiments that name no pool are in the one of this name.
inline constexpr std::string_view default_pool = "default";
[[nodiscard]] inline std::string_view pool_named(std::string_view name) noexcept {
  return name.empty() ? default_pool : name;
}

}  // namespace hpsearch::engine
