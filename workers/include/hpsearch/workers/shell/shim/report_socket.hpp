#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/core/log_text.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// A connection of a program to its attempt's socket; never reused within the attempt.
using ConnectionId = engine::Id<struct ConnectionKind>;

/// The Unix socket on which one program reports: lines of JSON in, lines of JSON out.
///
/// The socket doesn't wait for a program that doesn't read its answers: 256 KiB of them are kept, then it
/// gets no more, and its reading side ends after the last one, so that answers stay in the order of
/// questions. Its messages still count. A program may shut down its side before the answer.
///
/// Threads: the loop's. Limits: 64 connections at a time, and 192 more that have shut down their side and
/// wait, 64 KiB a line.
class ReportSocket {
 public:
  using OnLine = std::function<void(ConnectionId connection, std::string_view line)>;

  /// Only the owner of this process may connect. unavailable: the path can't be bound.
  [[nodiscard]] static engine::Result<std::unique_ptr<ReportSocket>> listen(net::Loop& loop, std::string path,
                                                                            OnLine on_line);
  ~ReportSocket();
  ReportSocket(const ReportSocket&) = delete;
  ReportSocket& operator=(const ReportSocket&) = delete;

  /// Has no effect on a closed connection.
  void answer(ConnectionId connection, std::string_view line);

  /// The number of its lines that weren't answered yet.
  [[nodiscard]] std::uint64_t unanswered(ConnectionId connection) const;

  /// Reads everything that was sent up to now.
  void drain();

  /// Stops reading, or resumes it: programs then wait.
  void hold(bool held);

 private:
  struct Connection {
    explicit Connection(int number);
    Descriptor socket;
    LineSplitter lines;
    net::Watch watch;
    std::uint64_t unanswered = 0;
    bool ended = false;                    ///< The program sends nothing more.
    bool mute = false;                     ///< It doesn't read, and gets only the bytes in `behind`.
    std::string behind;                    ///< Answers for which its socket had no space.
    std::chrono::milliseconds patience{};  ///< Until the next check for space.
    net::Watch catch_up;
  };

  ReportSocket(net::Loop& loop, std::string path, Descriptor listener, OnLine on_line);
  void accept_all();
  void listen_to(ConnectionId id, Connection& connection);
  bool read_from(ConnectionId id);  ///< True if it stopped before everything was read.
  void write_to(ConnectionId id, Connection& connection, std::string_view line);
  void flush(ConnectionId id, Connection& connection);
  void close_if_done(ConnectionId id);

  net::Loop& loop_;
  std::string path_;
  Descriptor listener_;
  OnLine on_line_;
  net::Watch watch_;
  std::map<ConnectionId, Connection> connections_;
  std::uint64_t last_id_ = 0;
  bool held_ = false;
};

}  // namespace hpsearch::workers
