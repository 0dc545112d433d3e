#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include "asio.hpp"
#include "hpsearch/net/http.hpp"
#include "http_text.hpp"

namespace hpsearch::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using engine::Errc;
using engine::Error;

/// One exchange: connect, write, read, each starting the next; the stream's deadline covers them all.
struct Exchange {
  Exchange(asio::io_context& io, AnswerLimit limit) : stream(io) { answer.body_limit(limit.bytes); }

  void start(const tcp::resolver::results_type& places) {
    stream.async_connect(places, [this](AsioError error, const tcp::endpoint&) {
      if (failed(error)) {
        return;
      }
      http::async_write(stream, question, [this](AsioError write_error, std::size_t) {
        if (failed(write_error)) {
          return;
        }
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
    });
  }

  bool failed(AsioError error) {
    problem = error;
    return static_cast<bool>(error);
  }

  beast::tcp_stream stream;
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
  const auto host_port = read_host_port(address);
  if (!host_port || host_port->port.empty()) {
    return Error{Errc::bad_request, "'" + address + "' is not an address (one looks like 127.0.0.1:8077)"};
  }
  try {
    asio::io_context io{1};
    AsioError error;
    const auto places = tcp::resolver(io).resolve(host_port->host, host_port->port, error);
    if (error) {
      return Error{Errc::unavailable, "cannot find " + address + ": " + error.message()};
    }
    Exchange exchange(io, limit);
    exchange.question.version(11);
    exchange.question.method_string(method);
    exchange.question.target(target);
    exchange.question.set(http::field::host, address);
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
    exchange.stream.expires_after(timeout);
    exchange.start(places);
    io.run();
    if (exchange.problem == http::error::body_limit) {
      return Error{Errc::unavailable, "the answer from " + address + " is longer than " +
                                          std::to_string(limit.bytes) + " bytes"};
    }
    if (!exchange.done) {
      const bool late = exchange.problem == beast::error::timeout;
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
