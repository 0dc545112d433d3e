#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/zmq/curve.hpp"

namespace hpsearch::net {

/// The invite that a machine needs to join a daemon: one word, "hpi_" and base64url.
///
/// Its secret is the secret key of a CURVE key pair. The daemon stores the public key only, and admits its
/// owner to one message, JOIN. A wrong secret ends in the handshake, as every unknown key does.
struct InviteToken {
  static constexpr std::string_view prefix = "hpi_";

  std::string endpoint;  ///< "tcp://10.0.0.1:8078"
  CurveClient curve;     ///< The daemon's public key, and the keys of the invite.

  /// The word, with a checksum: a damaged token is recognized without the daemon.
  [[nodiscard]] std::string text() const;

  /// bad_request: the text is no invite; the message says what it is instead, and never contains it.
  [[nodiscard]] static engine::Result<InviteToken> read(std::string_view text);
};

/// The name of the invite with that public key, for people: 8 hexadecimal digits.
[[nodiscard]] std::string invite_id(std::string_view public_key);

}  // namespace hpsearch::net
