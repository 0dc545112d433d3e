#include "http/http_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/io/http/http_problem.hpp"
#include "hpsearch/io/net/log.hpp"
#include "http/http_text.hpp"

namespace hpsearch::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using std::chrono::seconds;

std::atomic<std::uint64_t> uploads_begun{0};  // Counted for all servers: two may share a directory.

constexpr std::size_t most_header_bytes = 8 * 1024;
constexpr seconds header_deadline{5};
constexpr seconds body_deadline{15};
constexpr seconds idle_deadline{30};
constexpr seconds write_deadline{30};
constexpr seconds linger_deadline{10};

constexpr std::size_t bytes_per_second =
    250'000;  // A client that is slower than this can't send a large body.

constexpr std::array<std::string_view, 7> methods{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

seconds time_for(std::uint64_t bytes) {
  return seconds(static_cast<std::int64_t>(bytes / bytes_per_second));
}

HttpResponse refusal(unsigned status, std::string_view code, const std::string& message) {
  return http_problem(status, engine::Value::Map{{"code", std::string(code)}, {"message", message}});
}

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

std::string new_id_prefix() {
  return files::random_hex(4) + "-";
}

HttpSession::HttpSession(std::shared_ptr<HttpSessions> shared, AnyStream::socket socket, HttpPeer from)
    : shared_(std::move(shared)),
      stream_(std::move(socket), shared_->rules.tls ? shared_->rules.tls->impl().context : nullptr),
      from_(std::move(from)) {
  shared_->sessions.insert(this);
}

HttpSession::~HttpSession() {
  set_answering(false);
  shared_->crowd.leave(*this);
  shared_->sessions.erase(this);
  shared_->turned_away -= is_turned_away_ ? 1U : 0U;
}

void HttpSession::turn_away() {
  is_turned_away_ = true;
  ++shared_->turned_away;
  start();
}

void HttpSession::give_way() {
  if (streamed_ != nullptr) {
    leave_body(Teller::connection);
  } else {
    close();
  }
}

void HttpSession::start() {
  stream_.plain().expires_after(header_deadline);
  stream_.async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](AsioError error) {
    if (error) {
      self->close();
    } else {
      self->wait_for_request();
    }
  });
}

void HttpSession::close() {
  AsioError ignored;
  stream_.plain().socket().shutdown(asio::socket_base::shutdown_both, ignored);
  stream_.plain().close();
}

void HttpSession::wait_for_request() {
  if (shared_->closing) {
    close();
    return;
  }
  is_head_ = false;
  id_ = shared_->id_prefix + std::to_string(++shared_->requests);
  what_.clear();
  shared_->crowd.stand(
      *this, was_let_in_ ? ConnectionLimit::Standing::waiting : ConnectionLimit::Standing::stranger);
  parser_.emplace();
  parser_->header_limit(most_header_bytes);
  std::size_t most = shared_->rules.most_body_bytes;
  for (const LargeBodies& large : shared_->rules.large_bodies) {
    most = std::max(most, large.most_bytes);
  }
  parser_->body_limit(most);
  if (buffer_.size() > 0) {
    read_header();  // The next request came along with the last one.
    return;
  }
  stream_.plain().expires_after(idle_deadline);
  stream_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this()](AsioError error, std::size_t size) {
                            if (error) {
                              self->close();
                              return;
                            }
                            const LoopLag::Turn turn(self->shared_->lag);
                            self->buffer_.commit(size);
                            self->read_header();
                          });
}

void HttpSession::read_header() {
  stream_.plain().expires_after(header_deadline);
  read_head();
}

void HttpSession::read_head() {
  const auto bytes = buffer_.data();
  const std::string_view raw(static_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = raw.find("\r\n\r\n");
  if ((end == std::string_view::npos ? raw.size() : end + 4) > most_header_bytes) {
    reading_failed(http::make_error_code(http::error::header_limit));
  } else if (end == std::string_view::npos) {
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](AsioError error, std::size_t size) {
                              if (error) {
                                self->reading_failed(error);
                                return;
                              }
                              const LoopLag::Turn turn(self->shared_->lag);
                              self->buffer_.commit(size);
                              self->read_head();
                            });
  } else if (const std::string why = ambiguity_of(raw.substr(0, end + 2)); !why.empty()) {
    refuse(refusal(400, "bad_request", why));
  } else {
    parse_head();
  }
}

void HttpSession::parse_head() {
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](AsioError error, std::size_t) {
                            if (error) {
                              self->reading_failed(error);
                              return;
                            }
                            const LoopLag::Turn turn(self->shared_->lag);
                            self->check_head();
                          });
}

