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

}  // namespace hpsearch::proto
