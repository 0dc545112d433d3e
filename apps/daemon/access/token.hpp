#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::daemon {

/// What a client shows over TCP: "hps_", 8 characters that name it, "_", 43 characters of secret (256 bits,
/// base64url) and 6 of a checksum (the first 32 bits of SHA-256) over all that stands before them, so that a
/// typing error is told from a wrong secret.
struct Token {
  std::string id;      ///< Lower-case letters and digits.
  std::string secret;  ///< Known to its owner alone; only hash_of() is kept.

  [[nodiscard]] std::string text() const;
};

/// From getrandom(2).
[[nodiscard]] Token new_token();
/// Nothing: it is not spelled as a token, or its checksum is wrong.
[[nodiscard]] std::optional<Token> read_token(std::string_view text);
[[nodiscard]] bool is_token_id(std::string_view text) noexcept;

/// 256 random bits as 43 characters of base64url, from getrandom(2).
[[nodiscard]] std::string new_secret();

/// SHA-256 in hexadecimal. Enough for 256 random bits: no dictionary finds them.
[[nodiscard]] std::string hash_of(std::string_view secret);

/// In a time that does not depend on where they differ.
[[nodiscard]] bool equal_hashes(std::string_view a, std::string_view b) noexcept;

}  // namespace hpsearch::daemon
