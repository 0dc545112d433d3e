#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/net/loop.hpp"

namespace hpsearch::net {

/// Names one connection of a RouterPort; opaque, never reused while the port lives.
using Peer = std::string;

/// A ZeroMQ ROUTER in a Loop: many peers, one frame per message. Messages of several frames and frames above
/// the limit are dropped. Delivery is at most once: whoever needs more numbers and repeats its messages.
class RouterPort {
 public:
  using OnFrame = std::function<void(const Peer& peer, std::span<const std::byte> frame)>;

  /// Binds "tcp://127.0.0.1:5555"; port 0 or * takes a free one. unavailable: the address is in use or not
  /// ours.
  [[nodiscard]] static engine::Result<std::unique_ptr<RouterPort>> bind(Loop& loop,
                                                                        const std::string& endpoint,
                                                                        std::size_t max_frame_bytes,
                                                                        OnFrame on_frame);
  ~RouterPort();
  [[nodiscard]] std::string endpoint() const;  ///< With the real port.

  /// False when the peer is gone or its queue is full: its session is over then.
  bool send(const Peer& peer, std::span<const std::byte> frame);

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

  struct Impl;
  explicit DealerPort(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpsearch::net
