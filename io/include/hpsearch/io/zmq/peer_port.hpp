#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace hpsearch::net {

/// Names one connection of a PeerPort; opaque, never reused while the port lives.
using Peer = std::string;

/// Where many peers are spoken to, one frame per message. Delivery is at most once: whoever needs more
/// numbers and repeats its messages.
class PeerPort {
 public:
  using OnFrame = std::function<void(const Peer& peer, std::span<const std::byte> frame)>;

  PeerPort() = default;
  PeerPort(const PeerPort&) = delete;
  PeerPort& operator=(const PeerPort&) = delete;
  virtual ~PeerPort() = default;

  [[nodiscard]] virtual std::string endpoint() const = 0;  ///< What peers connect to.

  /// The public key with which the sender of the frame that is being delivered was let in (curve.hpp); ""
  /// when this port lets in everybody.
  [[nodiscard]] virtual std::string sender_key() const { return {}; }

  /// The IP address of that sender; "" where there is none.
  [[nodiscard]] virtual std::string sender_address() const { return {}; }
  /// Ends the connection over which that frame came, if the port can end a single one.
  virtual void cut_sender() {}

  /// False when the peer is gone or its queue is full: its session is over then.
  virtual bool send(const Peer& peer, std::span<const std::byte> frame) = 0;
};

}  // namespace hpsearch::net
