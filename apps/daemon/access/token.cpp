#include "daemon/access/token.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "hpsearch/engine/base/base64url.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::string_view prefix = "hps_";
constexpr std::size_t id_chars = 8;
constexpr std::size_t secret_bytes = 32;
constexpr std::size_t secret_chars = 43;
constexpr std::size_t check_chars = 6;
constexpr std::string_view id_alphabet =
    "abcdefghijklmnopqrstuvwxyz234567";  // Base 32: a byte's low five bits.

std::string check_of(std::string_view text) {
  constexpr std::size_t start = 4;
  const auto bytes = engine::bytes_of_hex(files::sha256_of(text).substr(0, 2 * start));
  return engine::base64url_of(*bytes);
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
  std::array<std::byte, secret_bytes> bytes{};
  files::fill_randomly(bytes);
  return engine::base64url_of(std::span(bytes));
}

Token new_token() {
  std::array<std::byte, id_chars> bytes{};
  files::fill_randomly(bytes);
  Token token;
  for (const std::byte byte : bytes) {
    token.id += id_alphabet[std::to_integer<std::size_t>(byte) % id_alphabet.size()];
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
  if (!is_token_id(id) || secret.find_first_not_of(engine::base64url_alphabet) != std::string_view::npos) {
    return std::nullopt;
  }
  return Token{std::string(id), std::string(secret)};
}

std::string hash_of(std::string_view secret) {
  return files::sha256_of(secret);
}

bool equal_hashes(std::string_view a, std::string_view b) noexcept {
  unsigned differing = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    differing |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return differing == 0;
}

}  // namespace hpsearch::daemon
