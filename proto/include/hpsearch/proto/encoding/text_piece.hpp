#pragma once

#include <cstdint>
#include <string>

namespace hpsearch::proto {

/// A piece of a stream for people: clean UTF-8 without a character cut in two.
struct TextPiece {
  std::uint64_t offset = 0;  ///< Of the first byte of `text`, in the stream.
  std::uint64_t size = 0;    ///< Of the stream.
  std::string text;
};

/// The piece of text in these bytes. `may_begin_inside`: the first character may have begun before them; its
/// rest is left out. `goes_on`: the next piece follows without a gap; a character that is cut at the end is
/// left to it.
[[nodiscard]] TextPiece text_piece(std::uint64_t offset, std::uint64_t size, std::string bytes,
                                   bool may_begin_inside, bool goes_on);

}  // namespace hpsearch::proto
