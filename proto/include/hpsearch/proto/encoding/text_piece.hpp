#pragma once

#include <cstdint>
#include <string>

namespace hpsearch::proto {

/// A piece of a stream for people: valid UTF-8 with whole characters.
struct TextPiece {
  std::uint64_t offset = 0;  ///< The place of the first byte of `text` in the stream.
  std::uint64_t size = 0;    ///< The size of the stream.
  std::string text;
};

/// The text in these bytes. `may_begin_inside`: the first character may have begun before them; then its
/// rest is left out. `goes_on`: the next piece follows directly; a character that is cut at the end is
/// left to that piece.
[[nodiscard]] TextPiece text_piece(std::uint64_t offset, std::uint64_t size, std::string bytes,
                                   bool may_begin_inside, bool goes_on);

}  // namespace hpsearch::proto
