#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hpsearch::proto {

/// Bytes of the UTF-8 character that `bytes` begins with; 0 when it begins with none (overlong forms,
/// surrogates and code points past U+10FFFF are none).
[[nodiscard]] std::size_t utf8_length(std::string_view bytes) noexcept;

[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

/// The same text with U+FFFD in place of every byte that is no part of a character: for what programs print
/// and for text that was cut at a byte.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

/// `bytes` with every byte that is not part of well-formed UTF-8 replaced by '?', so the length stays and
/// offsets keep their meaning.
[[nodiscard]] std::string clean_utf8(std::string_view bytes);

/// How many bytes at the end of `bytes` begin a UTF-8 character that is cut off there; 0 … 3.
[[nodiscard]] std::size_t cut_character_at_end(std::string_view bytes) noexcept;

/// How many bytes at the start of `bytes` belong to a character that began before; 0 … 3.
[[nodiscard]] std::size_t cut_character_at_start(std::string_view bytes) noexcept;

}  // namespace hpsearch::proto
