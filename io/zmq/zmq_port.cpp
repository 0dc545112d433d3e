#include "hpsearch/io/zmq/zmq_port.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "hpsearch/io/net/log.hpp"
#include "net/handshake.hpp"
#include "net/uninterrupted.hpp"
#include "net/unix_socket.hpp"
#include "zmq/curve_sockets.hpp"
#include "zmq/peer_connections.hpp"
#include "zmq/zap.hpp"

namespace hpsearch::net {
namespace {

using engine::Errc;
using engine::Error;

// Messages taken per turn of the loop, so that a flood on one socket does not starve timers and the others.
constexpr int frames_per_turn = 256;
// The same, for frames that are large.
constexpr std::size_t bytes_per_turn = 64UL * 1024;
constexpr std::chrono::milliseconds look_at_peers_every{100};
constexpr std::string_view local_scheme = "ipc://";
// No heartbeats of ZMTP: libzmq keeps their timers of all connections in one list, and 10,000 idle peers cost
// a third of a core. Who has something to say and is not acknowledged for this long has no connection any
// more; who says nothing is asked by TCP's keepalive. Workers speak every few seconds.
constexpr int longest_unacknowledged_ms = 20'000;

std::span<const std::byte> bytes_of(const zmq::message_t& message) {
  return {static_cast<const std::byte*>(message.data()), message.size()};
}

}  // namespace

// Outside of the unnamed namespace: the ports of the public header have members of these types.

/// A ZeroMQ socket in a Loop. libzmq's descriptor only says "look again", once: after every receive and every
/// send the socket's own events have to be asked for before waiting, or a message sleeps until the next one.
class ZmqPort : public std::enable_shared_from_this<ZmqPort> {
 public:
  ZmqPort(Loop& loop, zmq::socket_type type, std::size_t max_frame_bytes)
      : loop_(loop), socket(context_, type), max_frame_bytes_(max_frame_bytes) {
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(max_frame_bytes));
    socket.set(zmq::sockopt::handshake_ivl, 15'000);
    socket.set(zmq::sockopt::tcp_keepalive, 1);
    socket.set(zmq::sockopt::tcp_keepalive_idle, 30);
    socket.set(zmq::sockopt::tcp_keepalive_intvl, 10);
    socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
    socket.set(zmq::sockopt::tcp_maxrt, longest_unacknowledged_ms);
  }
  virtual ~ZmqPort() = default;

  void start() {
    watch_ = loop_.when_readable(socket.get(zmq::sockopt::fd), [this] { drain(); });
    look_again();  // Messages that came before the watch was there.
  }

  /// From here on nothing is delivered, even when called from within a delivery.
  void close() {
    closed_ = true;
    watch_ = Watch{};
    socket.close();
  }

  [[nodiscard]] SocketOptions options() const {
    return {{"linger", socket.get(zmq::sockopt::linger)},
            {"maxmsgsize", socket.get(zmq::sockopt::maxmsgsize)},
            {"rcvhwm", socket.get(zmq::sockopt::rcvhwm)},
            {"sndhwm", socket.get(zmq::sockopt::sndhwm)},
            {"heartbeat_ivl", socket.get(zmq::sockopt::heartbeat_ivl)},
            {"handshake_ivl", socket.get(zmq::sockopt::handshake_ivl)},
            {"backlog", socket.get(zmq::sockopt::backlog)},
            {"immediate", socket.get(zmq::sockopt::immediate) ? 1 : 0},
            {"reconnect_ivl", socket.get(zmq::sockopt::reconnect_ivl)},
            {"reconnect_ivl_max", socket.get(zmq::sockopt::reconnect_ivl_max)},
            {"connect_timeout", socket.get(zmq::sockopt::connect_timeout)},
            {"tcp_keepalive", socket.get(zmq::sockopt::tcp_keepalive)},
            {"tcp_keepalive_idle", socket.get(zmq::sockopt::tcp_keepalive_idle)},
            {"tcp_keepalive_intvl", socket.get(zmq::sockopt::tcp_keepalive_intvl)},
            {"tcp_keepalive_cnt", socket.get(zmq::sockopt::tcp_keepalive_cnt)},
            {"tcp_maxrt", socket.get(zmq::sockopt::tcp_maxrt)}};
  }

