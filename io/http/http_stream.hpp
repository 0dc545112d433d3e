#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/container/static_vector.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "net/tls.hpp"

namespace hpsearch::net {

using AnyStream = asio::generic::stream_protocol;  // TCP and Unix sockets are served alike.

/// The transport of HTTP: a socket with deadlines, with TLS on top of it or without.
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
  void name_host(const std::string& host);

  using Then = std::function<void(AsioError)>;
  /// At once, where there is no encryption.
  void async_handshake(asio::ssl::stream_base::handshake_type side, Then then);
  /// Says that nothing more is sent.
  void async_end(Then then);

  // Beast's operations are templates of the stream, the buffers and what follows. Here they meet types that
  // are always the same, so what is below is compiled once.
  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    read_some(
        few<asio::mutable_buffer>(asio::buffer_sequence_begin(buffers), asio::buffer_sequence_end(buffers)),
        shared(std::forward<Handler>(handler)));
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    write_some(
        few<asio::const_buffer>(asio::buffer_sequence_begin(buffers), asio::buffer_sequence_end(buffers)),
        shared(std::forward<Handler>(handler)));
  }

 private:
  using Done = std::function<void(AsioError, std::size_t)>;
  template <class Buffer>
  using Few = boost::container::static_vector<Buffer, 16>;

  /// The first 16 buffers that are not empty. More are not needed: an operation may transfer less than it is
  /// given.
  template <class Buffer, class Iterator>
  static Few<Buffer> few(Iterator from, Iterator end) {
    Few<Buffer> some;
    for (; from != end && some.size() < some.capacity(); ++from) {
      if (const Buffer buffer(*from); buffer.size() > 0) {
        some.push_back(buffer);
      }
    }
    return some;
  }
  /// std::function wants what can be copied; operations can only be moved.
  template <class Handler>
  static Done shared(Handler&& handler) {
    return [held = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler))](
               AsioError error, std::size_t bytes) { (*held)(error, bytes); };
  }
  void read_some(Few<asio::mutable_buffer> buffers, Done done);
  void write_some(Few<asio::const_buffer> buffers, Done done);

  Plain plain_;
  std::shared_ptr<asio::ssl::context> context_;  ///< As long as the stream needs it.
  std::optional<asio::ssl::stream<Plain&>> tls_;
};

/// The address of an end of a TCP connection; the unspecified address for anything else.
asio::ip::address ip_address_of(const AnyStream::endpoint& endpoint);

}  // namespace hpsearch::net
