#include "hpsearch/proto/encoding/text_piece.hpp"

#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {

TextPiece text_piece(std::uint64_t offset, std::uint64_t size, std::string bytes, bool may_begin_inside,
                     bool goes_on) {
  if (may_begin_inside && offset > 0) {
    const std::size_t cut = cut_character_at_start(bytes);
    bytes.erase(0, cut);
    offset += cut;
  }
  if (goes_on) {
    bytes.resize(bytes.size() - cut_character_at_end(bytes));
  }
  return {offset, size, clean_utf8(bytes)};
}

}  // namespace hpsearch::proto
