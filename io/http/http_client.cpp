#include <boost/beast/http.hpp>

#include "hpsearch/io/http/tls_request.hpp"
#include "http/outgoing_request.hpp"
#include "net/asio.hpp"

namespace hpsearch::net {

namespace http = boost::beast::http;
using engine::Errc;
using engine::Error;

engine::Result<HttpResponse> http_request(const std::string& address, const std::string& method,
                                          const std::string& target, const std::string& body,
                                          std::chrono::milliseconds timeout, const HttpHeaders& headers,
                                          AnswerLimit limit) {
  return tls_request(address, method, target, body, timeout, headers, limit, {});
}

engine::Result<HttpResponse> tls_request(const std::string& address, const std::string& method,
                                         const std::string& target, const std::string& body,
                                         std::chrono::milliseconds timeout, const HttpHeaders& headers,
                                         AnswerLimit limit, const TlsClient& tls) {
  try {
    asio::io_context io{1};
    auto prepared = OutgoingRequest::prepare(io, address, method, target, body, headers, tls);
    if (!prepared) {
      return prepared.error();
    }
    OutgoingRequest& question = **prepared;
    http::response_parser<http::string_body> answer;
    answer.body_limit(limit.bytes);
    answer.skip(method == "HEAD");
    bool done = false;
    question.stream.plain().expires_after(timeout);
    question.send([&] {
      // The header alone first: Beast 1.74 forgets that a body is too long when it begins in the same
      // packet.
      http::async_read_header(
          question.stream, question.buffer, answer, [&](AsioError header_error, std::size_t) {
            if (question.note(header_error)) {
              return;
            }
            http::async_read(question.stream, question.buffer, answer,
                             [&](AsioError read_error, std::size_t) { done = !question.note(read_error); });
          });
    });
    io.run();
    if (question.problem() == http::error::body_limit) {
      return Error{Errc::unavailable, "the answer from " + address + " is longer than " +
                                          std::to_string(limit.bytes) + " bytes"};
    }
    if (!done) {
      return question.failure();
    }
    HttpResponse response;
    if (const auto length = answer.content_length()) {
      response.content_length = *length;
    }
    auto message = answer.release();
    response.status = message.result_int();
    response.content_type = std::string(message[http::field::content_type]);
    for (const auto& field : message) {
      response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    response.body = std::move(message.body());
    return response;
  } catch (const std::exception& error) {  // A method, a header or a certificate that cannot be used.
    return Error{Errc::bad_request, "cannot ask " + address + ": " + error.what()};
  }
}

}  // namespace hpsearch::net
