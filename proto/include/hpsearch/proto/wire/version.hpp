#pragma once

#include <cstdint>

namespace hpsearch::proto {

/// The version of the worker protocol, and the oldest one that is accepted.
inline constexpr std::uint64_t wire_version = 1;
inline constexpr std::uint64_t oldest_wire_version = 1;

/// The version of stored events, and the oldest one that is read.
inline constexpr std::uint64_t store_version = 1;
inline constexpr std::uint64_t oldest_store_version = 1;

}  // namespace hpsearch::proto
