#include "http/http_stream.hpp"

#include <cstring>

namespace hpsearch::net {

void HttpStream::name_host(const std::string& host) {
  if (tls_) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // OpenSSL's macro has one.
    SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str());
#pragma GCC diagnostic pop
  }
}

void HttpStream::async_handshake(asio::ssl::stream_base::handshake_type side, Then then) {
  if (tls_) {
    tls_->async_handshake(side, std::move(then));
  } else {
    then(AsioError());
  }
}

void HttpStream::async_end(Then then) {
  if (tls_) {
    tls_->async_shutdown(std::move(then));
  } else {
    AsioError error;
    plain_.socket().shutdown(asio::socket_base::shutdown_send, error);
    then(error);
  }
}

void HttpStream::read_some(Few<asio::mutable_buffer> buffers, Done done) {
  if (tls_) {
    tls_->async_read_some(buffers, std::move(done));
  } else {
    plain_.async_read_some(buffers, std::move(done));
  }
}

void HttpStream::write_some(Few<asio::const_buffer> buffers, Done done) {
  if (tls_) {
    tls_->async_write_some(buffers, std::move(done));
  } else {
    plain_.async_write_some(buffers, std::move(done));
  }
}

asio::ip::address ip_address_of(const AnyStream::endpoint& endpoint) {
  asio::ip::tcp::endpoint ip;
  if (endpoint.size() > ip.capacity()) {
    return {};
  }
  std::memcpy(ip.data(), endpoint.data(), endpoint.size());
  return ip.address();
}

}  // namespace hpsearch::net
