#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace hpsearch::net {

/// The body of one answer, written as it comes.
///
/// Pieces are sent in order. The connection takes them as fast as the other end reads; what it has not taken
/// waits in memory, without a limit: the owner looks at unsent(), and waits for on_drained() or cuts. A peer
/// that takes nothing for 30 s is cut anyway. Letting a body go that was not ended cuts it.
///
/// Threads: the loop's. Tasks are never run from within a call of this object.
class HttpBody {
 public:
  HttpBody() = default;
  HttpBody(const HttpBody&) = delete;
  HttpBody& operator=(const HttpBody&) = delete;
  virtual ~HttpBody() = default;

  /// A piece may be shared by many bodies. Nothing happens where the connection has gone.
  virtual void write(std::shared_ptr<const std::string> piece) = 0;
  void write(std::string piece) { write(std::make_shared<const std::string>(std::move(piece))); }

  /// Bytes that were written here and that the socket has not taken.
  [[nodiscard]] virtual std::size_t unsent() const noexcept = 0;
  /// Memory that these bytes take. Of a piece that several bodies have, each has its part.
  [[nodiscard]] virtual std::size_t held_bytes() const noexcept { return unsent(); }
  /// Runs `task` each time that everything written so far has been sent.
  virtual void on_drained(std::function<void()> task) = 0;
  /// Runs `task` once, when the connection has gone before end(); not after cut().
  virtual void on_closed(std::function<void()> task) = 0;

  virtual void end() = 0;  ///< Nothing more follows; the body is complete.
  virtual void cut() = 0;  ///< Closes the connection at once; the other end can tell that the body is broken.
  /// Neither ended, cut nor left by the other end.
  [[nodiscard]] virtual bool is_open() const noexcept = 0;
};

}  // namespace hpsearch::net
