#include "net/handshake.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "net/uninterrupted.hpp"
#include "zmq/curve_bytes.hpp"
#include "zmq/curve_sockets.hpp"

namespace hpsearch::net {
namespace {

using engine::Errc;
using engine::Error;
using engine::Status;

constexpr const char* events_at = "inproc://handshakes";
constexpr int all_events = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                           ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
constexpr std::chrono::seconds longest_trial{15};

/// Where a port that listens everywhere can be reached from here.
std::string reachable(std::string endpoint) {
  for (const auto& [everywhere, here] :
       {std::pair("://0.0.0.0:", "://127.0.0.1:"), std::pair("://[::]:", "://[::1]:")}) {
    if (const std::size_t at = endpoint.find(everywhere); at != std::string::npos) {
      endpoint.replace(at, std::strlen(everywhere), here);
    }
  }
  return endpoint;
}

}  // namespace

Handshakes::Handshakes(zmq::context_t& context, zmq::socket_t& socket)
    : events_(context, zmq::socket_type::pair) {
  events_.set(zmq::sockopt::linger, 0);
  if (::zmq_socket_monitor(socket.handle(), events_at, all_events) != 0) {
    throw zmq::error_t();
  }
  events_.connect(events_at);
  static_cast<void>(next());  // libzmq wakes only who has looked and found nothing.
}

int Handshakes::descriptor() {
  return events_.get(zmq::sockopt::fd);
}

std::optional<Handshake> Handshakes::next() {
  return receive(zmq::recv_flags::dontwait);
}

std::optional<Handshake> Handshakes::wait(std::chrono::milliseconds patience) {
  events_.set(zmq::sockopt::rcvtimeo, static_cast<int>(patience.count()));
  return receive(zmq::recv_flags::none);
}

std::optional<Handshake> Handshakes::receive(zmq::recv_flags flags) {
  // Two bytes say what happened, four more its details; a second part says where.
  zmq::message_t event;
  if (!uninterrupted([&] { return events_.recv(event, flags); })) {
    return std::nullopt;
  }
  std::uint16_t kind = 0;
  if (event.size() >= sizeof kind) {
    std::memcpy(&kind, event.data(), sizeof kind);
  }
  zmq::message_t place;
  bool more = event.more();
  while (more) {
    uninterrupted([&] { return events_.recv(place, zmq::recv_flags::none); });
    more = place.more();
  }
  return kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED     ? Handshake::succeeded
         : kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH ? Handshake::key_refused
                                                   : Handshake::failed;
}

Status strangers_are_kept_out(const std::string& endpoint, const std::string& server_key) {
  const engine::Result<CurveKeys> keys = new_curve_keys();
  if (!keys) {
    return keys.error();
  }
  zmq::context_t context{1};
  zmq::socket_t stranger(context, zmq::socket_type::dealer);
  stranger.set(zmq::sockopt::linger, 0);
  show_keys(stranger, CurveClient{server_key, *keys});
  stranger.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
  Handshakes handshakes(context, stranger);
  stranger.connect(reachable(endpoint));
  const std::optional<Handshake> ended = handshakes.wait(longest_trial);
  if (ended == Handshake::key_refused) {
    return engine::Done{};
  }
  return Error{Errc::unavailable, ended ? endpoint +
                                              " accepts keys that are not allowed: "
                                              "this libzmq does not authenticate correctly"
                                        : "no answer at " + endpoint +
                                              "; cannot check that keys without permission are rejected"};
}

}  // namespace hpsearch::net
