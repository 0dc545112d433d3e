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

constexpr std::uint64_t most_answer_bytes = 256ULL * 1024 * 1024;

/// One exchange: connect, write, read, each starting the next; the stream's deadline covers them all.
struct Exchange {
  explicit Exchange(asio::io_context& io) : stream(io) { answer.body_limit(most_answer_bytes); }

  void start(const tcp::resolver::results_type& places) {
    stream.async_connect(places, [this](AsioError error, const tcp::endpoint&) {
      if (failed(error)) {
        return;
      }
      http::async_write(stream, question, [this](AsioError write_error, std::size_t) {
        if (failed(write_error)) {
          return;
        }
        http::async_read(stream, buffer, answer, [this](AsioError read_error, std::size_t) {
          if (!failed(read_error)) {
            done = true;
          }
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
                                          std::chrono::milliseconds timeout, const HttpHeaders& headers) {
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
    Exchange exchange(io);
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
    if (!exchange.done) {
      const bool late = exchange.problem == beast::error::timeout;
      return Error{Errc::unavailable,
                   "no answer from " + address + (late ? " in time" : ": " + exchange.problem.message())};
    }
    auto message = exchange.answer.release();
    HttpResponse response;
    response.status = message.result_int();
    response.content_type = std::string(message[http::field::content_type]);
    response.body = std::move(message.body());
    return response;
  } catch (const std::exception& error) {  // A method or header that cannot be spelled in HTTP.
    return Error{Errc::bad_request, "cannot ask " + address + ": " + error.what()};
  }
}

}  // namespace hpsearch::net
