#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http_body.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/net/tls.hpp"

namespace hpsearch::net {

class PassedSockets;

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// Who sent a request.
struct HttpPeer {
  std::optional<std::uint32_t>
      uid{};           ///< User of the process at the other end of a Unix socket; TCP: nothing.
  std::string name{};  ///< For logs and limits: "10.0.0.7" or "uid 1000".
};

/// A body that lies on the disk; its file goes with it.
class UploadedFile {
 public:
  /// `of_all` are the bytes of all uploads there are, to which it adds its own while it lives.
  UploadedFile(std::string path, std::uint64_t bytes, std::shared_ptr<std::atomic<std::uint64_t>> of_all);
  UploadedFile(const UploadedFile&) = delete;
  UploadedFile& operator=(const UploadedFile&) = delete;
  ~UploadedFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::string path_;
  std::uint64_t bytes_;
  std::shared_ptr<std::atomic<std::uint64_t>> of_all_;
};

struct HttpRequest {
  std::string method;  ///< "GET", "POST", …
  std::string path;    ///< Percent-decoded once, without the query: "/api/v1/experiments/3".
  std::vector<std::pair<std::string, std::string>> query;  ///< Decoded, in order.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::shared_ptr<const UploadedFile>
      uploaded{};  ///< The body that was one of HttpRules::large_bodies, where HttpRules::uploads says so.
  HttpPeer peer{};
  std::string
      id{};  ///< As the answer's X-Request-Id and the log have it; no other request of this server has it.
  bool is_encrypted = false;  ///< It came over TLS, here or at the proxy in front.
  /// HttpRules::base_path if its path began with it; `path` is without it. Else "".
  std::string base_path{};

  [[nodiscard]] std::string_view query_or(std::string_view name, std::string_view otherwise) const noexcept;
  [[nodiscard]] std::string_view header(
      std::string_view name) const noexcept;  ///< Case-insensitive; "" if absent.
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  /// If set, the body is written as it comes: called on the loop after the head was sent; not for a HEAD, and
  /// not if the connection has gone by then.
  std::function<void(std::shared_ptr<HttpBody>)> stream{};
  /// Received: as the answer says it, also that to a HEAD, which has no body. To send: what `stream` writes
  /// in all, if that is known; it writes exactly so many bytes or cuts.
  std::optional<std::uint64_t> content_length{};
  HttpHeaders headers{};      ///< To send: besides those that every answer has. Received: all.
  bool holds_secret = false;  ///< It is never packed: the packed length would tell of the secret (BREACH).
  std::vector<std::shared_ptr<const void>> held{};  ///< To send: let go when it was sent, or can't be.
};

/// Below this path bodies may be larger than elsewhere, and of that type, which no page of another site can
/// say.
struct LargeBodies {
  std::string below;         ///< "/api/v1/contexts/"
  std::string content_type;  ///< "application/x-tar"
  std::size_t most_bytes = 0;
};

/// What a server makes of the head of a request.
struct HttpEntry {
  std::optional<HttpResponse> refusal{};  ///< Set: the request is not read any further.
  /// Whom its connection counts for: a token or a user; "" = nobody known, and it counts for its address.
  std::string name{};
};

/// What differs between servers.
struct HttpRules {
  std::size_t most_body_bytes = std::size_t{1024} * 1024;
  /// Bodies must say that they are JSON, which no page of another site can say. Only a server whose requests
  /// carry a secret may do without.
  bool only_json = true;
  /// Another type that bodies may have, "application/yaml": also one that no page of another site can say.
  /// "" = none.
  std::string other_type{};
  std::vector<LargeBodies> large_bodies{};
  /// The directory, which exists, into which they are written as they come; "" = they are held in memory. All
  /// of them together have at most `most_uploaded_bytes`; others are told to come later (503).
  std::string uploads{};
  std::uint64_t most_uploaded_bytes = std::uint64_t{2} << 30U;
  /// Over TCP, TLS is spoken as this server. Nothing: none.
  std::optional<TlsIdentity> tls{};
  /// Over TCP, only connections from this network are served, those of a proxy: "10.0.0.5/32"; "" = from
  /// everywhere.
  std::string only_from{};
  /// A path below which all others are served as well, for proxies that put several servers below one
  /// address: "/hpsearch", without a "/" at its end; "" = none. A request for exactly this path is sent on to
  /// that with a "/".
  std::string base_path{};
  /// Over a Unix socket, any user of this machine may connect (mode 0666). HttpRequest::peer says who does.
  bool any_user = false;
  /// Asked with the head of a request (its body is empty then) before the body is read, on the loop, so that
  /// strangers' bodies cost nothing. Not set: all are read.
  std::function<HttpEntry(const HttpRequest& head)> let_in{};
  std::size_t most_connections = 4'096;
};

/// An HTTP/1.1 server in a Loop, keep-alive, with deadlines and size limits (header 8 KiB, 5 s for a header,
/// 15 s for a body and 1 s more for each 250 kB of it, 30 s idle). An address has 64 connections, a known
/// name (HttpEntry) or a local user 128, and all together HttpRules::most_connections; those of a proxy
/// (HttpRules::only_from) count for names alone. One more takes the place of one that has sent no request
/// that was let in, else of one that waits for a request, else, of the same address, of a stream; the oldest
/// first. If there is none, it gets 503. A HEAD is answered as its GET without the body. Bodies that are
/// written as they come go in chunks, and to an HTTP/1.0 client until the end of the connection. Texts of
/// more than 1 KiB are packed for clients that accept gzip. Each answer has the request's id in X-Request-Id;
/// a failed request is logged with it.
class HttpServer {
 public:
  /// Answers by calling `reply` once, now or later (after a commit), on the loop.
  using Reply = std::function<void(HttpResponse)>;
  using Handler = std::function<void(HttpRequest request, Reply reply)>;

