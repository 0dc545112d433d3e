#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hpsearch::proto {

/// crc32c() on any processor.
[[nodiscard]] std::uint32_t crc32c_by_table(std::uint32_t seed, std::span<const std::byte> bytes) noexcept;

}  // namespace hpsearch::proto
