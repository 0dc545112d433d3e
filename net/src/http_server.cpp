#include <algorithm>
#include <array>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <map>
#include <optional>
#include <set>

#include "asio.hpp"
#include "hpsearch/net/http.hpp"
#include "hpsearch/net/log.hpp"
#include "http_text.hpp"

namespace hpsearch::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using engine::Errc;
using engine::Error;
using std::chrono::seconds;

constexpr std::size_t most_header_bytes = 8 * 1024;
constexpr std::size_t most_connections = 4'096;
constexpr std::size_t most_connections_of_one = 64;
constexpr seconds header_deadline{5};
constexpr seconds body_deadline{15};
constexpr seconds idle_deadline{30};
constexpr seconds write_deadline{30};

constexpr std::size_t bytes_per_second =
    250'000;  // Who is slower than this does not get a large body across.

constexpr std::array<std::string_view, 7> methods{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

seconds time_for(std::uint64_t bytes) {
  return seconds(static_cast<std::int64_t>(bytes / bytes_per_second));
}

HttpResponse refusal(unsigned status, std::string_view code, const std::string& message) {
  HttpResponse response;
  response.status = status;
  response.body = R"({"error":{"code":")" + std::string(code) + R"(","message":")" + message + R"("}})";
  return response;
}

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

class Session;

/// What the sessions of one server share; they may outlive it for the moment their last handler takes.
struct Shared {
  Shared(asio::io_context& io_context, HttpServer::Handler handle, HttpRules its_rules)
      : io(io_context),
        acceptor(io_context),
        retry(io_context),
        handler(std::move(handle)),
        rules(std::move(its_rules)) {}

  asio::io_context& io;
  tcp::acceptor acceptor;
  asio::steady_timer retry;
  HttpServer::Handler handler;
  HttpRules rules;
  std::string configured_host;
  std::map<asio::ip::address, std::size_t> connections_of;
  std::set<Session*> sessions;
  std::size_t answering = 0;
  bool closing = false;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Shared> shared, tcp::socket socket, asio::ip::address from)
      : shared_(std::move(shared)), stream_(std::move(socket)), from_(std::move(from)) {
    ++shared_->connections_of[from_];
    shared_->sessions.insert(this);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    set_answering(false);
    shared_->sessions.erase(this);
    const auto found = shared_->connections_of.find(from_);
    if (--found->second == 0) {
      shared_->connections_of.erase(found);
    }
  }

  void start() { wait_for_request(); }

  [[nodiscard]] bool answering() const noexcept { return answering_; }

  void close() {
    AsioError ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

 private:
  void wait_for_request() {
    if (shared_->closing) {
      close();
      return;
    }
    is_head_ = false;
    parser_.emplace();
    parser_->header_limit(most_header_bytes);
    parser_->body_limit(std::max(shared_->rules.most_body_bytes, shared_->rules.most_archive_bytes));
    if (buffer_.size() > 0) {
      read_header();  // The next request came along with the last one.
      return;
    }
    stream_.expires_after(idle_deadline);
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](AsioError error, std::size_t size) {
                              if (error) {
                                self->close();
                                return;
                              }
                              self->buffer_.commit(size);
                              self->read_header();
                            });
  }

  void read_header() {
    stream_.expires_after(header_deadline);
    read_head();
  }

  /// The whole head first, and as it came: the parser would unfold and merge what is ambiguous.
  void read_head() {
    const auto bytes = buffer_.data();
    const std::string_view raw(static_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t end = raw.find("\r\n\r\n");
    if (end == std::string_view::npos ? raw.size() > most_header_bytes : end > most_header_bytes) {
      reading_failed(http::make_error_code(http::error::header_limit));
    } else if (end == std::string_view::npos) {
      stream_.async_read_some(buffer_.prepare(4096),
                              [self = shared_from_this()](AsioError error, std::size_t size) {
                                if (error) {
                                  self->reading_failed(error);
                                  return;
                                }
                                self->buffer_.commit(size);
                                self->read_head();
                              });
    } else if (const std::string why = ambiguity_of(raw.substr(0, end + 2)); !why.empty()) {
      refuse(refusal(400, "bad_request", why));
    } else {
      parse_head();
    }
  }

  void parse_head() {
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](AsioError error, std::size_t) {
                              if (error) {
                                self->reading_failed(error);
                                return;
                              }
                              self->read_body();
                            });
  }

  void read_body() {
    const HttpRules& rules = shared_->rules;
    const std::string_view target = view_of((*parser_).get().target());
    takes_archive_ = !rules.archives_below.empty() && target.starts_with(rules.archives_below);
    if (!takes_archive_ && parser_->content_length().value_or(0) > rules.most_body_bytes) {
      reading_failed(http::make_error_code(http::error::body_limit));
      return;
    }
    if (!takes_archive_) {
      parser_->body_limit(rules.most_body_bytes);
    }
    // Whoever asks first whether the body is wanted may send it: limits hold in any case.
    if (equal_ignoring_case(view_of((*parser_).get()[http::field::expect]), "100-continue") &&
        !parser_->is_done()) {
      stream_.expires_after(write_deadline);
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

  void read_rest() {
    stream_.expires_after(body_deadline + time_for(parser_->content_length().value_or(0)));
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](AsioError error, std::size_t) {
      if (error) {
        self->reading_failed(error);
        return;
      }
      self->dispatch();
    });
  }

  void reading_failed(AsioError error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      refuse(refusal(431, "bad_request", "the header is larger than 8 KiB"));
    } else if (error == http::error::body_limit) {
      refuse(refusal(413, "bad_request",
                     "the body is larger than " +
                         std::to_string(takes_archive_ ? shared_->rules.most_archive_bytes
                                                       : shared_->rules.most_body_bytes) +
                         " bytes"));
    } else if (error == beast::error::timeout) {
      close();  // The stream has closed itself.
    } else if (error != http::error::end_of_stream && error != http::error::partial_message &&
               error.category() == http::make_error_code(http::error::bad_method).category()) {
      refuse(refusal(400, "bad_request", "not an HTTP request: " + error.message()));
    } else {
      close();
    }
  }

  void dispatch() {
    if (shared_->closing) {
      close();
      return;
    }
    auto message = parser_->release();
    keep_alive_ = message.keep_alive();
    is_head_ = message.method() == http::verb::head;
    HttpRequest request;
    request.method = std::string(message.method_string());
    for (const auto& field : message) {
      request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    if (std::find(methods.begin(), methods.end(), request.method) == methods.end()) {
      refuse(refusal(405, "bad_request", "this method is not served here"));
      return;
    }
    if (!read_target(view_of(message.target()), request)) {
      refuse(refusal(400, "bad_request", "the target of the request is not a path"));
      return;
    }
    if (message.count(http::field::host) != 1 || !host_allowed(request.header("Host"))) {
      refuse(refusal(403, "bad_request", "the Host of the request is not this server"));
      return;
    }
    if (request.method != "GET" && request.method != "HEAD") {
      if (!origin_allowed(request)) {
        refuse(refusal(403, "bad_request", "requests from other sites are refused"));
        return;
      }
      if (shared_->rules.only_json && !message.body().empty() && !is_json(request.header("Content-Type")) &&
          !(takes_archive_ && equal_ignoring_case(request.header("Content-Type"), "application/x-tar"))) {
        refuse(refusal(415, "bad_request", "the body has to be application/json"));
        return;
      }
    }
    request.body = std::move(message.body());
    stream_.expires_never();  // From here on it is our own time.
    set_answering(true);
    auto answered = std::make_shared<bool>(false);
    shared_->handler(std::move(request), [self = shared_from_this(), answered](HttpResponse response) {
      if (!*answered) {
        *answered = true;
        self->send(std::move(response));
      }
    });
  }

  /// A name somebody else's DNS could point at us is not us; an address the connection really came in by is.
  bool host_allowed(std::string_view host) {
    const auto parts = read_host_port(host);
    if (!parts) {
      return false;
    }
    if (equal_ignoring_case(parts->host, "localhost") ||
        equal_ignoring_case(parts->host, shared_->configured_host)) {
      return true;
    }
    AsioError error;
    const auto named = asio::ip::make_address(parts->host, error);
    if (error) {
      return false;
    }
    const auto local = stream_.socket().local_endpoint(error);
    return named.is_loopback() || (!error && named == local.address());
  }

  bool origin_allowed(const HttpRequest& request) {
    const std::string_view site = request.header("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") {
      return false;
    }
    const std::string_view origin = request.header("Origin");
    return origin.empty() || origin == "http://" + std::string(request.header("Host"));
  }

  static bool is_json(std::string_view content_type) {
    return equal_ignoring_case(content_type.substr(0, content_type.find(';')), "application/json");
  }

  void refuse(HttpResponse response) {
    keep_alive_ = false;  // Where the next request would begin is anyone's guess.
    set_answering(true);
    send(std::move(response));
  }

  void send(HttpResponse response) {
    if (!response.file.empty()) {
      http::file_body::value_type file;
      AsioError error;
      file.open(response.file.c_str(), beast::file_mode::scan, error);
      if (!error) {
        const std::uint64_t size = file.size();
        file_response_ = head_of(response, http::response<http::file_body>{});
        file_response_.body() = std::move(file);
        write(file_response_, size);
        return;
      }
      response = refusal(404, "not_found", "it is not there any more");
    }
    const std::size_t size = response.body.size();
    response_ = head_of(response, http::response<http::string_body>{});
    response_.body() = std::move(response.body);
    write(response_, size);
  }

  template <class Message>
  Message head_of(const HttpResponse& response, Message message) {
    message.version(11);
    message.result(response.status);
    message.set(http::field::content_type, response.content_type);
    message.set(http::field::cache_control, "no-store");
    message.set("X-Content-Type-Options", "nosniff");
    message.set("Referrer-Policy", "no-referrer");
    message.set("Cross-Origin-Resource-Policy", "same-origin");
    message.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    keep_alive_ = keep_alive_ && !shared_->closing;
    message.keep_alive(keep_alive_);
    return message;
  }

  template <class Message>
  void write(Message& message, std::uint64_t size) {
    message.prepare_payload();
    const auto then = [self = shared_from_this()](AsioError error, std::size_t) { self->written(error); };
    if (is_head_) {
      head_ = http::response<http::empty_body>(message.base());
      stream_.expires_after(write_deadline);
      http::async_write(stream_, head_, then);
    } else {
      stream_.expires_after(write_deadline + time_for(size));
      http::async_write(stream_, message, then);
    }
  }

  void written(AsioError error) {
    set_answering(false);
    if (error || !keep_alive_) {
      finish();
      return;
    }
    wait_for_request();
  }

  /// Ends the connection so that the answer arrives: closing with bytes unread would reset it on the way.
  void finish() {
    AsioError ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    linger(64);
  }
  void linger(int reads_left) {
    if (reads_left == 0 || shared_->closing) {
      close();
      return;
    }
    buffer_.clear();
    stream_.expires_after(seconds{2});
    stream_.async_read_some(buffer_.prepare(16 * 1024),
                            [self = shared_from_this(), reads_left](AsioError error, std::size_t) {
                              if (error) {
                                self->close();
                                return;
                              }
                              self->linger(reads_left - 1);
                            });
  }

  void set_answering(bool answering) {
    if (answering && !answering_) {
      ++shared_->answering;
    } else if (!answering && answering_) {
      --shared_->answering;
    }
    answering_ = answering;
  }

  std::shared_ptr<Shared> shared_;
  beast::tcp_stream stream_;
  asio::ip::address from_;
  beast::flat_buffer buffer_{64 * 1024};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::empty_body> interim_;
  http::response<http::string_body> response_;
  http::response<http::file_body> file_response_;
  http::response<http::empty_body> head_;
  bool is_head_ = false;
  bool takes_archive_ = false;
  bool keep_alive_ = true;
  bool answering_ = false;
};

