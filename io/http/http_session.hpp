#pragma once

#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/io/http/http.hpp"
#include "http/connection_limit.hpp"
#include "http/http_body_queue.hpp"
#include "http/http_site.hpp"
#include "http/http_stream.hpp"
#include "net/asio.hpp"
#include "net/unix_socket.hpp"

namespace hpsearch::net {

class HttpSession;

[[nodiscard]] std::string new_id_prefix();

/// The state that the sessions of one server share; they may outlive it for the moment their last handler
/// takes.
struct HttpSessions {
  HttpSessions(Loop::Impl& loop, HttpServer::Handler handle, HttpRules its_rules)
      : io(loop.io),
        lag(loop.lag),
        acceptor(loop.io),
        retry(loop.io),
        handler(std::move(handle)),
        rules(std::move(its_rules)),
        crowd(rules.most_connections),
        id_prefix(new_id_prefix()) {}

  asio::io_context& io;
  LoopLag& lag;
  asio::basic_socket_acceptor<AnyStream> acceptor;
  asio::steady_timer retry;
  HttpServer::Handler handler;
  HttpRules rules;
  std::string configured_host;  ///< "" on a Unix socket.
  std::optional<SocketFile> socket_file;
  ConnectionLimit crowd;
  std::set<HttpSession*> sessions;  ///< Also those that have left the crowd and close.
  std::size_t turned_away = 0;      ///< How many of these get 503.
  std::size_t answering = 0;
  std::shared_ptr<std::atomic<std::uint64_t>> uploaded_bytes =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::string id_prefix;       ///< Begins the ids of requests; random for each server.
  std::uint64_t requests = 0;  ///< How many ids were given.
  bool closing = false;
};

/// One connection: reads a request, has it answered, and waits for the next one. It lives as long as its
/// handlers.
class HttpSession final : public std::enable_shared_from_this<HttpSession>, public ConnectionLimit::Member {
 public:
  static constexpr std::size_t most_of_a_name = 128;

  HttpSession(std::shared_ptr<HttpSessions> shared, AnyStream::socket socket, HttpPeer from);
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;
  ~HttpSession() override;

  void start();
  /// Its first request is answered with 503, and then it ends.
  void turn_away();
  void close();
  /// Closes without a word to the one who writes the body of the answer.
  void abandon();
  void give_way() override;

  [[nodiscard]] bool answering() const noexcept { return answering_; }

 private:
  class Body;
  /// An answer whose body is written as it comes.
  struct Streamed {
    Streamed(bool chunked, std::size_t at_once) : queue(chunked, at_once) {}
    BodyQueue queue;
    bool writing = false;
    std::function<void()> drained;
    std::function<void()> closed;
  };
  enum class Teller { owner, connection };

  void wait_for_request();
  void read_header();
  /// The whole head first, and as it came: the parser would unfold and merge what is ambiguous.
  void read_head();
  void parse_head();
  /// All that is known without the body.
  void check_head();
  /// The answer if not.
  [[nodiscard]] std::optional<HttpResponse> ask_to_let_in();
  void read_body();
  [[nodiscard]] std::size_t most_bytes() const;
  /// A large body goes to the disk: many at once must not fill the memory.
  void receive_upload();
  void read_rest();
  void reading_failed(AsioError error);
  void take_body();
  [[nodiscard]] bool is_large() const;
  void dispatch();
  /// Where this connection came in.
  HttpSite site();
  [[nodiscard]] bool is_taken(std::string_view content_type) const;
  void refuse(HttpResponse response);
  void send(HttpResponse response);
  /// Puts the id of the request into a failure, and logs it.
  void complete_failure(HttpResponse& response) const;
  template <class Message>
  Message head_of(const HttpResponse& response, Message message);
  /// Sends response_.
  void write();
  void written(AsioError error);
  [[nodiscard]] bool is_to_be_packed(const HttpResponse& response) const;
  void begin_body(const HttpResponse& response);
  void write_body();
  void body_written(AsioError error);
  void end_body();
  /// It breaks off, because its owner or the connection wants it.
  void leave_body(Teller teller);
  /// Reads while a body is written, to notice the end of the connection.
  void watch_for_end();
  /// Ends the connection so that the answer arrives: closing with bytes unread would reset it on the way.
  void finish();
  /// Reads what still comes, or the other end would lose the answer. The deadline ends it.
  void linger();
  void set_answering(bool answering);

  std::shared_ptr<HttpSessions> shared_;
  HttpStream stream_;
  HttpPeer from_;
  boost::beast::flat_buffer buffer_{64 * 1024};
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::file_body>> upload_parser_;
  HttpRequest request_;  ///< The one that is read.
  std::string id_;       ///< The id of the request that is read or answered.
  std::string what_;     ///< Its method and path, for the log.
  boost::beast::http::response<boost::beast::http::empty_body> interim_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  boost::beast::http::response<boost::beast::http::empty_body> head_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::empty_body>> head_writer_;
  std::unique_ptr<Streamed> streamed_;
  std::unique_ptr<Streamed> left_streamed_;  ///< Until the socket lets its bytes go.
  bool watching_ = false;
  std::function<void()> after_watch_;
  std::vector<std::shared_ptr<const void>> held_;  ///< Kept alive until the answer is sent.
  /// When it must have been sent, if that is known.
  std::optional<std::chrono::steady_clock::time_point> sent_by_;
  bool accepts_gzip_ = false;
  unsigned version_ = 11;  ///< The HTTP version of the request: 10 or 11.
  bool is_head_ = false;
  const LargeBodies* large_ = nullptr;  ///< That this request's path may have.
  bool keep_alive_ = true;
  bool answering_ = false;
  bool was_let_in_ = false;  ///< The request that is read or answered, or the one before.
  bool is_turned_away_ = false;
};

}  // namespace hpsearch::net
