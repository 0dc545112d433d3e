#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/zmq/curve.hpp"
#include "hpsearch/io/zmq/peer_port.hpp"

namespace hpsearch::net {

/// A socket's options as it has them, by libzmq's names in lower case.
using SocketOptions = std::map<std::string, std::int64_t>;

/// A ZeroMQ ROUTER in a Loop. Messages of several frames and frames above the limit are dropped; over TCP
/// their sender is disconnected, also before such a message ends, or when it sends without having shown its
/// key.
class RouterPort final : public PeerPort {
 public:
  /// Binds "tcp://127.0.0.1:5555" or "tcp://[::]:5555", where port 0 or * takes a free one, or "ipc:///path",
  /// where only processes of our own user and of root are let in. With `curve` everything is encrypted, and
  /// only who has an admitted key is heard; whether a stranger is kept out is tried before this returns.
  /// unavailable: the address is in use or not ours, or strangers are not kept out.
  [[nodiscard]] static engine::Result<std::unique_ptr<RouterPort>> bind(
      Loop& loop, const std::string& endpoint, std::size_t max_frame_bytes, OnFrame on_frame,
      std::optional<CurveServer> curve = {});
  ~RouterPort() override;
  [[nodiscard]] std::string endpoint() const override;  ///< With the real port.
  [[nodiscard]] std::string sender_key() const override;
  [[nodiscard]] std::string sender_address() const override;
  void cut_sender() override;
  bool send(const Peer& peer, std::span<const std::byte> frame) override;
  [[nodiscard]] SocketOptions options() const;

  struct Impl;
  explicit RouterPort(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// A ZeroMQ DEALER in a Loop: one connection to one ROUTER. Reconnects by itself; since what was queued may
/// be lost with a connection, close it and make a new one for a new session.
class DealerPort {
 public:
  using OnFrame = std::function<void(std::span<const std::byte> frame)>;
  /// How an attempt to connect ended, as far as it can be told.
  enum class Met {
    connected,         ///< From now on frames are taken. Again: there was another connection before.
    key_refused,       ///< Our key is not admitted.
    security_differs,  ///< One speaks CURVE and the other does not, or its key is another than we were told.
  };
  /// After a refusal it is tried again, ever more seldom; where nobody answers, every 2.5 s at least.
  using OnHandshake = std::function<void(Met)>;

  /// `over_ipv6`: the host's name has IPv6 addresses only (needs_ipv6()).
  [[nodiscard]] static engine::Result<std::unique_ptr<DealerPort>> connect(
      Loop& loop, const std::string& endpoint, std::size_t max_frame_bytes, OnFrame on_frame,
      std::optional<CurveClient> curve = {}, OnHandshake on_handshake = nullptr, bool over_ipv6 = false);
  ~DealerPort();
  /// False when there is no connection to take it (nothing is queued for an absent peer) or the queue is
  /// full.
  bool send(std::span<const std::byte> frame);
  [[nodiscard]] SocketOptions options() const;

  struct Impl;
  explicit DealerPort(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpsearch::net