namespace {

/// The base path from the path of the request, if it is there.
void take_off(const std::string& base, HttpRequest& request) {
  if (!base.empty() && request.path.starts_with(base + "/")) {
    request.path.erase(0, base.size());
    request.base_path = base;
  }
}

}  // namespace

void HttpSession::check_head() {
  const auto& head = (*parser_).get();
  is_head_ = head.method() == http::verb::head;
  version_ = head.version();
  request_ = HttpRequest{};
  request_.method = std::string(head.method_string());
  for (const auto& field : head) {
    request_.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request_.peer = from_;
  accepts_gzip_ = accepts_gzip(request_.header("Accept-Encoding"));
  request_.id = id_;
  request_.is_encrypted = stream_.is_encrypted() || (!from_.uid && !shared_->rules.only_from.empty());
  if (is_turned_away_) {
    HttpResponse later =
        refusal(503, "unavailable", "there are as many connections as the server takes; try again later");
    later.headers.emplace_back("Retry-After", "1");
    refuse(std::move(later));
  } else if (std::find(methods.begin(), methods.end(), request_.method) == methods.end()) {
    refuse(refusal(405, "bad_request", "this method is not served here"));
  } else if (!read_target(view_of(head.target()), request_)) {
    refuse(refusal(400, "bad_request", "the target of the request is not a path"));
  } else if (what_ = request_.method + " " + request_.path;
             !shared_->rules.base_path.empty() && request_.path == shared_->rules.base_path) {
    HttpResponse below = refusal(308, "moved", "the pages are below this path");
    below.headers.emplace_back("Location", shared_->rules.base_path + "/");
    refuse(std::move(below));
  } else if (take_off(shared_->rules.base_path, request_);
             head.count(http::field::host) != 1 || !host_allowed(site(), request_.header("Host"))) {
    refuse(refusal(403, "bad_request", "the Host of the request is not this server"));
  } else if (!is_head_ && request_.method != "GET" && !origin_allowed(site(), request_)) {
    refuse(refusal(403, "bad_request", "requests from other sites are refused"));
  } else if (auto refused = ask_to_let_in()) {
    keep_alive_ = head.keep_alive() && parser_->content_length().value_or(0) == 0 && !parser_->chunked();
    if (keep_alive_) {
      set_answering(true);
      send(*std::move(refused));
    } else {
      refuse(*std::move(refused));
    }
  } else {
    read_body();
  }
}

std::optional<HttpResponse> HttpSession::ask_to_let_in() {
  HttpEntry entry = shared_->rules.let_in ? shared_->rules.let_in(request_) : HttpEntry{};
  was_let_in_ = !entry.refusal;
  if (!entry.name.empty()) {
    shared_->crowd.count_for(*this, entry.name, most_of_a_name);
  }
  return std::move(entry.refusal);
}

void HttpSession::read_body() {
  const HttpRules& rules = shared_->rules;
  const std::string_view target = view_of((*parser_).get().target());
  large_ = nullptr;
  for (const LargeBodies& large : rules.large_bodies) {
    large_ = target.starts_with(large.below) ? &large : large_;
  }
  if (parser_->content_length().value_or(0) > most_bytes()) {
    reading_failed(http::make_error_code(http::error::body_limit));
    return;
  }
  parser_->body_limit(most_bytes());
  // A client that asks first whether the body is wanted may send it: limits hold in any case.
  if (equal_ignoring_case(view_of((*parser_).get()[http::field::expect]), "100-continue") &&
      !parser_->is_done()) {
    stream_.plain().expires_after(write_deadline);
    interim_ = {http::status::continue_, 11};
    http::async_write(stream_, interim_, [self = shared_from_this()](AsioError error, std::size_t) {
      if (error) {
        self->close();
        return;
      }
      self->read_rest();
    });
    return;
  }
  read_rest();
}

std::size_t HttpSession::most_bytes() const {
  return large_ != nullptr ? std::max(large_->most_bytes, shared_->rules.most_body_bytes)
                           : shared_->rules.most_body_bytes;
}

void HttpSession::receive_upload() {
  const std::optional<std::uint64_t> bytes =
      parser_->content_length() ? std::optional<std::uint64_t>(*parser_->content_length()) : std::nullopt;
  const HttpRules& rules = shared_->rules;
  if (!bytes) {
    refuse(refusal(411, "bad_request", "a body of " + large_->content_type + " needs a Content-Length"));
    return;
  }
  if (*bytes > large_->most_bytes) {
    reading_failed(http::make_error_code(http::error::body_limit));
    return;
  }
  if (shared_->uploaded_bytes->load() + *bytes > rules.most_uploaded_bytes) {
    refuse(refusal(503, "unavailable",
                   "the uploads under way take all the room there is for them; try again later"));
    return;
  }
  auto upload =
      std::make_shared<UploadedFile>(rules.uploads + "/upload-" + std::to_string(++uploads_begun) + ".part",
                                     *bytes, shared_->uploaded_bytes);
  upload_parser_.emplace(std::move(*parser_));
  upload_parser_->body_limit(large_->most_bytes);
  AsioError error;
  upload_parser_->get().body().open(upload->path().c_str(), beast::file_mode::write, error);
  if (error) {
    refuse(refusal(507, "unavailable",
                   "the upload cannot be written to " + rules.uploads + ": " + error.message()));
    return;
  }
  stream_.plain().expires_after(body_deadline + time_for(*bytes));
  http::async_read(
      stream_, buffer_, *upload_parser_, [self = shared_from_this(), upload](AsioError failed, std::size_t) {
        const LoopLag::Turn turn(self->shared_->lag);
        if (failed == boost::system::errc::no_space_on_device) {
          self->refuse(refusal(507, "unavailable",
                               "there is no room for the upload in " + self->shared_->rules.uploads));
        } else if (failed) {
          self->reading_failed(failed);
        } else {
          self->keep_alive_ = self->upload_parser_->keep_alive();
          self->request_.uploaded = upload;
          self->dispatch();
        }
        self->upload_parser_.reset();  // Closes the file.
      });
}

void HttpSession::read_rest() {
  // Without a body there is nothing to write.
  if (is_large() && !shared_->rules.uploads.empty() && !parser_->is_done()) {
    receive_upload();
    return;
  }
  stream_.plain().expires_after(body_deadline + time_for(parser_->content_length().value_or(0)));
  http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](AsioError error, std::size_t) {
    if (error) {
      self->reading_failed(error);
      return;
    }
    const LoopLag::Turn turn(self->shared_->lag);
    self->take_body();
  });
}

