#include "hpsearch/proto/encoding/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hpsearch::proto {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t i) noexcept {
  return static_cast<unsigned char>(bytes[i]);
}

/// The number of leading bytes that are one character each. Nearly every text has only such bytes.
std::size_t ascii_length(std::string_view bytes) noexcept {
  constexpr std::uint64_t high_bits = 0x8080808080808080;
  std::size_t length = 0;
  for (std::uint64_t eight = 0; length + sizeof eight <= bytes.size(); length += sizeof eight) {
    std::memcpy(&eight, bytes.data() + length, sizeof eight);
    if ((eight & high_bits) != 0) {
      break;
    }
  }
  while (length < bytes.size() && byte_at(bytes, length) < 0x80) {
    ++length;
  }
  return length;
}

bool continues(unsigned byte) noexcept {
  return (byte & 0xC0U) == 0x80U;
}

/// The length of the character that a lead byte begins; 0 for other bytes.
std::size_t announced(unsigned lead) noexcept {
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return 2;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    return 4;
  }
  return 0;
}

}  // namespace

std::size_t utf8_length(std::string_view bytes) noexcept {
  if (bytes.empty()) {
    return 0;
  }
  const unsigned lead = byte_at(bytes, 0);
  if (lead < 0x80) {
    return 1;
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) {  // C0 and C1 begin only overlong forms.
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(bytes, i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  const unsigned second = byte_at(bytes, 1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_high = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_high ? 0 : length;
}

bool is_utf8(std::string_view bytes) noexcept {
  for (bytes.remove_prefix(ascii_length(bytes)); !bytes.empty(); bytes.remove_prefix(ascii_length(bytes))) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

std::string to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    text += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

std::string clean_utf8(std::string_view bytes) {
  std::string clean(bytes);
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t length = utf8_length(std::string_view(clean).substr(at));
    if (length == 0) {
      clean[at] = '?';
      ++at;
    } else {
      at += length;
    }
  }
  return clean;
}

std::size_t cut_character_at_end(std::string_view bytes) noexcept {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const unsigned byte = byte_at(bytes, bytes.size() - back);
    if (!continues(byte)) {
      return announced(byte) > back ? back : 0;
    }
  }
  return 0;
}

std::size_t cut_character_at_start(std::string_view bytes) noexcept {
  std::size_t cut = 0;
  while (cut < std::min<std::size_t>(3, bytes.size()) && continues(byte_at(bytes, cut))) {
    ++cut;
  }
  return cut;
}

}  // namespace hpsearch::proto
