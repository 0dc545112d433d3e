#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::daemon {

/// A token as a client shows it over TCP: "hps_", 8 characters of an id, "_", 43 characters of secret (256
/// bits, base64url) and 6 of a checksum (the first 32 bits of SHA-256) over everything before them, which
/// distinguishes a typing error from a wrong secret.
struct Token {
  std::string id;      ///< Lower-case letters and digits.
  std::string secret;  ///< Only its owner has it; the daemon keeps hash_of() it.

  [[nodiscard]] std::string text() const;
};

/// Uses getrandom(2).
[[nodiscard]] Token new_token();
/// Null: it is not spelled as a token, or its checksum is wrong.
[[nodiscard]] std::optional<Token> read_token(std::string_view text);
[[nodiscard]] bool is_token_id(std::string_view text) noexcept;

/// 256 random bits as 43 characters of base64url, from getrandom(2).
[[nodiscard]] std::string new_secret();

/// SHA-256 in hexadecimal. Enough for 256 random bits: no dictionary finds them.
[[nodiscard]] std::string hash_of(std::string_view secret);

/// Takes the same time wherever they differ.
[[nodiscard]] bool equal_hashes(std::string_view a, std::string_view b) noexcept;

}  // namespace hpsearch::daemon
