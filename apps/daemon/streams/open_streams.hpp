#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// All open streams: text/event-streams of any content.
///
/// Each begins with `retry: 1000`, has a comment line every 15 s, and ends with `event: bye` when the daemon
/// ends. A stream whose caller may no longer read (a revoked token) is cut within a second.
///
/// Threads: the loop's.
class OpenStreams {
 public:
  using MayRead = std::function<bool(const net::HttpRequest&)>;
  using Begin = std::function<void(std::shared_ptr<net::HttpBody>)>;

  /// Unsent bytes at which a reader is too slow and its stream is cut.
  static constexpr std::size_t most_unsent_bytes = std::size_t{1} << 20;
  /// Memory limit for all streams; beyond it, those with most unread bytes are cut.
  static constexpr std::size_t most_held_bytes = std::size_t{32} << 20;

  OpenStreams(net::Timeline& loop, MayRead may_read);

  /// The response to a request for a stream, whose content `begin` writes.
  [[nodiscard]] net::HttpResponse open(const net::HttpRequest& request, Begin begin);
  /// Ends all streams with `bye`, and those that come later.
  void end();
  [[nodiscard]] std::size_t count() const noexcept { return streams_.size(); }

 private:
  struct Open {
    net::HttpRequest request;  ///< Without its body.
    std::weak_ptr<net::HttpBody> body;
  };
  void add(net::HttpRequest request, const std::shared_ptr<net::HttpBody>& body);
  void look();
  /// Cuts the slowest readers until the unread bytes fit into most_held_bytes.
  void trim();

  net::Timeline& loop_;
  MayRead may_read_;
  std::list<Open> streams_;
  std::uint64_t looks_ = 0;
  net::Watch watch_;  ///< Set while a stream is open, like the other one.
  net::Watch trims_;
  bool ended_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// Writes, or cuts a reader that has too many unread bytes.
void write_or_cut(net::HttpBody& body, const std::shared_ptr<const std::string>& text);

/// Whether the request wants a stream: its Accept names text/event-stream.
[[nodiscard]] bool wants_stream(const net::HttpRequest& request);

}  // namespace hpsearch::daemon
