#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hpsearch::proto {

/// The length of the UTF-8 character at the beginning of `bytes`; 0 if there is none (overlong forms,
/// surrogates and code points above U+10FFFF are no characters).
[[nodiscard]] std::size_t utf8_length(std::string_view bytes) noexcept;

[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

/// The text with U+FFFD in place of every byte that belongs to no character: for output of programs
/// and for text that was cut inside a character.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

/// The bytes with '?' in place of every byte that isn't part of well-formed UTF-8, so that the length and
/// offsets stay the same.
[[nodiscard]] std::string clean_utf8(std::string_view bytes);

/// The number of bytes at the end of `bytes` that begin an incomplete UTF-8 character; 0 … 3.
[[nodiscard]] std::size_t cut_character_at_end(std::string_view bytes) noexcept;

/// The number of bytes at the start of `bytes` that belong to an earlier character; 0 … 3.
[[nodiscard]] std::size_t cut_character_at_start(std::string_view bytes) noexcept;

}  // namespace hpsearch::proto
