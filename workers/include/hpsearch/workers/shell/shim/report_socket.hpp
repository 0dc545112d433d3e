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

/// One connection of a program to its attempt's socket; never reused within the attempt.
using ConnectionId = engine::Id<struct ConnectionKind>;

/// The Unix socket on which one program reports: lines of JSON in, lines of JSON out.
///
/// A program that does not read its answers is not waited for: 256 KiB of them are kept for it, then it gets
/// no more, and its reading side ends behind the last one, so that none is ever taken for another's. What it
/// says counts all the same. One that ends its side after a question still gets the answer.
///
/// Threads: the loop's. Limits: 64 connections at a time, and 192 more that have ended their side and wait,
/// 64 KiB a line.
class ReportSocket {
 public:
  using OnLine = std::function<void(ConnectionId connection, std::string_view line)>;

  /// Only the owner of this process may connect. unavailable: the path cannot be bound.
  [[nodiscard]] static engine::Result<std::unique_ptr<ReportSocket>> listen(net::Loop& loop, std::string path,
                                                                            OnLine on_line);
  ~ReportSocket();
  ReportSocket(const ReportSocket&) = delete;
  ReportSocket& operator=(const ReportSocket&) = delete;

  /// A closed connection hears nothing.
  void answer(ConnectionId connection, std::string_view line);

  /// How many lines of it were not answered yet.
  [[nodiscard]] std::uint64_t unanswered(ConnectionId connection) const;

  /// Reads everything that was said up to now.
  void drain();

  /// Reads nothing more, or again: whoever speaks then waits.
  void hold(bool held);

 private:
  struct Connection {
    explicit Connection(int number);
    Descriptor socket;
    LineSplitter lines;
    net::Watch watch;
    std::uint64_t unanswered = 0;
    bool ended = false;                    ///< The program says no more.
    bool mute = false;                     ///< It does not read, and gets no more than what is behind.
    std::string behind;                    ///< Answers that its socket had no room for.
    std::chrono::milliseconds patience{};  ///< Until the next look for room.
    net::Watch catch_up;
  };

  ReportSocket(net::Loop& loop, std::string path, Descriptor listener, OnLine on_line);
  void accept_all();
  void listen_to(ConnectionId id, Connection& connection);
  bool read_from(ConnectionId id);  ///< True when it stopped before everything was read.
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
