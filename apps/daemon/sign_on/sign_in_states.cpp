#include "daemon/sign_on/sign_in_states.hpp"

#include <sodium.h>

#include <span>

#include "daemon/access/token.hpp"
#include "hpsearch/engine/base/base64url.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Instant;

constexpr std::size_t most_state_chars = 256;

}  // namespace

std::string SignInState::challenge() const {
  return engine::base64url_of(*engine::bytes_of_hex(files::sha256_of(verifier)));
}

SignInStates::SignInStates() {
  files::fill_randomly(std::as_writable_bytes(std::span(key_)));
}

std::string SignInStates::code_of(std::string_view purpose, std::string_view payload) const {
  const std::string text = std::string(purpose) + ":" + std::string(payload);
  std::array<unsigned char, crypto_auth_hmacsha256_BYTES> code{};
  static_assert(crypto_auth_hmacsha256_KEYBYTES == std::tuple_size_v<decltype(key_)>);
  crypto_auth_hmacsha256(code.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                         key_.data());
  return engine::base64url_of(std::as_bytes(std::span(code)));
}

SignInState SignInStates::state_of(const std::string& payload) const {
  return {payload + "." + code_of("state", payload), code_of("key", payload), code_of("nonce", payload),
          code_of("verifier", payload)};
}

SignInState SignInStates::begin(Instant now) const {
  return state_of(std::to_string((now + life).micros()) + "." + new_secret());
}

std::optional<SignInState> SignInStates::find(std::string_view state, std::string_view key,
                                              Instant now) const {
  const std::size_t end = state.rfind('.');
  if (end == std::string_view::npos || state.size() > most_state_chars) {
    return std::nullopt;
  }
  const std::string payload(state.substr(0, end));
  SignInState begun = state_of(payload);
  const auto ends = engine::number_in<std::int64_t>(payload.substr(0, payload.find('.')));
  const bool is_ours = equal_hashes(begun.state, state) && equal_hashes(begun.key, key);
  return is_ours && ends && now.micros() < *ends ? std::optional(std::move(begun)) : std::nullopt;
}

}  // namespace hpsearch::daemon
