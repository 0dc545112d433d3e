#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/net/loop.hpp"
#include "hpsearch/net/peer_port.hpp"

namespace hpsearch::net {

/// A socket's options as it has them, by libzmq's names in lower case.
using SocketOptions = std::map<std::string, std::int64_t>;

/// A ZeroMQ ROUTER in a Loop. Messages of several frames and frames above the limit are dropped; who goes on
/// sending such messages is not heard any more until it connects anew.
class RouterPort final : public PeerPort {
 public:
  /// Binds "tcp://127.0.0.1:5555"; port 0 or * takes a free one. unavailable: the address is in use or not
  /// ours.
  [[nodiscard]] static engine::Result<std::unique_ptr<RouterPort>> bind(Loop& loop,
                                                                        const std::string& endpoint,
                                                                        std::size_t max_frame_bytes,
                                                                        OnFrame on_frame);
  ~RouterPort() override;
  [[nodiscard]] std::string endpoint() const override;  ///< With the real port.
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

  [[nodiscard]] static engine::Result<std::unique_ptr<DealerPort>> connect(Loop& loop,
                                                                           const std::string& endpoint,
                                                                           std::size_t max_frame_bytes,
                                                                           OnFrame on_frame);
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
