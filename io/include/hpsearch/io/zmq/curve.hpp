#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::net {

/// A pair of CURVE keys: 64 digits of lower case hexadecimal each. Z85, as libzmq spells them, has
/// characters that shells and units of systemd replace.
struct CurveKeys {
  std::string public_key;
  std::string secret_key;
};

/// Those of the file DIRECTORY/curve.key, which holds the secret one; at the first call it is made, for its
/// owner only. wrong_state: others may read it, or it is not ours; corrupt: it holds no key; unavailable: it
/// cannot be read or made.
[[nodiscard]] engine::Result<CurveKeys> curve_keys_in(const std::string& directory);

/// A pair that is in no file. unavailable: libzmq was built without CURVE.
[[nodiscard]] engine::Result<CurveKeys> new_curve_keys();
/// The pair of a secret key that is_curve_key(). unavailable: the same.
[[nodiscard]] engine::Result<CurveKeys> curve_keys_of_secret(const std::string& secret_key);

/// Whether this is a key: 64 digits of lower case hexadecimal.
[[nodiscard]] bool is_curve_key(std::string_view text) noexcept;

/// What a port needs that lets in only whom it knows.
struct CurveServer {
  CurveKeys keys;
  /// Whether the owner of this public key may connect. Called on a thread of the port's own; must not wait.
  std::function<bool(const std::string& public_key)> admits;
};

/// What whoever connects to such a port needs.
struct CurveClient {
  std::string server_key;  ///< The port's public key: nobody else can take its place.
  CurveKeys keys;
};

}  // namespace hpsearch::net
