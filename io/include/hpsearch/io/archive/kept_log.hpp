#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::logs {

// The part of a program's output that is kept without its worker: the beginning and the end of each stream,
// compressed with zstd.

inline constexpr std::uint64_t most_head_bytes = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t most_tail_bytes = std::uint64_t{3} << 20U;
inline constexpr std::uint64_t most_kept_bytes = most_head_bytes + most_tail_bytes;
/// No packed log is larger, even if its content can't be compressed.
inline constexpr std::uint64_t most_packed_bytes = most_kept_bytes + 64 * 1024;

/// The bytes of a stream that are kept: those before `head` and those from `tail` on. The bytes between are
/// left out.
struct KeptBytes {
  std::uint64_t size = 0;  ///< The size of the whole stream.
  std::uint64_t head = 0;  ///< At most `tail`.
  std::uint64_t tail = 0;  ///< At most `size`; equal to `head` if nothing is left out.
  [[nodiscard]] std::uint64_t count() const noexcept { return head + (size - tail); }
  friend bool operator==(const KeptBytes&, const KeptBytes&) = default;
};

/// The bytes to keep of a stream that can be read up to `front` from its beginning and from `back` to its
/// end: all of it if it is complete (`front` == `size`) and has at most most_kept_bytes; else at most
/// most_head_bytes and most_tail_bytes.
[[nodiscard]] KeptBytes bytes_to_keep(std::uint64_t size, std::uint64_t front, std::uint64_t back) noexcept;

/// Up to `limit` bytes of the stream from `offset` on.
using ReadStream = std::function<std::string(std::uint64_t offset, std::uint64_t limit)>;

/// Compresses these bytes of a stream. unavailable: fewer of them could be read, or there is no memory.
/// Cost: linear; memory for the result and about 5 MiB.
[[nodiscard]] engine::Result<std::string> pack(const KeptBytes& kept, const ReadStream& read);

/// The numbers in the header of `packed`, only checked for consistency. corrupt: it is no kept log.
[[nodiscard]] engine::Result<KeptBytes> kept_bytes_of(std::string_view packed);

/// Unpacks everything and discards it. corrupt: pack() can't have written it.
///
/// `packed` is untrusted: it costs at most most_kept_bytes of output, time linear in its length, and
/// the memory of a window of 4 MiB.
[[nodiscard]] engine::Status check(std::string_view packed);

/// A stretch of a stream, unchanged.
struct Stretch {
  std::uint64_t offset = 0;  ///< The place of its first byte in the stream.
  std::uint64_t size = 0;    ///< The size of the stream.
  std::string bytes;
  bool goes_on = false;  ///< The next byte is kept, too.
};

/// Up to `limit` bytes from `offset` on, or the last ones. If bytes there are left out, the result begins
/// after them, at a larger offset. A result never has bytes from both sides of the gap. Like check(), it
/// doesn't not trust `packed`.
[[nodiscard]] engine::Result<Stretch> unpack(std::string_view packed, std::uint64_t offset,
                                             std::uint64_t limit, bool from_end);

}  // namespace hpsearch::logs