  [[nodiscard]] bool fits(std::span<const std::byte> frame) const { return frame.size() <= max_frame_bytes_; }

  /// To be called after each send: a send may swallow the descriptor's only hint.
  void look_again() {
    if (look_posted_ || !readable()) {
      return;
    }
    look_posted_ = true;
    loop_.post([self = shared_from_this()] {
      self->look_posted_ = false;
      self->drain();
    });
  }

 protected:
  /// Takes one whole message and hands it on, or one part of what is dropped. Its bytes; nothing when there
  /// was none.
  virtual std::optional<std::size_t> receive_one() = 0;

  /// Receives one part without waiting. False when there is none.
  bool receive_part(zmq::message_t& part) {
    return uninterrupted([&] { return socket.recv(part, zmq::recv_flags::dontwait).has_value(); });
  }
  /// What is left of a message of several parts, which is dropped: one part at a time, as it may have
  /// millions. Nothing: there is none.
  std::optional<std::size_t> skip() {
    zmq::message_t part;
    if (!in_rest_ || !receive_part(part)) {
      return std::nullopt;
    }
    in_rest_ = part.more();
    return part.size();
  }
  void skip_rest_of(const zmq::message_t& part) { in_rest_ = part.more(); }
  /// Whether there was nothing left to receive at some time since this was asked last.
  bool take_drained() {
    look_again();
    return std::exchange(drained_, false) || !look_posted_;
  }

