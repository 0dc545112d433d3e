#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// One sign-in at a provider that has begun. All texts are base64url and points.
struct SignInState {
  std::string state;     ///< Goes to the provider and comes back.
  std::string key;       ///< Only the browser that began has it: an answer for another browser is refused.
  std::string nonce;     ///< Has to be in the ID token.
  std::string verifier;  ///< For PKCE (RFC 7636); it goes to the provider with the code.

  /// S256 of the verifier.
  [[nodiscard]] std::string challenge() const;
};

/// Sign-ins that have begun. Nothing is stored: a state contains its end and an authentication code, and the
/// other texts follow from it with a key of this object. So any number of sign-ins take no memory; those of
/// another process are unknown. Threads: any.
class SignInStates {
 public:
  static constexpr engine::Duration life = engine::Duration::seconds(600);

  SignInStates();  ///< Uses getrandom(2).

  [[nodiscard]] SignInState begin(engine::Instant now) const;
  /// Null: this object did not make the state, it is too old, or the key is that of another one.
  [[nodiscard]] std::optional<SignInState> find(std::string_view state, std::string_view key,
                                                engine::Instant now) const;

 private:
  [[nodiscard]] std::string code_of(std::string_view purpose, std::string_view payload) const;
  [[nodiscard]] SignInState state_of(const std::string& payload) const;

  std::array<unsigned char, 32> key_{};
};

}  // namespace hpsearch::daemon
