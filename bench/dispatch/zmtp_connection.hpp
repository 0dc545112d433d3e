#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hpsearch::bench {

/// One connection to a ROUTER that costs its own side almost nothing, so that a bench with a thousand of them
/// measures the ROUTER: ZMTP 3.0 over TCP with the NULL mechanism (https://rfc.zeromq.org/spec/23/), messages
/// of one frame, heartbeats answered.
///
/// Threads: the caller's. Any breach of the protocol ends the process with a message: it is a bench.
class ZmtpConnection {
 public:
  using OnFrame = std::function<void(std::span<const std::byte> frame)>;

  /// Connects to 127.0.0.1:port and waits until both sides are ready to talk.
  ZmtpConnection(std::uint16_t port, OnFrame on_frame);
  ZmtpConnection(const ZmtpConnection&) = delete;
  ZmtpConnection& operator=(const ZmtpConnection&) = delete;
  ~ZmtpConnection();

  [[nodiscard]] int descriptor() const noexcept { return socket_; }

  void send(std::span<const std::byte> frame);
  /// Takes what has arrived; calls back for each message. To be called when the descriptor is readable.
  void receive();

 private:
  void greet();
  void write_all(std::span<const std::byte> bytes) const;
  /// Reads once. False when there is nothing more for now.
  bool read_more(bool wait);
  void take_frames();
  void take_command(std::span<const std::byte> body);

  int socket_ = -1;
  OnFrame on_frame_;
  std::vector<std::byte> arrived_;
  std::vector<std::byte> leaving_;
  bool ready_ = false;  ///< The peer has said READY.
};

}  // namespace hpsearch::bench
