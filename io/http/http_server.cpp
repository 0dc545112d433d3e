#include <algorithm>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/networks.hpp"
#include "hpsearch/io/net/service_manager.hpp"
#include "http/http_session.hpp"
#include "http/http_text.hpp"
#include "net/asio.hpp"
#include "net/unix_socket.hpp"

namespace hpsearch::net {
namespace {

using asio::ip::tcp;
using engine::Errc;
using engine::Error;

constexpr std::size_t most_of_an_address = 64;
constexpr std::size_t most_turned_away = 64;  // Beyond these a connection is closed without an answer.
constexpr int most_waiting_connections = 4'096;

/// The address of the other end; nothing if it has closed already.
std::optional<HttpPeer> peer_of(AnyStream::socket& socket) {
  AsioError gone;
  const auto remote = socket.remote_endpoint(gone);
  if (gone) {
    return std::nullopt;
  }
  if (remote.protocol().family() != AF_UNIX) {
    return HttpPeer{std::nullopt, ip_address_of(remote).to_string()};
  }
  const std::optional<std::uint32_t> uid = peer_uid(socket.native_handle());
  return uid ? std::optional(HttpPeer{uid, "uid " + std::to_string(*uid)}) : std::nullopt;
}

/// Lets it in if there is room.
void begin(const std::shared_ptr<HttpSessions>& shared, AnyStream::socket socket, HttpPeer peer) {
  AsioError ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  // All connections of a proxy come from one address.
  const std::size_t most = peer.uid                          ? HttpSession::most_of_a_name
                           : shared->rules.only_from.empty() ? most_of_an_address
                                                             : shared->rules.most_connections;
  const std::string name = peer.name;
  const auto session = std::make_shared<HttpSession>(shared, std::move(socket), std::move(peer));
  if (shared->crowd.join(*session, name, most)) {
    session->start();
  } else if (shared->turned_away < most_turned_away) {
    session->turn_away();
  }
}

/// Whether requests from there are taken at all.
bool is_served(const HttpSessions& shared, const HttpPeer& peer) {
  return shared.rules.only_from.empty() || peer.uid || is_in_network(peer.name, shared.rules.only_from);
}

void accept_next(const std::shared_ptr<HttpSessions>& shared) {
  shared->acceptor.async_accept([shared](AsioError error, AnyStream::socket socket) {
    if (shared->closing || error == asio::error::operation_aborted) {
      return;
    }
    if (error) {
      // Out of descriptors, most probably: those in use are given back in time, so wait instead of spinning.
      log(Level::warning, "cannot accept an HTTP connection: " + error.message());
      shared->retry.expires_after(std::chrono::milliseconds{200});
      shared->retry.async_wait([shared](AsioError stopped) {
        if (!stopped && !shared->closing) {
          accept_next(shared);
        }
      });
      return;
    }
    auto peer = peer_of(socket);
    if (peer && is_served(*shared, *peer)) {
      begin(shared, std::move(socket), *std::move(peer));
    }
    accept_next(shared);
  });
}

Error cannot_listen(const std::string& address, const std::string& why) {
  return Error{Errc::unavailable, "cannot listen on " + address + ": " + why};
}

/// Binds and listens; the address with its real port.
engine::Result<std::string> bind_tcp(HttpSessions& shared, const HostPort& place, const std::string& address,
                                     PassedSockets* passed) {
  AsioError error;
  const auto places = tcp::resolver(shared.io).resolve(place.host, place.port, tcp::resolver::passive, error);
  if (error || places.empty()) {
    return Error{Errc::unavailable, "cannot find " + address + ": " + error.message()};
  }
  const tcp::endpoint endpoint = places.begin()->endpoint();
  shared.configured_host = place.host;
  const auto ready = passed != nullptr
                         ? passed->take(endpoint.data(), static_cast<socklen_t>(endpoint.size()))
                         : std::optional<int>();
  if (ready) {
    shared.acceptor.assign(endpoint.protocol(), *ready, error);
  } else {
    shared.acceptor.open(endpoint.protocol(), error);
  }
  if (!error && !ready) {
    shared.acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error && !ready) {
    shared.acceptor.bind(endpoint, error);
  }
  if (!error && !ready) {
    shared.acceptor.listen(most_waiting_connections, error);
  }
  if (error) {
    return cannot_listen(address, error.message());
  }
  tcp::endpoint local;
  const AnyStream::endpoint any = shared.acceptor.local_endpoint();
  std::memcpy(local.data(), any.data(), std::min(any.size(), local.capacity()));
  const bool bracketed = place.host.find(':') != std::string::npos;
  return (bracketed ? "[" + place.host + "]" : place.host) + ":" + std::to_string(local.port());
}

engine::Result<std::string> bind_unix(HttpSessions& shared, const std::string& path, PassedSockets* passed) {
  const std::string address = "unix://" + path;
  AsioError error;
  if (const auto ready = passed != nullptr ? passed->take(path) : std::nullopt) {
    shared.acceptor.assign(AnyStream(asio::local::stream_protocol()), *ready, error);
    return error ? engine::Result<std::string>(cannot_listen(address, error.message())) : address;
  }
  if (auto free = SocketFile::make_way(path); !free) {
    return cannot_listen(address, free.error().message);
  }
  const auto place = UnixPath::of(path);
  if (!place) {
    return cannot_listen(address, place.error().message);
  }
  shared.acceptor.open(AnyStream(asio::local::stream_protocol()), error);
  if (!error) {
    shared.acceptor.bind(asio::local::stream_protocol::endpoint(place->text()), error);
  }
  if (error) {
    return cannot_listen(address, error.message());
  }
  // No client connects before its mode is set.
  auto file = SocketFile::own(path, shared.rules.any_user);
  if (!file) {
    return cannot_listen(address, file.error().message);
  }
  shared.socket_file = *std::move(file);
  shared.acceptor.listen(most_waiting_connections, error);
  if (error) {
    return cannot_listen(address, error.message());
  }
  return address;
}

}  // namespace

struct HttpServer::Impl {
  std::shared_ptr<HttpSessions> shared;
  std::string address;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

HttpServer::~HttpServer() {
  stop_accepting();
  const auto sessions = impl_->shared->sessions;  // Closing may end sessions, which leave the set.
  for (HttpSession* session : sessions) {
    if (impl_->shared->sessions.contains(session)) {
      session->abandon();
    }
  }
  // Sessions outlast the server as long as their last handlers; what serves them need not.
  impl_->shared->handler = nullptr;
  impl_->shared->rules.let_in = nullptr;
}

engine::Result<std::unique_ptr<HttpServer>> HttpServer::listen(Loop& loop, const std::string& address,
                                                               Handler handler, HttpRules rules,
                                                               PassedSockets* passed) {
  const auto place = read_http_address(address);
  if (place && place->path.empty() && !rules.only_from.empty() && !is_network(rules.only_from)) {
    return Error{Errc::bad_request,
                 "'" + rules.only_from + "' is no network (one looks like 10.0.0.0/8 or 127.0.0.1/32)"};
  }
  if (!place) {
    return Error{Errc::bad_request, "'" + address +
                                        "' is not an address to listen on (one looks like 127.0.0.1:8077 or "
                                        "unix:///run/hpsearch/api.sock)"};
  }
  auto shared = std::make_shared<HttpSessions>(loop.impl(), std::move(handler), rules);
  auto bound = place->path.empty() ? bind_tcp(*shared, place->tcp, address, passed)
                                   : bind_unix(*shared, place->path, passed);
  if (!bound) {
    return bound.error();
  }
  auto impl = std::make_unique<Impl>();
  impl->address = *std::move(bound);
  if (rules.tls && place->path.empty()) {
    impl->address = "https://" + impl->address + "#" + rules.tls->fingerprint();
  } else {
    shared->rules.tls.reset();  // A Unix socket needs none.
  }
  impl->shared = shared;
  accept_next(shared);
  return std::make_unique<HttpServer>(std::move(impl));
}

std::string HttpServer::address() const {
  return impl_->address;
}

void HttpServer::stop_accepting() {
  HttpSessions& shared = *impl_->shared;
  if (shared.closing) {
    return;
  }
  shared.closing = true;
  AsioError ignored;
  shared.acceptor.close(ignored);
  shared.socket_file.reset();
  shared.retry.cancel();
  const auto sessions = shared.sessions;
  for (HttpSession* session : sessions) {
    if (!session->answering()) {
      session->close();
    }
  }
}

std::size_t HttpServer::answering() const noexcept {
  return impl_->shared->answering;
}

}  // namespace hpsearch::net
