#pragma once

#include <string>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// Clocks of two machines may differ by this much.
inline constexpr engine::Duration clock_leeway = engine::Duration::seconds(60);

/// The claims of an ID token (JWS, compact form) whose signature one of the provider's `keys` (a JWK set)
/// verifies. Signatures are RSA (2048 bits or more) or ECDSA; "none" and symmetric ones are refused, whatever
/// the keys are. not_found: none of the keys fits, so that the provider may have newer ones; bad_request: the
/// token can't be accepted.
[[nodiscard]] engine::Result<engine::Value> signed_claims(const std::string& token,
                                                          const engine::Value& keys);

/// The claims that an ID token must have.
struct ExpectedClaims {
  std::string issuer;
  std::string client_id;
  std::string nonce;
};

/// bad_request: the token is for somebody else, for another sign-in, too old, or from the future.
[[nodiscard]] engine::Status check_claims(const engine::Value& claims, const ExpectedClaims& expected,
                                          engine::Instant now);

}  // namespace hpsearch::daemon