void HttpSession::reading_failed(AsioError error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    refuse(refusal(431, "bad_request", "the header is larger than 8 KiB"));
  } else if (error == http::error::body_limit) {
    refuse(refusal(413, "bad_request", "the body is larger than " + std::to_string(most_bytes()) + " bytes"));
  } else if (error == beast::error::timeout) {
    close();  // The stream has closed itself.
  } else if (error != http::error::end_of_stream && error != http::error::partial_message &&
             error.category() == http::make_error_code(http::error::bad_method).category()) {
    refuse(refusal(400, "bad_request", "not an HTTP request: " + error.message()));
  } else {
    close();
  }
}

void HttpSession::take_body() {
  auto message = parser_->release();
  keep_alive_ = message.keep_alive();
  if (request_.method != "GET" && !is_head_ && shared_->rules.only_json && !message.body().empty() &&
      !is_taken(request_.header("Content-Type")) && !is_large()) {
    refuse(refusal(415, "bad_request", "the body has to be application/json"));
    return;
  }
  request_.body = std::move(message.body());
  dispatch();
}

bool HttpSession::is_large() const {
  return large_ != nullptr && equal_ignoring_case(request_.header("Content-Type"), large_->content_type);
}

void HttpSession::dispatch() {
  if (shared_->closing) {
    close();
    return;
  }
  stream_.plain().expires_never();  // From here on it is our own time.
  set_answering(true);
  auto answered = std::make_shared<bool>(false);
  shared_->handler(std::move(request_), [self = shared_from_this(), answered](HttpResponse response) {
    if (!*answered) {
      *answered = true;
      self->send(std::move(response));
    }
  });
}

HttpSite HttpSession::site() {
  AsioError error;
  const auto local = ip_address_of(stream_.plain().socket().local_endpoint(error));
  return {.configured_host = shared_->configured_host,
          .address = error ? std::nullopt : std::optional(local),
          .is_unix = from_.uid.has_value(),
          .is_encrypted = stream_.is_encrypted(),
          .is_proxied = !shared_->rules.only_from.empty()};
}

bool HttpSession::is_taken(std::string_view content_type) const {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  const std::string& other = shared_->rules.other_type;
  return equal_ignoring_case(type, "application/json") ||
         (!other.empty() && equal_ignoring_case(type, other));
}

