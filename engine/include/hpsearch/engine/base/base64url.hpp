#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hpsearch::engine {

/// The characters of base64url (RFC 4648), which need no quotes in shells, addresses and file names.
inline constexpr std::string_view base64url_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Six bits per character, without padding; the last character is filled up with zeros.
[[nodiscard]] std::string base64url_of(std::span<const std::byte> bytes);
[[nodiscard]] std::string base64url_of(std::string_view bytes);

/// The bytes that base64url_of() has written. Nothing for any other text.
[[nodiscard]] std::optional<std::string> bytes_of_base64url(std::string_view text);

}  // namespace hpsearch::engine
