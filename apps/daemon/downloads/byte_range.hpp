#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace hpsearch::daemon {

/// Bytes of an answer: from `begin` up to, but not including, `end`.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Status 416: the answer has no byte of the range.
struct RangeNotThere {
  friend bool operator==(RangeNotThere, RangeNotThere) = default;
};
using RangeAnswer = std::variant<ByteRange, RangeNotThere>;

/// The bytes that a header Range selects of `all`: "bytes=0-99", "bytes=100-", "bytes=-100". Everything if
/// the header is empty, has another unit or several ranges, or cannot be read, as RFC 9110, section 14.2
/// allows.
[[nodiscard]] RangeAnswer range_of(std::string_view header, std::uint64_t all) noexcept;

}  // namespace hpsearch::daemon
