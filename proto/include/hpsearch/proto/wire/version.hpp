#pragma once

#include <cstdint>

namespace hpsearch::proto {

/// Worker protocol spoken, and the oldest still understood.
inline constexpr std::uint64_t wire_version = 1;
inline constexpr std::uint64_t oldest_wire_version = 1;

/// Format of stored events written, and the oldest still read.
inline constexpr std::uint64_t store_version = 1;
inline constexpr std::uint64_t oldest_store_version = 1;

}  // namespace hpsearch::proto
