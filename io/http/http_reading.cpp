#include "hpsearch/io/http/http_reading.hpp"

#include <array>
#include <boost/beast/http.hpp>
#include <limits>
#include <utility>

#include "http/outgoing_request.hpp"
#include "net/asio.hpp"

namespace hpsearch::net {

namespace http = boost::beast::http;
using engine::Errc;
using engine::Error;

struct HttpReading::Impl {
  asio::io_context io{1};
  std::unique_ptr<OutgoingRequest> question;
  http::response_parser<http::buffer_body> answer;
  std::string content_type;
  std::array<char, 16 * 1024> place{};
  bool reading = false;
  bool finished = false;
  std::string piece;

  void read_some() {
    reading = true;
    answer.get().body().data = place.data();
    answer.get().body().size = place.size();
    http::async_read_some(question->stream, question->buffer, answer,
                          [this](AsioError error, std::size_t) { take(error); });
  }

  void take(AsioError error) {
    reading = false;
    piece.assign(place.data(), place.size() - answer.get().body().size);
    finished = answer.is_done();
    question->note(error == http::error::need_buffer ? AsioError() : error);
  }
};

HttpReading::HttpReading(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

HttpReading::HttpReading(HttpReading&&) noexcept = default;
HttpReading& HttpReading::operator=(HttpReading&&) noexcept = default;
HttpReading::~HttpReading() = default;

engine::Result<HttpReading> HttpReading::open(const std::string& address, const std::string& target,
                                              std::chrono::milliseconds timeout, const HttpHeaders& headers) {
  try {
    auto impl = std::make_unique<Impl>();
    auto prepared = OutgoingRequest::prepare(impl->io, address, "GET", target, "", headers);
    if (!prepared) {
      return prepared.error();
    }
    impl->question = *std::move(prepared);
    OutgoingRequest& question = *impl->question;
    impl->answer.body_limit(std::numeric_limits<std::uint64_t>::max());
    bool begun = false;
    question.stream.plain().expires_after(timeout);
    question.send([&, impl = impl.get()] {
      http::async_read_header(question.stream, question.buffer, impl->answer,
                              [&](AsioError error, std::size_t) { begun = !question.note(error); });
    });
    impl->io.run();
    if (!begun) {
      return question.failure();
    }
    question.stream.plain().expires_never();
    impl->finished = impl->answer.is_done();
    impl->content_type = std::string(impl->answer.get()[http::field::content_type]);
    return HttpReading(std::move(impl));
  } catch (const std::exception& error) {
    return Error{Errc::bad_request, "cannot ask " + address + ": " + error.what()};
  }
}

unsigned HttpReading::status() const noexcept {
  return impl_->answer.get().result_int();
}

const std::string& HttpReading::content_type() const noexcept {
  return impl_->content_type;
}

engine::Result<std::optional<std::string>> HttpReading::read(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (!impl_->piece.empty()) {
      return std::optional(std::exchange(impl_->piece, {}));
    }
    if (impl_->finished) {
      return std::optional<std::string>();
    }
    if (impl_->question->problem()) {
      return impl_->question->failure();
    }
    if (!impl_->reading) {
      impl_->read_some();
    }
    impl_->io.restart();
    if (impl_->io.run_one_until(until) == 0 && impl_->reading) {
      return std::optional(std::string());
    }
  }
}

}  // namespace hpsearch::net
