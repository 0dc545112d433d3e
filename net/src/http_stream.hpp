#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tls.hpp"

namespace hpsearch::net {

using AnyStream = asio::generic::stream_protocol;  // TCP and Unix sockets are served alike.

/// What HTTP is spoken over: a socket with deadlines, with TLS on top of it or without.
class HttpStream {
 public:
  using Plain = boost::beast::basic_stream<AnyStream>;
  using executor_type = Plain::executor_type;

  /// `tls`: nothing = none.
  template <class From>
  HttpStream(From&& from, std::shared_ptr<asio::ssl::context> tls)
      : plain_(std::forward<From>(from)), context_(std::move(tls)) {
    if (context_ != nullptr) {
      tls_.emplace(plain_, *context_);
    }
  }

  [[nodiscard]] executor_type get_executor() noexcept { return plain_.get_executor(); }
  /// Below the encryption: deadlines, closing.
  [[nodiscard]] Plain& plain() noexcept { return plain_; }
  [[nodiscard]] bool is_encrypted() const noexcept { return tls_.has_value(); }

  /// Tells the server, before the handshake, which of its names is meant.
  void name_host(const std::string& host) {
    if (tls_) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // OpenSSL's macro has one.
      SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str());
#pragma GCC diagnostic pop
    }
  }

  /// At once, where there is no encryption.
  template <class Handler>
  void async_handshake(asio::ssl::stream_base::handshake_type side, Handler&& handler) {
    if (tls_) {
      tls_->async_handshake(side, std::forward<Handler>(handler));
    } else {
      std::forward<Handler>(handler)(AsioError());
    }
  }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) {
      tls_->async_read_some(buffers, std::forward<Handler>(handler));
    } else {
      plain_.async_read_some(buffers, std::forward<Handler>(handler));
    }
  }

  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) {
      tls_->async_write_some(buffers, std::forward<Handler>(handler));
    } else {
      plain_.async_write_some(buffers, std::forward<Handler>(handler));
    }
  }

  /// Says that nothing more is sent.
  template <class Handler>
  void async_end(Handler&& handler) {
    if (tls_) {
      tls_->async_shutdown(std::forward<Handler>(handler));
    } else {
      AsioError error;
      plain_.socket().shutdown(asio::socket_base::shutdown_send, error);
      std::forward<Handler>(handler)(error);
    }
  }

 private:
  Plain plain_;
  std::shared_ptr<asio::ssl::context> context_;  ///< As long as the stream needs it.
  std::optional<asio::ssl::stream<Plain&>> tls_;
};

/// Of an end of a TCP connection; the unspecified address for anything else.
inline asio::ip::address ip_address_of(const AnyStream::endpoint& endpoint) {
  asio::ip::tcp::endpoint ip;
  if (endpoint.size() > ip.capacity()) {
    return {};
  }
  std::memcpy(ip.data(), endpoint.data(), endpoint.size());
  return ip.address();
}

}  // namespace hpsearch::net
