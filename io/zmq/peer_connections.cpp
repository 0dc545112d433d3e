#include "zmq/peer_connections.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "hpsearch/io/net/log.hpp"
#include "net/uninterrupted.hpp"

namespace hpsearch::net {
namespace {

constexpr const char* events_at = "inproc://connections";
constexpr int all_events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED;
// Each look is two calls of the kernel.
constexpr std::size_t most_looked_at = 500;
// A frame's header, what CURVE adds to it, heartbeats, and the handshake.
constexpr std::uint64_t beside_a_frame = 64UL * 1024;
// As much, or more, comes with each message; or what is unheard would grow with their number.
constexpr std::uint64_t most_beside_a_message = 128;
// HELLO and INITIATE with their metadata take less than one.
constexpr std::uint64_t most_before_keys = 16UL * 1024;
// Where there is always something left to deliver, nothing tells a message without end from a queue. No
// worker has so much under way (CreditRules::most).
constexpr std::uint64_t most_unheard = 16UL * 1024 * 1024;
// A CURVE server sends a greeting and WELCOME before it knows the key, and READY only to whom it lets in.
constexpr std::uint64_t sent_to_strangers = 64 + 2 + 168;

struct Traffic {
  std::uint64_t taken = 0;         ///< Bytes that libzmq has read.
  std::uint64_t acknowledged = 0;  ///< Bytes of ours that have arrived.
};

/// False when that is no TCP connection any more.
bool read_traffic(int descriptor, Traffic& traffic) {
  tcp_info info{};
  socklen_t size = sizeof info;
  int waiting = 0;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      size < offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received ||
      ::ioctl(descriptor, FIONREAD, &waiting) != 0) {
    return false;
  }
  const auto unread = static_cast<std::uint64_t>(std::max(0, waiting));
  traffic = {info.tcpi_bytes_received - std::min<std::uint64_t>(unread, info.tcpi_bytes_received),
             info.tcpi_bytes_acked};
  return true;
}

/// 0: it has none.
unsigned local_port_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  if (address.ss_family == AF_INET) {
    sockaddr_in ip{};
    std::memcpy(&ip, &address, sizeof ip);
    return ntohs(ip.sin_port);
  }
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 ip{};
    std::memcpy(&ip, &address, sizeof ip);
    return ntohs(ip.sin6_port);
  }
  return 0;
}

int descriptor_of(zmq::message_t& message) {
  return ::zmq_msg_get(message.handle(), ZMQ_SRCFD);
}

}  // namespace

PeerConnections::PeerConnections(zmq::context_t& context, zmq::socket_t& socket, Limits limits)
    : limits_(limits), socket_(socket), events_(context, zmq::socket_type::pair) {
  events_.set(zmq::sockopt::linger, 0);
  events_.set(zmq::sockopt::rcvhwm, 0);  // Or a crowd of connections would make libzmq's thread wait for us.
  if (::zmq_socket_monitor(socket.handle(), events_at, all_events) != 0) {
    throw zmq::error_t();
  }
  events_.connect(events_at);
}

void PeerConnections::heard(zmq::message_t& payload) {
  const int descriptor = descriptor_of(payload);
  if (descriptor < 0) {
    return;
  }
  Connection& connection = connections_[descriptor];
  connection.heard += payload.size() + most_beside_a_message;
  if (!connection.ever_heard) {
    connection.ever_heard = true;
    never_heard_.erase(descriptor);
  }
}

bool PeerConnections::cut(zmq::message_t& payload) {
  const int descriptor = descriptor_of(payload);
  return descriptor >= 0 && end_connection(descriptor);
}

bool PeerConnections::end_connection(int descriptor) const {
  // The connection may have ended, and its number be another one's, which is left alone.
  const std::string endpoint = socket_.get(zmq::sockopt::last_endpoint);
  return endpoint.ends_with(":" + std::to_string(local_port_of(descriptor))) &&
         ::shutdown(descriptor, SHUT_RDWR) == 0;
}

void PeerConnections::look(bool drained) {
  take_events();
  const std::vector<int> strangers(never_heard_.begin(), never_heard_.end());
  for (const int descriptor : strangers) {
    const auto found = connections_.find(descriptor);
    if (found != connections_.end() && !look_at(descriptor, found->second, drained)) {
      connections_.erase(found);
      never_heard_.erase(descriptor);
    }
  }
  auto place = connections_.lower_bound(next_);
  for (std::size_t left = std::min(most_looked_at, connections_.size()); left > 0; --left) {
    if (place == connections_.end()) {
      place = connections_.begin();
      if (place == connections_.end()) {
        return;  // All have ended.
      }
    }
    next_ = place->first + 1;
    const bool stays = !place->second.ever_heard || look_at(place->first, place->second, drained);
    place = stays ? std::next(place) : connections_.erase(place);
  }
}

void PeerConnections::take_events() {
  // Two bytes say what happened, four more to which descriptor; a second part says where.
  zmq::message_t event;
  while (uninterrupted([&] { return events_.recv(event, zmq::recv_flags::dontwait).has_value(); })) {
    std::uint16_t kind = 0;
    std::int32_t descriptor = -1;
    if (event.size() >= sizeof kind + sizeof descriptor) {
      std::memcpy(&kind, event.data(), sizeof kind);
      std::memcpy(&descriptor, static_cast<const char*>(event.data()) + sizeof kind, sizeof descriptor);
    }
    for (bool more = event.more(); more; more = event.more()) {
      uninterrupted([&] { return events_.recv(event, zmq::recv_flags::none).has_value(); });
    }
    if (descriptor < 0) {
      continue;
    }
    if (kind == ZMQ_EVENT_ACCEPTED) {
      // What is heard may be quicker than this.
      if (connections_.try_emplace(descriptor).second) {
        never_heard_.insert(descriptor);
      }
    } else {
      connections_.erase(descriptor);
      never_heard_.erase(descriptor);
    }
  }
}

bool PeerConnections::look_at(int descriptor, Connection& connection, bool drained) const {
  Traffic traffic;
  if (!read_traffic(descriptor, traffic)) {
    return false;
  }
  if (traffic.taken < connection.taken) {
    connection.taken = 0;  // The number is another connection's now.
    connection.unheard = 0;
  }
  // What is not yet in a message may have come right behind one: it counts.
  const std::uint64_t come = connection.unheard + (traffic.taken - connection.taken);
  const std::uint64_t unheard = come - std::min(come, connection.heard);
  const bool silent = connection.heard == 0;
  connection.heard = 0;
  connection.taken = traffic.taken;
  if (silent && is_excessive(connection, unheard, traffic.acknowledged, drained)) {
    if (end_connection(descriptor)) {
      log(Level::warning, connection.ever_heard ? "a peer's message does not end; it is disconnected"
                                                : "a peer sends no message, but bytes; it is disconnected");
    }
    return false;
  }
  connection.unheard = unheard;
  return true;
}

bool PeerConnections::is_excessive(const Connection& connection, std::uint64_t unheard,
                                   std::uint64_t acknowledged, bool drained) const {
  if (limits_.expects_keys && !connection.ever_heard && acknowledged <= sent_to_strangers) {
    return unheard > most_before_keys;
  }
  return unheard > most_unheard || (drained && connection.unheard > limits_.frame_bytes + beside_a_frame);
}

}  // namespace hpsearch::net
