#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "asio.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/net/http.hpp"
#include "hpsearch/net/log.hpp"
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
using std::chrono::seconds;

std::atomic<std::uint64_t> uploads_begun{0};  // Of all servers: two may share a directory.

constexpr std::size_t most_header_bytes = 8 * 1024;
constexpr std::size_t most_connections = 4'096;
constexpr std::size_t most_connections_of_one = 64;
constexpr int most_waiting_connections = 4'096;
constexpr seconds header_deadline{5};
constexpr seconds body_deadline{15};
constexpr seconds idle_deadline{30};
constexpr seconds write_deadline{30};
constexpr seconds linger_deadline{10};

constexpr std::size_t bytes_per_second =
    250'000;  // Who is slower than this does not get a large body across.

constexpr std::array<std::string_view, 7> methods{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

seconds time_for(std::uint64_t bytes) {
  return seconds(static_cast<std::int64_t>(bytes / bytes_per_second));
}

HttpResponse refusal(unsigned status, std::string_view code, const std::string& message) {
  HttpResponse response;
  response.status = status;
  using engine::Value;
  response.body = engine::compact_json(
      Value::Map{{"error", Value::Map{{"code", std::string(code)}, {"message", message}}}});
  return response;
}

asio::ip::address ip_address_of(const AnyStream::endpoint& endpoint) {
  tcp::endpoint ip;
  if (endpoint.size() > ip.capacity()) {
    return {};
  }
  std::memcpy(ip.data(), endpoint.data(), endpoint.size());
  return ip.address();
}

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

class Session;

/// What the sessions of one server share; they may outlive it for the moment their last handler takes.
struct Shared {
  Shared(Loop::Impl& loop, HttpServer::Handler handle, HttpRules its_rules)
      : io(loop.io),
        lag(loop.lag),
        acceptor(loop.io),
        retry(loop.io),
        handler(std::move(handle)),
        rules(std::move(its_rules)) {}

  asio::io_context& io;
  LoopLag& lag;
  asio::basic_socket_acceptor<AnyStream> acceptor;
  asio::steady_timer retry;
  HttpServer::Handler handler;
  HttpRules rules;
  std::string configured_host;  ///< "" on a Unix socket.
  std::optional<SocketFile> socket_file;
  std::map<std::string, std::size_t> connections_of;  ///< By the peer's name.
  std::set<Session*> sessions;
  std::size_t answering = 0;
  std::shared_ptr<std::atomic<std::uint64_t>> uploaded_bytes =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::uint64_t waits = 0;  ///< How many times a session began to wait for a request.
  bool closing = false;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Shared> shared, AnyStream::socket socket, HttpPeer from)
      : shared_(std::move(shared)),
        stream_(std::move(socket), shared_->rules.tls ? shared_->rules.tls->impl().context : nullptr),
        from_(std::move(from)) {
    ++shared_->connections_of[from_.name];
    shared_->sessions.insert(this);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    set_answering(false);
    shared_->sessions.erase(this);
    const auto found = shared_->connections_of.find(from_.name);
    if (--found->second == 0) {
      shared_->connections_of.erase(found);
    }
  }

  void start() {
    stream_.plain().expires_after(header_deadline);
    stream_.async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](AsioError error) {
      if (error) {
        self->close();
      } else {
        self->wait_for_request();
      }
    });
  }

  [[nodiscard]] bool answering() const noexcept { return answering_; }
  [[nodiscard]] const std::string& from() const noexcept { return from_.name; }
  /// Since when it waits for a request or reads one; a place in the order of all sessions.
  [[nodiscard]] std::uint64_t waits_since() const noexcept { return waits_since_; }

  void close() {
    AsioError ignored;
    stream_.plain().socket().shutdown(asio::socket_base::shutdown_both, ignored);
    stream_.plain().close();
  }

 private:
  void wait_for_request() {
    if (shared_->closing) {
      close();
      return;
    }
    is_head_ = false;
    waits_since_ = ++shared_->waits;
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

  void read_header() {
    stream_.plain().expires_after(header_deadline);
    read_head();
  }

  /// The whole head first, and as it came: the parser would unfold and merge what is ambiguous.
  void read_head() {
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

  void parse_head() {
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

  /// All that can be told without the body.
  void check_head() {
    const auto& head = (*parser_).get();
    is_head_ = head.method() == http::verb::head;
    request_ = HttpRequest{};
    request_.method = std::string(head.method_string());
    for (const auto& field : head) {
      request_.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    request_.peer = from_;
    if (std::find(methods.begin(), methods.end(), request_.method) == methods.end()) {
      refuse(refusal(405, "bad_request", "this method is not served here"));
    } else if (!read_target(view_of(head.target()), request_)) {
      refuse(refusal(400, "bad_request", "the target of the request is not a path"));
    } else if (head.count(http::field::host) != 1 || !host_allowed(request_.header("Host"))) {
      refuse(refusal(403, "bad_request", "the Host of the request is not this server"));
    } else if (!is_head_ && request_.method != "GET" && !origin_allowed(request_)) {
      refuse(refusal(403, "bad_request", "requests from other sites are refused"));
    } else if (auto refused =
                   shared_->rules.refuse_head ? shared_->rules.refuse_head(request_) : std::nullopt) {
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

  void read_body() {
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
    // Whoever asks first whether the body is wanted may send it: limits hold in any case.
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

  [[nodiscard]] std::size_t most_bytes() const {
    return large_ != nullptr ? std::max(large_->most_bytes, shared_->rules.most_body_bytes)
                             : shared_->rules.most_body_bytes;
  }

  /// A large body goes to the disk: many at once must not fill the memory.
  void receive_upload() {
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
        stream_, buffer_, *upload_parser_,
        [self = shared_from_this(), upload](AsioError failed, std::size_t) {
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

  void read_rest() {
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

  void reading_failed(AsioError error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      refuse(refusal(431, "bad_request", "the header is larger than 8 KiB"));
    } else if (error == http::error::body_limit) {
      refuse(
          refusal(413, "bad_request", "the body is larger than " + std::to_string(most_bytes()) + " bytes"));
    } else if (error == beast::error::timeout) {
      close();  // The stream has closed itself.
    } else if (error != http::error::end_of_stream && error != http::error::partial_message &&
               error.category() == http::make_error_code(http::error::bad_method).category()) {
      refuse(refusal(400, "bad_request", "not an HTTP request: " + error.message()));
    } else {
      close();
    }
  }

  void take_body() {
    auto message = parser_->release();
    keep_alive_ = message.keep_alive();
    if (request_.method != "GET" && !is_head_ && shared_->rules.only_json && !message.body().empty() &&
        !is_json(request_.header("Content-Type")) && !is_large()) {
      refuse(refusal(415, "bad_request", "the body has to be application/json"));
      return;
    }
    request_.body = std::move(message.body());
    dispatch();
  }

  [[nodiscard]] bool is_large() const {
    return large_ != nullptr && equal_ignoring_case(request_.header("Content-Type"), large_->content_type);
  }

  void dispatch() {
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

  /// A name somebody else's DNS could point at us is not us; an address the connection really came in by is.
  bool host_allowed(std::string_view host) {
    // No browser reaches a Unix socket, and none speaks TLS with a server whose certificate does not name the
    // site. A proxy knows its own names.
    if (from_.uid || stream_.is_encrypted() || !shared_->rules.only_from.empty()) {
      return !host.empty();
    }
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
    const auto local = ip_address_of(stream_.plain().socket().local_endpoint(error));
    return named.is_loopback() || (!error && named == local);
  }

  bool origin_allowed(const HttpRequest& request) {
    const std::string_view site = request.header("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") {
      return false;
    }
    const std::string_view origin = request.header("Origin");
    const std::string host(request.header("Host"));
    const bool proxied = !shared_->rules.only_from.empty();
    return origin.empty() || (!stream_.is_encrypted() && origin == "http://" + host) ||
           ((stream_.is_encrypted() || proxied) && origin == "https://" + host);
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
    if (stream_.is_encrypted()) {
      message.set("Strict-Transport-Security", "max-age=31536000");
    }
    for (const auto& [name, value] : response.headers) {
      message.set(name, value);
    }
    keep_alive_ = keep_alive_ && !shared_->closing;
    message.keep_alive(keep_alive_);
    return message;
  }

  template <class Message>
  void write(Message& message, std::uint64_t size) {
    message.prepare_payload();
    const auto then = [self = shared_from_this()](AsioError error, std::size_t) {
      const LoopLag::Turn turn(self->shared_->lag);
      self->written(error);
    };
    if (is_head_) {
      head_ = http::response<http::empty_body>(message.base());
      stream_.plain().expires_after(write_deadline);
      http::async_write(stream_, head_, then);
    } else {
      stream_.plain().expires_after(write_deadline + time_for(size));
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
    stream_.plain().expires_after(seconds{2});
    stream_.async_end([self = shared_from_this()](AsioError) {
      if (self->stream_.is_encrypted()) {
        self->close();  // The other end has answered the end, or is gone.
      } else {
        self->stream_.plain().expires_after(linger_deadline);
        self->linger();
      }
    });
  }
  /// Reads what still comes, or the other end would lose the answer. The deadline ends it.
  void linger() {
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

  void set_answering(bool answering) {
    if (answering && !answering_) {
      ++shared_->answering;
    } else if (!answering && answering_) {
      --shared_->answering;
    }
    answering_ = answering;
  }

  std::shared_ptr<Shared> shared_;
  HttpStream stream_;
  HttpPeer from_;
  beast::flat_buffer buffer_{64 * 1024};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::request_parser<http::file_body>> upload_parser_;
  HttpRequest request_;  ///< The one that is read.
  http::response<http::empty_body> interim_;
  http::response<http::string_body> response_;
  http::response<http::file_body> file_response_;
  http::response<http::empty_body> head_;
  bool is_head_ = false;
  const LargeBodies* large_ = nullptr;  ///< That this request's path may have.
  bool keep_alive_ = true;
  bool answering_ = false;
  std::uint64_t waits_since_ = 0;
};

/// Makes room for one more connection of that peer. False: all that it has are being answered.
bool make_room(const Shared& shared, const std::string& peer) {
  const auto found = shared.connections_of.find(peer);
  if (found == shared.connections_of.end() || found->second < most_connections_of_one) {
    return true;
  }
  Session* oldest = nullptr;
  for (Session* session : shared.sessions) {
    if (session->from() == peer && !session->answering() &&
        (oldest == nullptr || session->waits_since() < oldest->waits_since())) {
      oldest = session;
    }
  }
  if (oldest == nullptr) {
    return false;
  }
  oldest->close();
  return true;
}

/// Who is at the other end; nothing when it has gone already.
std::optional<HttpPeer> peer_of(AnyStream::socket& socket) {
  AsioError gone;
  const auto remote = socket.remote_endpoint(gone);
  if (gone) {
    return std::nullopt;
  }
  if (remote.protocol().family() != AF_UNIX) {
    return HttpPeer{std::nullopt, ip_address_of(remote).to_string()};
  }
  const std::optional<std::uint32_t> uid = peer_uid(socket.native_handle());
  return uid ? std::optional(HttpPeer{uid, "uid " + std::to_string(*uid)}) : std::nullopt;
}

/// Whether requests from there are taken at all.
bool is_served(const Shared& shared, const HttpPeer& peer) {
  return shared.rules.only_from.empty() || peer.uid || is_in_network(peer.name, shared.rules.only_from);
}

void accept_next(const std::shared_ptr<Shared>& shared) {
  shared->acceptor.async_accept([shared](AsioError error, AnyStream::socket socket) {
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
    auto peer = peer_of(socket);
    if (peer && is_served(*shared, *peer) && shared->sessions.size() < most_connections &&
        make_room(*shared, peer->name)) {
      AsioError ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      std::make_shared<Session>(shared, std::move(socket), *std::move(peer))->start();
    }
    accept_next(shared);
  });
}

Error cannot_listen(const std::string& address, const std::string& why) {
  return Error{Errc::unavailable, "cannot listen on " + address + ": " + why};
}

/// Binds and listens; the address with its real port.
engine::Result<std::string> bind_tcp(Shared& shared, const HostPort& place, const std::string& address) {
  AsioError error;
  const auto places = tcp::resolver(shared.io).resolve(place.host, place.port, tcp::resolver::passive, error);
  if (error || places.empty()) {
    return Error{Errc::unavailable, "cannot find " + address + ": " + error.message()};
  }
  const tcp::endpoint endpoint = places.begin()->endpoint();
  shared.configured_host = place.host;
  shared.acceptor.open(endpoint.protocol(), error);
  if (!error) {
    shared.acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) {
    shared.acceptor.bind(endpoint, error);
  }
  if (!error) {
    shared.acceptor.listen(most_waiting_connections, error);
  }
  if (error) {
    return cannot_listen(address, error.message());
  }
  tcp::endpoint local;
  const AnyStream::endpoint any = shared.acceptor.local_endpoint();
  std::memcpy(local.data(), any.data(), std::min(any.size(), local.capacity()));
  const bool bracketed = place.host.find(':') != std::string::npos;
  return (bracketed ? "[" + place.host + "]" : place.host) + ":" + std::to_string(local.port());
}

engine::Result<std::string> bind_unix(Shared& shared, const std::string& path) {
  const std::string address = "unix://" + path;
  if (auto free = SocketFile::make_way(path); !free) {
    return cannot_listen(address, free.error().message);
  }
  const auto place = UnixPath::of(path);
  if (!place) {
    return cannot_listen(address, place.error().message);
  }
  AsioError error;
  shared.acceptor.open(AnyStream(asio::local::stream_protocol()), error);
  if (!error) {
    shared.acceptor.bind(asio::local::stream_protocol::endpoint(place->text()), error);
  }
  if (error) {
    return cannot_listen(address, error.message());
  }
  // Nobody connects before its mode is set.
  auto file = SocketFile::own(path);
  if (!file) {
    return cannot_listen(address, file.error().message);
  }
  shared.socket_file = *std::move(file);
  shared.acceptor.listen(most_waiting_connections, error);
  if (error) {
    return cannot_listen(address, error.message());
  }
  return address;
}

}  // namespace

struct HttpServer::Impl {
  std::shared_ptr<Shared> shared;
  std::string address;
};

UploadedFile::UploadedFile(std::string path, std::uint64_t bytes,
                           std::shared_ptr<std::atomic<std::uint64_t>> of_all)
    : path_(std::move(path)), bytes_(bytes), of_all_(std::move(of_all)) {
  *of_all_ += bytes_;
}

UploadedFile::~UploadedFile() {
  *of_all_ -= bytes_;
  ::unlink(path_.c_str());
}

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
  const auto place = read_http_address(address);
  if (place && place->path.empty() && !rules.only_from.empty() && !is_network(rules.only_from)) {
    return Error{Errc::bad_request,
                 "'" + rules.only_from + "' is no network (one looks like 10.0.0.0/8 or 127.0.0.1/32)"};
  }
  if (!place) {
    return Error{Errc::bad_request, "'" + address +
                                        "' is not an address to listen on (one looks like 127.0.0.1:8077 or "
                                        "unix:///run/hpsearch/api.sock)"};
  }
  auto shared = std::make_shared<Shared>(loop.impl(), std::move(handler), rules);
  auto bound = place->path.empty() ? bind_tcp(*shared, place->tcp, address) : bind_unix(*shared, place->path);
  if (!bound) {
    return bound.error();
  }
  auto impl = std::make_unique<Impl>();
  impl->address = *std::move(bound);
  if (rules.tls && place->path.empty()) {
    impl->address = "https://" + impl->address + "#" + rules.tls->fingerprint();
  } else {
    shared->rules.tls.reset();  // A Unix socket needs none.
  }
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
  shared.socket_file.reset();
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
