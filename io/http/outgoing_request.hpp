#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/tls_client.hpp"
#include "http/http_stream.hpp"
#include "http/http_text.hpp"
#include "net/asio.hpp"
#include "net/unix_socket.hpp"

namespace hpsearch::net {

/// One request on its way to a server: connects, and sends it. The answer is read by others.
class OutgoingRequest {
 public:
  /// Finds the server; a host's name is looked up now. Fails as http_request() does. Throws what Beast throws
  /// at a method or a header that cannot be spelled.
  [[nodiscard]] static engine::Result<std::unique_ptr<OutgoingRequest>> prepare(
      asio::io_context& io, const std::string& address, const std::string& method, const std::string& target,
      const std::string& body, const HttpHeaders& headers, const TlsClient& tls = {});

  /// Runs `sent` when the answer may be read; not where note() was given an error on the way. The deadline of
  /// `stream` covers all of it.
  void send(std::function<void()> sent);

  /// Remembers what went wrong. True if something did.
  bool note(AsioError error);
  [[nodiscard]] AsioError problem() const noexcept { return problem_; }
  /// Why there is no answer.
  [[nodiscard]] engine::Error failure() const;

  OutgoingRequest(asio::io_context& io, std::shared_ptr<asio::ssl::context> tls, HttpAddress to);
  HttpStream stream;
  boost::beast::flat_buffer buffer;

 private:
  HttpAddress to_;
  std::string address_;                         ///< As it was given.
  std::vector<AnyStream::endpoint> endpoints_;  ///< In the order in which they are tried.
  std::optional<UnixPath> unix_path_;           ///< Keeps the path valid.
  boost::beast::http::request<boost::beast::http::string_body> message_;
  AsioError problem_;
};

}  // namespace hpsearch::net
