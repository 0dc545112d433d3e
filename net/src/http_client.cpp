#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <vector>

#include "asio.hpp"
#include "hpsearch/net/http.hpp"
#include "http_stream.hpp"
#include "http_text.hpp"
#include "unix_socket.hpp"

namespace hpsearch::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using engine::Errc;
using engine::Error;

/// Where a server may be reached, in the order in which it is tried.
struct Places {
  std::vector<AnyStream::endpoint> endpoints;
  std::optional<UnixPath> unix_path;  ///< Keeps the path valid.
};

engine::Result<Places> places_of(asio::io_context& io, const HttpAddress& address) {
  Places places;
  if (!address.path.empty()) {
    auto path = UnixPath::of(address.path);
    if (!path) {
      return path.error();
    }
    places.unix_path = *std::move(path);
    places.endpoints.emplace_back(asio::local::stream_protocol::endpoint(places.unix_path->text()));
    return places;
  }
  AsioError error;
  for (const auto& found : tcp::resolver(io).resolve(address.tcp.host, address.tcp.port, error)) {
    places.endpoints.emplace_back(found.endpoint());
  }
  if (error) {
    return Error{Errc::unavailable, error.message()};
  }
  return places;
}

std::string host_header(const HostPort& place) {
  const bool bracketed = place.host.find(':') != std::string::npos;
  return (bracketed ? "[" + place.host + "]" : place.host) + ":" + place.port;
}

/// One exchange: connect, write, read, each starting the next; the stream's deadline covers them all.
struct Exchange {
  Exchange(asio::io_context& io, AnswerLimit limit, std::shared_ptr<asio::ssl::context> tls)
      : stream(io, std::move(tls)) {
    answer.body_limit(limit.bytes);
  }

  void start(const std::vector<AnyStream::endpoint>& places) {
    stream.plain().async_connect(places, [this](AsioError error, const AnyStream::endpoint&) {
      if (!failed(error)) {
        stream.async_handshake(asio::ssl::stream_base::client, [this](AsioError refused) {
          if (!failed(refused)) {
            ask();
          }
        });
      }
    });
  }

  void ask() {
    http::async_write(stream, question, [this](AsioError write_error, std::size_t) {
      // A server that does not want the rest has answered before it closed.
      static_cast<void>(write_error);
      // The header alone first: Beast 1.74 forgets that a body is too long when it begins in the same
      // packet.
      http::async_read_header(stream, buffer, answer, [this](AsioError header_error, std::size_t) {
        if (failed(header_error)) {
          return;
        }
        http::async_read(stream, buffer, answer,
                         [this](AsioError read_error, std::size_t) { done = !failed(read_error); });
      });
    });
  }

  bool failed(AsioError error) {
    problem = error;
    return static_cast<bool>(error);
  }

  HttpStream stream;
  beast::flat_buffer buffer;
  http::request<http::string_body> question;
  http::response_parser<http::string_body> answer;
  AsioError problem;
  bool done = false;
};

}  // namespace

engine::Result<HttpResponse> http_request(const std::string& address, const std::string& method,
                                          const std::string& target, const std::string& body,
                                          std::chrono::milliseconds timeout, const HttpHeaders& headers,
                                          AnswerLimit limit) {
  const auto place = read_http_address(address);
  if (!place) {
    return Error{Errc::bad_request, "'" + address +
                                        "' is not an address (one looks like 127.0.0.1:8077, "
                                        "https://head:8077 or unix:///run/hpsearch/api.sock)"};
  }
  try {
    asio::io_context io{1};
    const auto places = places_of(io, *place);
    if (!places) {
      return Error{places.error().code, "cannot find " + address + ": " + places.error().message};
    }
    const std::string host = place->tcp.host;
    Exchange exchange(io, limit, place->tls ? client_context(place->fingerprint, host) : nullptr);
    if (AsioError no_ip; (asio::ip::make_address(host, no_ip), no_ip)) {
      exchange.stream.name_host(host);
    }
    exchange.question.version(11);
    exchange.question.method_string(method);
    exchange.question.target(target);
    exchange.question.set(http::field::host, place->path.empty() ? host_header(place->tcp) : "localhost");
    exchange.question.set(http::field::connection, "close");
    if (!body.empty()) {
      exchange.question.set(http::field::content_type, "application/json");
    }
    for (const auto& [name, value] : headers) {
      exchange.question.set(name, value);
    }
    exchange.answer.skip(method == "HEAD");
    exchange.question.body() = body;
    exchange.question.prepare_payload();
    exchange.stream.plain().expires_after(timeout);
    exchange.start(places->endpoints);
    io.run();
    if (exchange.problem == http::error::body_limit) {
      return Error{Errc::unavailable, "the answer from " + address + " is longer than " +
                                          std::to_string(limit.bytes) + " bytes"};
    }
    if (!exchange.done) {
      const bool late = exchange.problem == beast::error::timeout;
      if (place->tls && exchange.problem.category() == asio::error::get_ssl_category()) {
        return Error{Errc::unavailable,
                     "no TLS with " + address + ": " + exchange.problem.message() +
                         (place->fingerprint.empty()
                              ? "; give the certificate's fingerprint (https://HOST:PORT#SHA256) if "
                                "no authority of this machine vouches for it"
                              : "; it may have another certificate than the address says")};
      }
      return Error{Errc::unavailable,
                   "no answer from " + address + (late ? " in time" : ": " + exchange.problem.message())};
    }
    HttpResponse response;
    if (const auto length = exchange.answer.content_length()) {
      response.content_length = *length;
    }
    auto message = exchange.answer.release();
    response.status = message.result_int();
    response.content_type = std::string(message[http::field::content_type]);
    response.body = std::move(message.body());
    return response;
  } catch (const std::exception& error) {  // A method or header that cannot be spelled in HTTP.
    return Error{Errc::bad_request, "cannot ask " + address + ": " + error.what()};
  }
}

}  // namespace hpsearch::net
