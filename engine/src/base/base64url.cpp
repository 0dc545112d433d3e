#include "hpsearch/engine/base/base64url.hpp"

#include <cstdint>

namespace hpsearch::engine {

std::string base64url_of(std::span<const std::byte> bytes) {
  std::string text;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const std::byte byte : bytes) {
    held = (held << 8U) | std::to_integer<std::uint32_t>(byte);
    for (bits += 8; bits >= 6; bits -= 6) {
      text += base64url_alphabet[(held >> (bits - 6)) & 63U];
    }
  }
  if (bits > 0) {
    text += base64url_alphabet[(held << (6 - bits)) & 63U];
  }
  return text;
}

std::string base64url_of(std::string_view bytes) {
  return base64url_of(std::as_bytes(std::span(bytes)));
}

std::optional<std::string> bytes_of_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::size_t six = base64url_alphabet.find(c);
    if (six == std::string_view::npos) {
      return std::nullopt;
    }
    held = (held << 6U) | static_cast<std::uint32_t>(six);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>((held >> bits) & 255U);
    }
  }
  // The last bits must be the zeros that base64url_of() adds: each text has one spelling.
  const bool is_whole = bits < 6 && (held & ((1U << bits) - 1)) == 0;
  return is_whole ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace hpsearch::engine