  /// Listens on "127.0.0.1:8080", where port 0 selects a free port, or on the Unix socket "unix:///path",
  /// whose file has mode 0600 (HttpRules::any_user: 0666) and is removed at the end. Over TCP, requests whose
  /// Host is neither this address nor localhost are refused (DNS rebinding). If one of the `passed` sockets
  /// listens there, it is used, and its file is left alone. unavailable: the port or the socket is in use.
  [[nodiscard]] static engine::Result<std::unique_ptr<HttpServer>> listen(Loop& loop,
                                                                          const std::string& address,
                                                                          Handler handler,
                                                                          HttpRules rules = {},
                                                                          PassedSockets* passed = nullptr);
  ~HttpServer();
  /// As given, with the real port; with TLS as "https://127.0.0.1:8080#FINGERPRINT".
  [[nodiscard]] std::string address() const;

  /// Takes no more connections and no more requests; those being answered are answered to the end.
  void stop_accepting();
  [[nodiscard]] std::size_t answering() const noexcept;  ///< Requests whose answer is not wholly sent yet.

  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// The longest body that is taken as an answer; all of it is held in memory.
struct AnswerLimit {
  std::uint64_t bytes = 256ULL * 1024 * 1024;
};

/// One request on a fresh connection, waiting for the answer; for command lines. `address` is "host:port",
/// "unix:///path" or "https://host:port", which may end with "#" and the fingerprint of the only certificate
/// that is accepted (TlsIdentity::fingerprint). A body goes as application/json, unless `headers` say
/// otherwise. unavailable: nobody answers there within `timeout`, or with more than `limit`.
[[nodiscard]] engine::Result<HttpResponse> http_request(const std::string& address, const std::string& method,
                                                        const std::string& target, const std::string& body,
                                                        std::chrono::milliseconds timeout,
                                                        const HttpHeaders& headers = {},
                                                        AnswerLimit limit = {});

/// The header that asks for at most `limit` bytes of an answer, from `offset` on.
[[nodiscard]] std::pair<std::string, std::string> range_header(std::uint64_t offset, std::uint64_t limit);

/// `text` as one segment of a path or one value of a query: everything but letters, digits and -._~ as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace hpsearch::net