 private:
  bool readable() {
    return uninterrupted([&] { return (socket.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0; });
  }

  void drain() {
    const auto self = shared_from_this();
    std::size_t bytes = 0;
    for (int taken = 0; taken < frames_per_turn && bytes < bytes_per_turn && !closed_; ++taken) {
      const std::optional<std::size_t> received = in_rest_ ? skip() : receive_one();
      if (!received) {
        drained_ = true;
        break;
      }
      bytes += *received;
    }
    if (!closed_) {
      look_again();
    }
  }

  Loop& loop_;

 protected:
  zmq::context_t context_{1};

 public:
  zmq::socket_t socket;  // After the context: it has to go first.

 private:
  std::size_t max_frame_bytes_;
  Watch watch_;
  bool closed_ = false;
  bool look_posted_ = false;
  bool in_rest_ = false;
  bool drained_ = false;
};

class Router final : public ZmqPort {
 public:
  Router(Loop& loop, std::size_t max_frame_bytes, RouterPort::OnFrame on_frame)
      : ZmqPort(loop, zmq::socket_type::router, max_frame_bytes),
        max_frame_bytes_(max_frame_bytes),
        on_frame_(std::move(on_frame)) {
    socket.set(zmq::sockopt::router_mandatory, 1);
    // Towards us strangers fill the queues: 256 frames of the largest size bound what one peer may cost.
    // From us go small frames only, and a full queue ends a session, so it may be longer.
    socket.set(zmq::sockopt::rcvhwm, 256);
    socket.set(zmq::sockopt::sndhwm, 4'096);
    socket.set(zmq::sockopt::backlog, 4'096);
  }

  void demand_keys(CurveServer curve) {
    zap_.emplace(context_, std::move(curve.admits));
    net::demand_keys(socket, curve.keys);
    socket.set(zmq::sockopt::zap_domain, "workers");
    // By its number: the name is among the drafts. Without it a handler that is missing lets everybody in.
    const int enforced = 1;
    constexpr int zap_enforce_domain = 93;
    if (::zmq_setsockopt(socket.handle(), zap_enforce_domain, &enforced, sizeof enforced) != 0) {
      throw zmq::error_t();
    }
  }

  /// Over ipc:// only processes of our own user and of root are let in.
  void demand_own_user() {
    for (const uid_t user : {::geteuid(), uid_t{0}}) {
      if (::zmq_setsockopt(socket.handle(), ZMQ_IPC_FILTER_UID, &user, sizeof user) != 0) {
        throw zmq::error_t();
      }
    }
  }

  /// Over TCP connections that fill the memory are closed. Before it is bound.
  void watch_connections(Loop& loop) {
    connections_.emplace(context_, socket, PeerConnections::Limits{max_frame_bytes_, zap_.has_value()});
    looks_ = loop.every(look_at_peers_every, [this] { connections_->look(take_drained()); });
  }
  void close_all() {
    looks_ = Watch{};
    connections_.reset();
    close();
  }

  [[nodiscard]] const std::string& sender_key() const { return sender_key_; }
  [[nodiscard]] std::string sender_address() const {
    const char* address =
        delivered_ == nullptr ? nullptr : ::zmq_msg_gets(delivered_->handle(), "Peer-Address");
    return address == nullptr ? "" : address;
  }
  void cut_sender() {
    if (connections_ && delivered_ != nullptr) {
      connections_->cut(*delivered_);
    }
  }

 protected:
  std::optional<std::size_t> receive_one() override {
    zmq::message_t id;
    if (!receive_part(id)) {
      return std::nullopt;
    }
    zmq::message_t payload;
    if (!id.more() || !receive_part(payload)) {
      return 0;
    }
    if (payload.more()) {
      skip_rest_of(payload);
      if (connections_ && connections_->cut(payload)) {
        log(Level::warning, "a peer sends a message of several frames; it is disconnected");
      }
      return payload.size();
    }
    if (connections_) {
      connections_->heard(payload);
    }
    if (zap_) {
      std::optional<std::string> key = admitted_key(payload);
      if (!key) {
        return payload.size();  // A peer that was not let in.
      }
      sender_key_ = *std::move(key);
    }
    delivered_ = &payload;
    on_frame_(id.to_string(), bytes_of(payload));
    delivered_ = nullptr;
    return payload.size();
  }

 private:
  std::size_t max_frame_bytes_;
  RouterPort::OnFrame on_frame_;
  std::optional<Zap> zap_;
  std::optional<PeerConnections> connections_;
  Watch looks_;
  std::string sender_key_;
  zmq::message_t* delivered_ = nullptr;  ///< The message that `on_frame_` is called with.
};

class Dealer final : public ZmqPort {
 public:
  Dealer(Loop& loop, std::size_t max_frame_bytes, DealerPort::OnFrame on_frame)
      : ZmqPort(loop, zmq::socket_type::dealer, max_frame_bytes), on_frame_(std::move(on_frame)) {
    socket.set(zmq::sockopt::immediate, 1);
    // Each wait is longer by chance, by up to the first: 2.5 s at most.
    socket.set(zmq::sockopt::reconnect_ivl, 500);
    socket.set(zmq::sockopt::reconnect_ivl_max, 2'000);
    socket.set(zmq::sockopt::connect_timeout, 5'000);
    socket.set(zmq::sockopt::rcvhwm, 4'096);
    socket.set(zmq::sockopt::sndhwm, 256);
  }

  void show_keys(const CurveClient& curve) { net::show_keys(socket, curve); }
  void close_all() {
    heard_ = Watch{};
    close();
  }
  void report_handshakes(Loop& loop, DealerPort::OnHandshake on_handshake) {
    handshakes_.emplace(context_, socket);
    // The callback may close this port.
    heard_ = loop.when_readable(handshakes_->descriptor(), [this, call = std::move(on_handshake)] {
      std::vector<DealerPort::Met> all;
      while (const std::optional<Handshake> ended = handshakes_->next()) {
        all.push_back(*ended == Handshake::succeeded     ? DealerPort::Met::connected
                      : *ended == Handshake::key_refused ? DealerPort::Met::key_refused
                                                         : DealerPort::Met::security_differs);
      }
      look_again();  // Only then a send finds the new connection.
      const DealerPort::OnHandshake tell = call;
      for (const DealerPort::Met met : all) {
        tell(met);
      }
    });
  }

 protected:
  std::optional<std::size_t> receive_one() override {
    zmq::message_t payload;
    if (!receive_part(payload)) {
      return std::nullopt;
    }
    if (payload.more()) {
      skip_rest_of(payload);
    } else {
      on_frame_(bytes_of(payload));
    }
    return payload.size();
  }

 private:
  DealerPort::OnFrame on_frame_;
  std::optional<Handshakes> handshakes_;
  Watch heard_;
};

namespace {

/// An endpoint as libzmq takes it. In ipc://PATH the path may be longer than the kernel takes.
struct Place {
  std::string text;
  std::optional<UnixPath> unix_path;  ///< Keeps the text valid.
};

engine::Result<Place> place_of(const std::string& endpoint) {
  if (!endpoint.starts_with(local_scheme)) {
    return Place{endpoint, std::nullopt};
  }
  auto path = UnixPath::of(endpoint.substr(local_scheme.size()));
  if (!path) {
    return path.error();
  }
  std::string text = std::string(local_scheme) + path->text();
  return Place{std::move(text), *std::move(path)};
}

/// An IPv6 address is in brackets.
bool has_ipv6_address(const std::string& endpoint) {
  return endpoint.find('[') != std::string::npos;
}

Error open_error(const char* verb, const std::string& endpoint, const zmq::error_t& error) {
  const bool wrong = error.num() == EINVAL || error.num() == EPROTONOSUPPORT;
  std::string message = "cannot " + std::string(verb) + " " + endpoint + ": " + error.what();
  if (wrong) {
    message += " (an endpoint looks like tcp://127.0.0.1:8078)";
  }
  return Error{wrong ? Errc::bad_request : Errc::unavailable, std::move(message)};
}

}  // namespace

struct RouterPort::Impl {
  std::optional<UnixPath> unix_path;
  std::optional<SocketFile> socket_file;  ///< libzmq removes the file some time later, or not at all.
  std::string local;                      ///< Where it listens, if over ipc://.
  std::shared_ptr<Router> router;
};

RouterPort::RouterPort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

RouterPort::~RouterPort() {
  impl_->router->close_all();
}

engine::Result<std::unique_ptr<RouterPort>> RouterPort::bind(Loop& loop, const std::string& endpoint,
                                                             std::size_t max_frame_bytes, OnFrame on_frame,
                                                             std::optional<CurveServer> curve) {
  auto place = place_of(endpoint);
  if (!place) {
    return place.error();
  }
  const bool local = place->unix_path.has_value();
  try {
    auto router = std::make_shared<Router>(loop, max_frame_bytes, std::move(on_frame));
    const std::string path = local ? endpoint.substr(local_scheme.size()) : std::string();
    if (local) {
      router->demand_own_user();
      if (auto free = SocketFile::make_way(path); !free) {
        return Error{Errc::unavailable, "cannot listen on " + endpoint + ": " + free.error().message};
      }
    }
    const std::string server_key = curve ? curve->keys.public_key : std::string();
    if (curve) {
      router->demand_keys(*std::move(curve));
    }
    if (!local) {
      router->socket.set(zmq::sockopt::ipv6, has_ipv6_address(endpoint));
      router->watch_connections(loop);
    }
    router->socket.bind(place->text);
    std::optional<SocketFile> socket_file;
    if (local) {
      auto owned = SocketFile::own(path);
      if (!owned) {
        router->close_all();
        return Error{Errc::unavailable, "cannot listen on " + endpoint + ": " + owned.error().message};
      }
      socket_file = *std::move(owned);
    }
    if (!server_key.empty()) {
      if (auto kept_out = strangers_are_kept_out(router->socket.get(zmq::sockopt::last_endpoint), server_key);
          !kept_out) {
        router->close_all();
        return kept_out.error();
      }
    }
    router->start();
    return std::make_unique<RouterPort>(std::make_unique<Impl>(
        Impl{std::move(place->unix_path), std::move(socket_file), local ? endpoint : "", std::move(router)}));
  } catch (const zmq::error_t& error) {
    return open_error("listen on", endpoint, error);
  }
}

std::string RouterPort::endpoint() const {
  return impl_->local.empty() ? impl_->router->socket.get(zmq::sockopt::last_endpoint) : impl_->local;
}

std::string RouterPort::sender_key() const {
  return impl_->router->sender_key();
}

std::string RouterPort::sender_address() const {
  return impl_->router->sender_address();
}

void RouterPort::cut_sender() {
  impl_->router->cut_sender();
}

bool RouterPort::send(const Peer& peer, std::span<const std::byte> frame) {
  Router& router = *impl_->router;
  if (!router.fits(frame)) {
    return false;
  }
  bool sent = false;
  try {
    const auto flags = zmq::send_flags::sndmore | zmq::send_flags::dontwait;
    sent = uninterrupted([&] { return router.socket.send(zmq::buffer(peer), flags).has_value(); }) &&
           uninterrupted([&] {
             return router.socket.send(zmq::buffer(frame.data(), frame.size()), zmq::send_flags::dontwait)
                 .has_value();
           });
  } catch (const zmq::error_t& error) {
    if (error.num() != EHOSTUNREACH) {
      throw;
    }
  }
  router.look_again();
  return sent;
}

SocketOptions RouterPort::options() const {
  return impl_->router->options();
}

struct DealerPort::Impl {
  std::optional<UnixPath> unix_path;  ///< For each new attempt to connect.
  std::shared_ptr<Dealer> dealer;
};

DealerPort::DealerPort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

DealerPort::~DealerPort() {
  impl_->dealer->close_all();
}

engine::Result<std::unique_ptr<DealerPort>> DealerPort::connect(Loop& loop, const std::string& endpoint,
                                                                std::size_t max_frame_bytes, OnFrame on_frame,
                                                                std::optional<CurveClient> curve,
                                                                OnHandshake on_handshake, bool over_ipv6) {
  auto place = place_of(endpoint);
  if (!place) {
    return place.error();
  }
  try {
    auto dealer = std::make_shared<Dealer>(loop, max_frame_bytes, std::move(on_frame));
    if (curve) {
      dealer->show_keys(*curve);
    }
    if (on_handshake) {
      dealer->report_handshakes(loop, std::move(on_handshake));
    }
    // Not always: with it, libzmq looks for IPv6 addresses only, and localhost has one where no daemon
    // listens.
    dealer->socket.set(zmq::sockopt::ipv6, over_ipv6 || has_ipv6_address(endpoint));
    dealer->socket.connect(place->text);
    dealer->start();
    return std::make_unique<DealerPort>(
        std::make_unique<Impl>(Impl{std::move(place->unix_path), std::move(dealer)}));
  } catch (const zmq::error_t& error) {
    return open_error("connect to", endpoint, error);
  }
}

bool DealerPort::send(std::span<const std::byte> frame) {
  Dealer& dealer = *impl_->dealer;
  if (!dealer.fits(frame)) {
    return false;
  }
  const bool sent = uninterrupted([&] {
    return dealer.socket.send(zmq::buffer(frame.data(), frame.size()), zmq::send_flags::dontwait).has_value();
  });
  dealer.look_again();
  return sent;
}

SocketOptions DealerPort::options() const {
  return impl_->dealer->options();
}

}  // namespace hpsearch::net
