#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http_body.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Sends a log as it grows, until its attempt is over and nothing more arrives. It lives as long as its
/// stream.
///
/// Threads: the loop's. Cost: two reads a second while nothing arrives.
class LogFollow : public std::enable_shared_from_this<LogFollow> {
 public:
  struct Piece {
    std::uint64_t offset = 0;
    std::string text;
  };
  using Take = std::function<void(const engine::Result<Piece>&)>;
  struct Source {
    /// Reads from that offset on: some bytes, none yet, or an error. Calls `take` once, later.
    std::function<void(std::uint64_t offset, Take take)> read;
    std::function<bool()> is_over;  ///< The attempt writes no more.
  };

  static void begin(net::Timeline& loop, std::shared_ptr<net::HttpBody> body, Source source,
                    std::uint64_t offset);

  LogFollow(net::Timeline& loop, std::shared_ptr<net::HttpBody> body, Source source, std::uint64_t offset);

 private:
  void read();
  void take(const engine::Result<Piece>& piece, bool was_over);
  void read_later(std::chrono::milliseconds delay);

  net::Timeline& loop_;
  std::shared_ptr<net::HttpBody> body_;
  Source source_;
  std::uint64_t offset_;
  unsigned empty_after_end_ = 0;
  net::Watch timer_;
};

}  // namespace hpsearch::daemon
