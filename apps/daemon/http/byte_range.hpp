#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace hpsearch::daemon {

/// Bytes of an answer: from `begin` up to `end`, which is behind the last one.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// 416: no byte of the range is there.
struct RangeNotThere {
  friend bool operator==(RangeNotThere, RangeNotThere) = default;
};
using RangeAnswer = std::variant<ByteRange, RangeNotThere>;

/// What a header Range selects of `all` bytes: "bytes=0-99", "bytes=100-", "bytes=-100". Everything for a
/// header that is empty, of another unit or of several ranges, or that cannot be read, as RFC 9110, section
/// 14.2 allows.
[[nodiscard]] RangeAnswer range_of(std::string_view header, std::uint64_t all) noexcept;

}  // namespace hpsearch::daemon