void accept_next(const std::shared_ptr<Shared>& shared) {
  shared->acceptor.async_accept([shared](AsioError error, tcp::socket socket) {
    if (shared->closing || error == asio::error::operation_aborted) {
      return;
    }
    if (error) {
      // Out of descriptors, most probably: those in use are given back in time, so wait instead of spinning.
      log(Level::warning, "cannot accept an HTTP connection: " + error.message());
      shared->retry.expires_after(std::chrono::milliseconds{200});
      shared->retry.async_wait([shared](AsioError stopped) {
        if (!stopped && !shared->closing) {
          accept_next(shared);
        }
      });
      return;
    }
    AsioError gone;
    const auto remote = socket.remote_endpoint(gone);
    if (!gone && shared->sessions.size() < most_connections) {
      const auto found = shared->connections_of.find(remote.address());
      if (found == shared->connections_of.end() || found->second < most_connections_of_one) {
        AsioError ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Session>(shared, std::move(socket), remote.address())->start();
      }
    }
    accept_next(shared);
  });
}

}  // namespace

struct HttpServer::Impl {
  std::shared_ptr<Shared> shared;
  std::string address;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

HttpServer::~HttpServer() {
  stop_accepting();
  const auto sessions = impl_->shared->sessions;  // Closing may end sessions, which leave the set.
  for (Session* session : sessions) {
    session->close();
  }
}

engine::Result<std::unique_ptr<HttpServer>> HttpServer::listen(Loop& loop, const std::string& address,
                                                               Handler handler, HttpRules rules) {
  const auto parts = read_host_port(address);
  if (!parts || parts->port.empty()) {
    return Error{Errc::bad_request,
                 "'" + address + "' is not an address to listen on (one looks like 127.0.0.1:8077)"};
  }
  auto shared = std::make_shared<Shared>(loop.impl().io, std::move(handler), rules);
  shared->configured_host = parts->host;
  AsioError error;
  const auto places =
      tcp::resolver(loop.impl().io).resolve(parts->host, parts->port, tcp::resolver::passive, error);
  if (error || places.empty()) {
    return Error{Errc::unavailable, "cannot find " + address + ": " + error.message()};
  }
  const tcp::endpoint endpoint = places.begin()->endpoint();
  tcp::acceptor& acceptor = shared->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  }
  if (!error) {
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    acceptor.listen(4'096, error);
  }
  if (error) {
    return Error{Errc::unavailable, "cannot listen on " + address + ": " + error.message()};
  }
  const std::string port = std::to_string(acceptor.local_endpoint().port());
  const bool bracketed = parts->host.find(':') != std::string::npos;
  auto impl = std::make_unique<Impl>();
  impl->address = (bracketed ? "[" + parts->host + "]" : parts->host) + ":" + port;
  impl->shared = shared;
  accept_next(shared);
  return std::make_unique<HttpServer>(std::move(impl));
}

std::string HttpServer::address() const {
  return impl_->address;
}

void HttpServer::stop_accepting() {
  Shared& shared = *impl_->shared;
  if (shared.closing) {
    return;
  }
  shared.closing = true;
  AsioError ignored;
  shared.acceptor.close(ignored);
  shared.retry.cancel();
  const auto sessions = shared.sessions;
  for (Session* session : sessions) {
    if (!session->answering()) {
      session->close();
    }
  }
}

std::size_t HttpServer::answering() const noexcept {
  return impl_->shared->answering;
}

}  // namespace hpsearch::net
