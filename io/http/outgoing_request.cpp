#include "http/outgoing_request.hpp"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/error.hpp>
#include <utility>

namespace hpsearch::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using engine::Errc;
using engine::Error;

/// Without the usual port: some servers build addresses from it and compare them as texts.
std::string host_header(const HttpAddress& to) {
  const HostPort& place = to.tcp;
  const bool bracketed = place.host.find(':') != std::string::npos;
  const std::string host = bracketed ? "[" + place.host + "]" : place.host;
  return place.port == (to.tls ? "443" : "80") ? host : host + ":" + place.port;
}

}  // namespace

OutgoingRequest::OutgoingRequest(asio::io_context& io, std::shared_ptr<asio::ssl::context> tls,
                                 HttpAddress to)
    : stream(io, std::move(tls)), to_(std::move(to)) {
}

engine::Result<std::unique_ptr<OutgoingRequest>> OutgoingRequest::prepare(
    asio::io_context& io, const std::string& address, const std::string& method, const std::string& target,
    const std::string& body, const HttpHeaders& headers, const TlsClient& tls) {
  const auto place = read_http_address(address);
  if (!place) {
    return Error{Errc::bad_request, "'" + address +
                                        "' is not an address (one looks like 127.0.0.1:8077, "
                                        "https://head:8077 or unix:///run/hpsearch/api.sock)"};
  }
  const std::string host = place->tcp.host;
  auto question = std::make_unique<OutgoingRequest>(
      io, place->tls ? client_context(place->fingerprint, host, tls) : nullptr, *place);
  question->address_ = address;
  const auto unknown = [&](const std::string& why) {
    return Error{Errc::unavailable, "cannot find " + address + ": " + why};
  };
  if (!place->path.empty()) {
    auto path = UnixPath::of(place->path);
    if (!path) {
      return Error{path.error().code, unknown(path.error().message).message};
    }
    question->unix_path_ = *std::move(path);
    question->endpoints_.emplace_back(asio::local::stream_protocol::endpoint(question->unix_path_->text()));
  } else {
    AsioError error;
    for (const auto& found : tcp::resolver(io).resolve(host, place->tcp.port, error)) {
      question->endpoints_.emplace_back(found.endpoint());
    }
    if (error) {
      return unknown(error.message());
    }
  }
  if (AsioError no_ip; (asio::ip::make_address(host, no_ip), no_ip)) {
    question->stream.name_host(host);
  }
  auto& message = question->message_;
  message.version(11);
  message.method_string(method);
  message.target(target);
  message.set(http::field::host, place->path.empty() ? host_header(*place) : "localhost");
  message.set(http::field::connection, "close");
  if (!body.empty()) {
    message.set(http::field::content_type, "application/json");
  }
  for (const auto& [name, value] : headers) {
    message.set(name, value);
  }
  message.body() = body;
  message.prepare_payload();
  return question;
}

void OutgoingRequest::send(std::function<void()> sent) {
  stream.plain().async_connect(
      endpoints_, [this, sent = std::move(sent)](AsioError error, const AnyStream::endpoint&) {
        if (note(error)) {
          return;
        }
        stream.async_handshake(asio::ssl::stream_base::client, [this, sent](AsioError refused) {
          if (note(refused)) {
            return;
          }
          http::async_write(stream, message_, [sent](AsioError write_error, std::size_t) {
            // A server that does not want the rest has answered before it closed.
            static_cast<void>(write_error);
            sent();
          });
        });
      });
}

bool OutgoingRequest::note(AsioError error) {
  problem_ = error;
  return static_cast<bool>(error);
}

Error OutgoingRequest::failure() const {
  const bool late = problem_ == beast::error::timeout;
  if (to_.tls && problem_.category() == asio::error::get_ssl_category()) {
    return Error{
        Errc::unavailable,
        "no TLS with " + address_ + ": " + problem_.message() +
            (to_.fingerprint.empty() ? "; give the certificate's fingerprint (https://HOST:PORT#SHA256) if "
                                       "no authority of this machine vouches for it"
                                     : "; it may have another certificate than the address says")};
  }
  return Error{Errc::unavailable,
               "no answer from " + address_ + (late ? " in time" : ": " + problem_.message())};
}

}  // namespace hpsearch::net