void HttpSession::refuse(HttpResponse response) {
  keep_alive_ = false;  // Where the next request would begin is anyone's guess.
  set_answering(true);
  send(std::move(response));
}

void HttpSession::send(HttpResponse response) {
  held_ = std::move(response.held);
  sent_by_.reset();
  if (response.status >= 400) {
    complete_failure(response);
  }
  if (!response.stream && is_to_be_packed(response)) {
    sent_by_ = std::chrono::steady_clock::now() + write_deadline + time_for(response.body.size());
    response.stream = [text = std::make_shared<const std::string>(std::move(response.body))](
                          const std::shared_ptr<HttpBody>& body) {
      body->write(text);
      body->end();
    };
  }
  if (response.stream) {
    begin_body(response);
    return;
  }
  response_ = head_of(response, http::response<http::string_body>{});
  response_.body() = std::move(response.body);
  write();
}

void HttpSession::complete_failure(HttpResponse& response) const {
  if (const std::size_t end = response.body.rfind('}');
      response.content_type == problem_type && end != std::string::npos) {
    response.body.insert(end, ",\"instance\":" + engine::compact_json(engine::Value(id_)));
  }
  // Anyone who reaches the port can cause the others.
  log(response.status == 500 ? Level::warning : Level::debug,
      "request " + id_ + " of " + from_.name + " failed: " + std::to_string(response.status) + ", " +
          engine::compact_json(engine::Value(what_)));
}

template <class Message>
Message HttpSession::head_of(const HttpResponse& response, Message message) {
  message.version(11);
  message.result(response.status);
  message.set(http::field::content_type, response.content_type);
  message.set(http::field::date,
              http_date(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  message.set(http::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  message.set("X-Request-Id", id_);
  message.set("Referrer-Policy", "no-referrer");
  message.set("Cross-Origin-Resource-Policy", "same-origin");
  message.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  if (stream_.is_encrypted()) {
    message.set("Strict-Transport-Security", "max-age=31536000");
  }
  if (is_packable(response.content_type) && !response.holds_secret) {
    message.set(http::field::vary, "Accept-Encoding");
  }
  for (const auto& [name, value] : response.headers) {
    message.set(name, value);
  }
  keep_alive_ = keep_alive_ && !shared_->closing;
  message.keep_alive(keep_alive_);
  return message;
}

template http::response<http::empty_body> HttpSession::head_of(const HttpResponse&,
                                                               http::response<http::empty_body>);

void HttpSession::write() {
  response_.prepare_payload();
  if (response_.result() == http::status::no_content || response_.result() == http::status::not_modified) {
    response_.erase(http::field::content_length);
  }
  const auto then = [self = shared_from_this()](AsioError error, std::size_t) {
    const LoopLag::Turn turn(self->shared_->lag);
    self->written(error);
  };
  if (is_head_) {
    head_ = http::response<http::empty_body>(response_.base());
    stream_.plain().expires_after(write_deadline);
    http::async_write(stream_, head_, then);
  } else {
    stream_.plain().expires_after(write_deadline + time_for(response_.body().size()));
    http::async_write(stream_, response_, then);
  }
}

void HttpSession::written(AsioError error) {
  std::string().swap(response_.body());  // The connection may stay open; assigning "" would keep the memory.
  set_answering(false);
  if (error || !keep_alive_) {
    finish();
    return;
  }
  wait_for_request();
}

void HttpSession::finish() {
  shared_->crowd.stand(*this, ConnectionLimit::Standing::stranger);  // Nothing more is wanted of it.
  stream_.plain().expires_after(seconds{2});
  stream_.async_end([self = shared_from_this()](AsioError) {
    if (self->stream_.is_encrypted()) {
      self->close();  // The other end has answered the end, or has closed.
    } else {
      self->stream_.plain().expires_after(linger_deadline);
      self->linger();
    }
  });
}

void HttpSession::linger() {
  if (shared_->closing) {
    close();
    return;
  }
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(16 * 1024),
                          [self = shared_from_this()](AsioError error, std::size_t) {
                            if (error) {
                              self->close();
                              return;
                            }
                            self->linger();
                          });
}

void HttpSession::set_answering(bool answering) {
  if (answering && !answering_) {
    ++shared_->answering;
  } else if (!answering && answering_) {
    --shared_->answering;
  }
  answering_ = answering;
  if (!answering) {
    held_.clear();
  }
  if (answering) {
    shared_->crowd.stand(*this, ConnectionLimit::Standing::answering);
  }
}

}  // namespace hpsearch::net
