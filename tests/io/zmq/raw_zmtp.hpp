#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace hpsearch::net {

/// A connection that speaks ZMTP 3.1 byte by byte, as no library of ZeroMQ would.
class RawZmtp {
 public:
  /// `endpoint` is "tcp://127.0.0.1:PORT".
  explicit RawZmtp(const std::string& endpoint)
      : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(
        static_cast<std::uint16_t>(std::strtoul(endpoint.c_str() + endpoint.rfind(':') + 1, nullptr, 10)));
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  RawZmtp(const RawZmtp&) = delete;
  RawZmtp& operator=(const RawZmtp&) = delete;
  ~RawZmtp() { ::close(descriptor_); }

  /// False: the other end takes nothing more.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// The signature, the version and the mechanism, "NULL" or "CURVE".
  void greet(std::string_view mechanism) {
    std::string greeting("\xFF\0\0\0\0\0\0\0\0\x7F\x03\x01", 12);
    greeting.append(mechanism).resize(32, '\0');
    greeting.resize(64, '\0');
    EXPECT_TRUE(send(greeting));
  }
  /// The whole handshake of the mechanism NULL. What is sent before the other end is ready ends the
  /// connection.
  void greet_as_dealer() {
    greet("NULL");
    const std::string ready = std::string("\x05READY\x0BSocket-Type\0\0\0\x06", 22) + "DEALER";
    EXPECT_TRUE(send(std::string("\x04", 1) + static_cast<char>(ready.size()) + ready));
    const std::string start = receive(66);  // Its greeting, and how long its READY is.
    static_cast<void>(receive(start.size() == 66 ? static_cast<unsigned char>(start[65]) : 0));
  }
  /// Exactly so many bytes, or fewer when the other end has ended the connection.
  [[nodiscard]] std::string receive(std::size_t size) const {
    std::string bytes(size, '\0');
    std::size_t received = 0;
    while (received < size) {
      const ssize_t some = ::recv(descriptor_, bytes.data() + received, size - received, 0);
      if (some <= 0) {
        break;
      }
      received += static_cast<std::size_t>(some);
    }
    bytes.resize(received);
    return bytes;
  }

  enum class Part : std::uint8_t { last = 2, more = 3 };
  static std::string frame(Part part, std::string_view body, std::uint64_t said_size) {
    std::string text(1, static_cast<char>(part));
    for (int shift = 56; shift >= 0; shift -= 8) {
      text += static_cast<char>((said_size >> static_cast<unsigned>(shift)) & 0xFFU);
    }
    return text.append(body);
  }
  static std::string frame(Part part, std::string_view body) { return frame(part, body, body.size()); }

  /// Whether the other end has ended the connection. Its heartbeats are answered, so that silence is no
  /// reason to end; what else it sends is forgotten.
  [[nodiscard]] bool ended() {
    for (;;) {
      pollfd look{descriptor_, POLLIN, 0};
      if (::poll(&look, 1, 0) <= 0) {
        return false;
      }
      char bytes[512];
      const ssize_t some = ::recv(descriptor_, bytes, sizeof bytes, 0);
      if (some <= 0) {
        return true;
      }
      unread_.append(bytes, static_cast<std::size_t>(some));
      answer_heartbeats();
    }
  }

 private:
  /// Every frame of a ROUTER that has nothing to say is short: flags, size, body.
  void answer_heartbeats() {
    constexpr std::string_view ping("\x04PING", 5);
    constexpr std::size_t time_to_live = 2;
    while (unread_.size() >= 2) {
      const auto size = static_cast<unsigned char>(unread_[1]);
      if (unread_.size() < 2UL + size) {
        return;
      }
      const std::string body = unread_.substr(2, size);
      unread_.erase(0, 2UL + size);
      if (body.starts_with(ping)) {
        const std::string pong = "\x04PONG" + body.substr(ping.size() + time_to_live);
        send(std::string(1, '\x04') + static_cast<char>(pong.size()) + pong);
      }
    }
  }

  int descriptor_;
  std::string unread_;
};

}  // namespace hpsearch::net
