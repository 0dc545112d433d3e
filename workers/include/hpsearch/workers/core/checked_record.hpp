#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::workers {

// The format of files that a power failure may truncate or fill with zeros:
//
//   length of the body (u32) | CRC-32C of the body (u32) | body
//
// Numbers are little-endian. No body is empty.

inline constexpr std::size_t checked_head_bytes = 8;

/// The header of a body.
struct CheckedHead {
  std::uint32_t body_bytes = 0;
  std::uint32_t checksum = 0;

  /// Whether this is the body for which the head was written.
  [[nodiscard]] bool fits(std::string_view body) const noexcept;
};

/// `body` with its head before it.
[[nodiscard]] std::string checked_record(std::string_view body);

/// The head at the beginning of `bytes`. Nothing if they are too few, or if the length is 0, as in space that
/// was allocated for a record and never written.
[[nodiscard]] std::optional<CheckedHead> read_checked_head(std::string_view bytes) noexcept;

}  // namespace hpsearch::workers
