#include <algorithm>
#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

#include "http/http_session.hpp"
#include "http/http_text.hpp"

// Answers whose body is written as it comes.

namespace hpsearch::net {
namespace {

namespace http = boost::beast::http;

// For the next bytes, at most BodyQueue::most_bytes_at_once: a client that takes none of them for so long is
// lost.
constexpr std::chrono::seconds piece_deadline{30};
constexpr std::size_t event_bytes_at_once = std::size_t{16} * 1024;
constexpr std::size_t least_bytes_to_pack = 1024;
// The most bytes of requests that were sent ahead. There is no reading beyond that, and then the end of the
// connection is noticed by writing.
constexpr std::size_t most_bytes_ahead = std::size_t{16} * 1024;

}  // namespace

/// The owner's end of a body. The session lives at least as long.
class HttpSession::Body final : public HttpBody {
 public:
  explicit Body(std::shared_ptr<HttpSession> session) : session_(std::move(session)) {}
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  ~Body() override { cut(); }

  void write(std::shared_ptr<const std::string> piece) override {
    if (is_open()) {
      session_->streamed_->queue.add(std::move(piece));
      session_->write_body();
    }
  }
  [[nodiscard]] std::size_t unsent() const noexcept override {
    return is_open() ? session_->streamed_->queue.unsent() : 0;
  }
  [[nodiscard]] std::size_t held_bytes() const noexcept override {
    return is_open() ? session_->streamed_->queue.held() : 0;
  }
  void on_drained(std::function<void()> task) override {
    if (is_open()) {
      session_->streamed_->drained = std::move(task);
    }
  }
  void on_closed(std::function<void()> task) override {
    if (is_open()) {
      session_->streamed_->closed = std::move(task);
    }
  }
  void end() override {
    if (is_open()) {
      open_ = false;
      const auto session = session_;  // This object may go with what was set by on_closed().
      session->streamed_->queue.end();
      session->write_body();
    }
  }
  void cut() override {
    if (is_open()) {
      open_ = false;
      const auto session = session_;
      session->leave_body(Teller::owner);
    }
  }
  [[nodiscard]] bool is_open() const noexcept override { return open_ && session_->streamed_ != nullptr; }

 private:
  std::shared_ptr<HttpSession> session_;
  bool open_ = true;
};

bool HttpSession::is_to_be_packed(const HttpResponse& response) const {
  const auto is_encoding = [](const auto& header) {
    return equal_ignoring_case(header.first, "Content-Encoding");
  };
  return accepts_gzip_ && !is_head_ && !response.holds_secret && is_packable(response.content_type) &&
         (response.stream || response.body.size() > least_bytes_to_pack) &&
         std::none_of(response.headers.begin(), response.headers.end(), is_encoding);
}

void HttpSession::begin_body(const HttpResponse& response) {
  const bool packs = is_to_be_packed(response);
  const bool is_endless = response.content_type == "text/event-stream";
  const bool is_sized = response.content_length && !packs;
  const bool chunked = version_ >= 11 && !is_sized;
  keep_alive_ = keep_alive_ && (chunked || is_sized);  // Else only the end of the connection ends the body.
  head_ = head_of(response, http::response<http::empty_body>{});
  if (chunked) {
    head_.chunked(true);
  } else if (is_sized) {
    head_.content_length(*response.content_length);
  }
  const bool has_body = !is_head_;
  if (has_body) {
    streamed_ =
        std::make_unique<Streamed>(chunked, is_endless ? event_bytes_at_once : BodyQueue::most_bytes_at_once);
    if (packs) {
      head_.set(http::field::content_encoding, "gzip");
      streamed_->queue.pack();
    }
  }
  head_writer_.emplace(head_);
  stream_.plain().expires_after(piece_deadline);
  http::async_write_header(stream_, *head_writer_,
                           [self = shared_from_this(), has_body, begin = response.stream, is_endless](
                               AsioError error, std::size_t) {
                             const LoopLag::Turn turn(self->shared_->lag);
                             self->head_writer_.reset();
                             if (!has_body) {
                               self->written(error);
                             } else if (self->streamed_ == nullptr) {
                               return;  // Closed meanwhile.
                             } else if (error) {
                               self->leave_body(Teller::connection);
                             } else {
                               self->watch_for_end();
                               if (is_endless) {
                                 self->shared_->crowd.stand(*self, ConnectionLimit::Standing::streaming);
                               }
                               begin(std::make_shared<Body>(self));
                             }
                           });
}

void HttpSession::write_body() {
  Streamed& streamed = *streamed_;
  if (streamed.writing) {
    return;
  }
  const std::string& bytes = streamed.queue.next();
  if (streamed.queue.finished()) {
    end_body();
    return;
  }
  if (bytes.empty()) {
    return;
  }
  streamed.writing = true;
  const auto piece_by = std::chrono::steady_clock::now() + piece_deadline;
  stream_.plain().expires_at(sent_by_ ? std::min(*sent_by_, piece_by) : piece_by);
  asio::async_write(stream_, asio::buffer(bytes), [self = shared_from_this()](AsioError error, std::size_t) {
    const LoopLag::Turn turn(self->shared_->lag);
    self->body_written(error);
  });
}

void HttpSession::body_written(AsioError error) {
  if (streamed_ == nullptr) {
    left_streamed_.reset();
    return;  // Left meanwhile.
  }
  streamed_->writing = false;
  if (error) {
    leave_body(Teller::connection);
    return;
  }
  streamed_->queue.sent();
  write_body();
  if (streamed_ != nullptr && streamed_->queue.unsent() == 0 && !streamed_->queue.ended() &&
      streamed_->drained) {
    const auto drained = streamed_->drained;  // It may set another one.
    drained();
  }
}

void HttpSession::end_body() {
  streamed_.reset();
  set_answering(false);
  const bool goes_on = keep_alive_ && !shared_->closing;
  const auto then = [this, goes_on] { goes_on ? wait_for_request() : finish(); };
  if (!watching_) {
    then();
    return;
  }
  after_watch_ = then;
  stream_.plain().cancel();
}

void HttpSession::leave_body(Teller teller) {
  // The bytes on their way are in there: it stays until the socket has let them go.
  auto streamed = std::move(streamed_);
  const auto closed = std::move(streamed->closed);
  streamed->closed = nullptr;
  const auto drained = std::exchange(streamed->drained, nullptr);  // Let go below: it may hold the body.
  if (streamed->writing) {
    left_streamed_ = std::move(streamed);
  }
  set_answering(false);
  close();
  if (teller == Teller::connection && closed) {
    closed();
  }
}

void HttpSession::abandon() {
  if (streamed_ != nullptr) {
    leave_body(Teller::owner);
  } else {
    close();
  }
}

void HttpSession::watch_for_end() {
  if (buffer_.size() >= most_bytes_ahead) {
    return;
  }
  watching_ = true;
  stream_.plain().expires_never();  // The deadline of reading; the one of writing stays.
  stream_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this()](AsioError error, std::size_t size) {
                            const LoopLag::Turn turn(self->shared_->lag);
                            self->watching_ = false;
                            self->buffer_.commit(size);
                            if (self->streamed_ != nullptr) {
                              error ? self->leave_body(Teller::connection) : self->watch_for_end();
                            } else if (const auto then = std::exchange(self->after_watch_, nullptr); !then) {
                              return;  // It was cut.
                            } else if (error && error != asio::error::operation_aborted) {
                              self->close();
                            } else {
                              then();
                            }
                          });
}

}  // namespace hpsearch::net
