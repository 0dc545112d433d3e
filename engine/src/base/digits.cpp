#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

}  // namespace

std::string hex_of(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text.push_back(digits[std::to_integer<std::size_t>(byte >> 4U)]);
    text.push_back(digits[std::to_integer<std::size_t>(byte & std::byte{0xF})]);
  }
  return text;
}

std::string hex_of(std::string_view bytes) {
  return hex_of(std::as_bytes(std::span(bytes)));
}

std::string hex_of(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t at = text.size(); at-- > 0; number >>= 4U) {
    text[at] = digits[number & 0xFU];
  }
  return text;
}

bool is_hex(std::string_view text, std::size_t count) noexcept {
  return text.size() == count && text.find_first_not_of(digits) == std::string_view::npos;
}

std::optional<std::string> bytes_of_hex(std::string_view text) {
  if (text.size() % 2 != 0 || !is_hex(text, text.size())) {
    return std::nullopt;
  }
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t at = 0; at < text.size(); at += 2) {
    bytes.push_back(static_cast<char>(digits.find(text[at]) << 4U | digits.find(text[at + 1])));
  }
  return bytes;
}

std::optional<std::uint64_t> number_of_hex(std::string_view text) noexcept {
  if (!is_hex(text, 16)) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (const char digit : text) {
    number = number << 4U | digits.find(digit);
  }
  return number;
}

}  // namespace hpsearch::engine
