#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace hpsearch::engine {

/// The number that the whole of `text` spells: digits, with a sign '-' where `Number` can be negative; for
/// reals also an exponent, "nan" and "inf". Nothing for anything else: an empty text, blanks, a '+', digits
/// and more, or a number that `Number` can't hold. Independent of the locale. O(length).
template <class Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text) noexcept {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

/// "0123456789abcdef", two digits for each byte.
[[nodiscard]] std::string hex_of(std::span<const std::byte> bytes);
[[nodiscard]] std::string hex_of(std::string_view bytes);
/// All 16 digits of a number, the highest first.
[[nodiscard]] std::string hex_of(std::uint64_t number);

/// Whether `text` consists of `count` digits as hex_of() writes them.
[[nodiscard]] bool is_hex(std::string_view text, std::size_t count) noexcept;

/// What hex_of() has written. Nothing for anything else.
[[nodiscard]] std::optional<std::string> bytes_of_hex(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> number_of_hex(std::string_view text) noexcept;

}  // namespace hpsearch::engine
