#include "dispatch/zmtp_connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::bench {
namespace {

constexpr std::size_t greeting_bytes = 64;
constexpr std::byte long_frame{0x02};
constexpr std::byte command_frame{0x04};
constexpr std::size_t longest_short_frame = 255;
constexpr std::size_t read_piece = 16 * 1024;

void append(std::vector<std::byte>& to, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append_number(std::vector<std::byte>& to, std::uint64_t number, std::size_t bytes) {
  for (std::size_t left = bytes; left-- > 0;) {
    to.push_back(static_cast<std::byte>(number >> (8 * left)));
  }
}

void append_frame(std::vector<std::byte>& to, std::byte flags, std::span<const std::byte> body) {
  const bool is_long = body.size() > longest_short_frame;
  to.push_back(is_long ? flags | long_frame : flags);
  append_number(to, body.size(), is_long ? 8 : 1);
  to.insert(to.end(), body.begin(), body.end());
}

bool begins_with(std::span<const std::byte> body, std::string_view name) {
  return body.size() > name.size() && std::to_integer<std::size_t>(body[0]) == name.size() &&
         std::memcmp(body.data() + 1, name.data(), name.size()) == 0;
}

}  // namespace

ZmtpConnection::ZmtpConnection(std::uint16_t port, OnFrame on_frame) : on_frame_(std::move(on_frame)) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  HPSEARCH_CHECK(
      socket_ >= 0 && ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
      "the bench's server listens");
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  greet();
}

ZmtpConnection::~ZmtpConnection() {
  ::close(socket_);
}

void ZmtpConnection::greet() {
  std::vector<std::byte> greeting;
  append_number(greeting, 0xFF, 1);
  append_number(greeting, 0, 8);
  append_number(greeting, 0x7F, 1);
  append_number(greeting, 0x0300, 2);  // Version 3.0.
  append(greeting, "NULL");
  greeting.resize(greeting_bytes);
  std::vector<std::byte> ready;
  append(ready, "\x05READY\x0BSocket-Type");
  append_number(ready, 6, 4);
  append(ready, "DEALER");
  append_frame(greeting, command_frame, ready);
  write_all(greeting);
  while (arrived_.size() < greeting_bytes) {
    read_more(true);
  }
  HPSEARCH_CHECK(arrived_[0] == std::byte{0xFF} && arrived_[10] >= std::byte{3},
                 "the bench's server speaks ZMTP 3");
  arrived_.erase(arrived_.begin(), arrived_.begin() + greeting_bytes);
  take_frames();
  while (!ready_) {
    read_more(true);
    take_frames();
  }
}

void ZmtpConnection::send(std::span<const std::byte> frame) {
  leaving_.clear();
  append_frame(leaving_, std::byte{0}, frame);
  write_all(leaving_);
}

void ZmtpConnection::receive() {
  if (read_more(false)) {
    take_frames();
  }
}

void ZmtpConnection::write_all(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    HPSEARCH_CHECK(sent > 0 || errno == EINTR, "the bench's server takes what is sent");
    bytes = bytes.subspan(sent > 0 ? static_cast<std::size_t>(sent) : 0);
  }
}

bool ZmtpConnection::read_more(bool wait) {
  std::array<std::byte, read_piece> piece;  // Filled by recv().
  const ssize_t got = ::recv(socket_, piece.data(), piece.size(), wait ? 0 : MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return false;
  }
  HPSEARCH_CHECK(got > 0, "the bench's server stays");
  arrived_.insert(arrived_.end(), piece.begin(), piece.begin() + got);
  return true;
}

void ZmtpConnection::take_frames() {
  std::size_t at = 0;
  for (;;) {
    const std::span<const std::byte> rest = std::span(arrived_).subspan(at);
    if (rest.size() < 2) {
      break;
    }
    const bool is_long = (rest[0] & long_frame) != std::byte{0};
    const std::size_t head = is_long ? 9 : 2;
    if (rest.size() < head) {
      break;
    }
    std::uint64_t size = 0;
    for (std::size_t i = 1; i < head; ++i) {
      size = size << 8U | std::to_integer<std::uint64_t>(rest[i]);
    }
    if (rest.size() - head < size) {
      break;
    }
    const std::span<const std::byte> body = rest.subspan(head, size);
    at += head + size;
    if ((rest[0] & command_frame) != std::byte{0}) {
      take_command(body);
    } else {
      on_frame_(body);
    }
  }
  arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(at));
}

void ZmtpConnection::take_command(std::span<const std::byte> body) {
  constexpr std::size_t ping_head = 7;  // Length, "PING", time to live.
  if (begins_with(body, "READY")) {
    ready_ = true;
  } else if (begins_with(body, "PING") && body.size() >= ping_head) {
    std::vector<std::byte> pong;
    append(pong, "\x04PONG");
    pong.insert(pong.end(), body.begin() + ping_head, body.end());
    std::vector<std::byte> frame;
    append_frame(frame, command_frame, pong);
    write_all(frame);
  }
}

}  // namespace hpsearch::bench
