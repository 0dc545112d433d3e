#include "daemon/access/token.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::string_view prefix = "hps_";
constexpr std::size_t id_chars = 8;
constexpr std::size_t secret_bytes = 32;
constexpr std::size_t secret_chars = 43;
constexpr std::size_t check_chars = 6;
constexpr std::string_view base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view id_alphabet =
    "abcdefghijklmnopqrstuvwxyz234567";  // Base 32: a byte's low five bits.

void fill_randomly(std::span<unsigned char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      std::abort();  // A guessable secret would be worse.
    }
  }
}

/// Six bits a character, the last one filled up with zeros.
std::string in_base64url(std::span<const unsigned char> bytes) {
  std::string text;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const unsigned char byte : bytes) {
    held = (held << 8U) | byte;
    for (bits += 8; bits >= 6; bits -= 6) {
      text += base64url[(held >> (bits - 6)) & 63U];
    }
  }
  if (bits > 0) {
    text += base64url[(held << (6 - bits)) & 63U];
  }
  return text;
}

std::string check_of(std::string_view text) {
  const std::string digest = context::sha256_of(text);
  std::array<unsigned char, 4> start{};
  for (std::size_t i = 0; i < start.size(); ++i) {
    std::from_chars(&digest[2 * i], &digest[2 * i] + 2, start[i], 16);
  }
  return in_base64url(start);
}

}  // namespace

bool is_token_id(std::string_view text) noexcept {
  return text.size() == id_chars && text.find_first_not_of(id_alphabet) == std::string_view::npos;
}

std::string Token::text() const {
  const std::string start = std::string(prefix) + id + "_" + secret;
  return start + check_of(start);
}

std::string new_secret() {
  std::array<unsigned char, secret_bytes> bytes{};
  fill_randomly(bytes);
  return in_base64url(bytes);
}

Token new_token() {
  std::array<unsigned char, id_chars> bytes{};
  fill_randomly(bytes);
  Token token;
  for (const unsigned char byte : bytes) {
    token.id += id_alphabet[byte % id_alphabet.size()];
  }
  token.secret = new_secret();
  return token;
}

std::optional<Token> read_token(std::string_view text) {
  constexpr std::size_t start_chars = prefix.size() + id_chars + 1 + secret_chars;
  if (text.size() != start_chars + check_chars || !text.starts_with(prefix) ||
      text[prefix.size() + id_chars] != '_' ||
      check_of(text.substr(0, start_chars)) != text.substr(start_chars)) {
    return std::nullopt;
  }
  const std::string_view id = text.substr(prefix.size(), id_chars);
  const std::string_view secret = text.substr(prefix.size() + id_chars + 1, secret_chars);
  if (!is_token_id(id) || secret.find_first_not_of(base64url) != std::string_view::npos) {
    return std::nullopt;
  }
  return Token{std::string(id), std::string(secret)};
}

std::string hash_of(std::string_view secret) {
  return context::sha256_of(secret);
}

bool equal_hashes(std::string_view a, std::string_view b) noexcept {
  unsigned differing = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    differing |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return differing == 0;
}

}  // namespace hpsearch::daemon
