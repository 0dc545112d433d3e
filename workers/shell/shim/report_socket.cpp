#include "hpsearch/workers/shell/shim/report_socket.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/shell/shim/local_socket.hpp"

namespace hpsearch::workers {

using engine::Result;

namespace {

constexpr std::size_t most_connections = 64;
constexpr std::size_t most_unanswered = 256;  // Includes connections that have ended their side.
// Then other descriptors are served.
constexpr std::size_t lines_per_turn = 256;
constexpr std::size_t most_behind = std::size_t{256} * 1024;
constexpr std::chrono::milliseconds first_look_for_room{1};
constexpr std::chrono::milliseconds last_look_for_room{1000};

}  // namespace

ReportSocket::Connection::Connection(int number) : socket(number), lines(max_message_bytes) {
}

Result<std::unique_ptr<ReportSocket>> ReportSocket::listen(net::Loop& loop, std::string path,
                                                           OnLine on_line) {
  Result<Descriptor> listener = listen_locally(path);
  if (!listener) {
    return listener.error();
  }
  return std::unique_ptr<ReportSocket>(
      new ReportSocket(loop, std::move(path), *std::move(listener), std::move(on_line)));
}

ReportSocket::ReportSocket(net::Loop& loop, std::string path, Descriptor listener, OnLine on_line)
    : loop_(loop), path_(std::move(path)), listener_(std::move(listener)), on_line_(std::move(on_line)) {
  watch_ = loop_.when_readable(listener_.get(), [this] { accept_all(); });
}

ReportSocket::~ReportSocket() {
  ::unlink(path_.c_str());
}

void ReportSocket::accept_all() {
  for (;;) {
    const int number = ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (number < 0 && (errno == EINTR || errno == ECONNABORTED)) {
      continue;
    }
    if (number < 0) {
      return;
    }
    const auto open = std::count_if(connections_.begin(), connections_.end(),
                                    [](const auto& entry) { return !entry.second.ended; });
    if (static_cast<std::size_t>(open) >= most_connections) {
      ::close(number);
      continue;
    }
    if (connections_.size() >= most_unanswered) {  // The answer to a client that has left is never read.
      connections_.erase(std::find_if(connections_.begin(), connections_.end(),
                                      [](const auto& entry) { return entry.second.ended; }));
    }
    const ConnectionId id(++last_id_);
    Connection& connection = connections_.try_emplace(id, number).first->second;
    listen_to(id, connection);
  }
}

void ReportSocket::listen_to(ConnectionId id, Connection& connection) {
  if (!held_ && !connection.ended) {
    connection.watch = loop_.when_readable(connection.socket.get(), [this, id] { read_from(id); });
  }
}

void ReportSocket::hold(bool held) {
  if (held == held_) {
    return;
  }
  held_ = held;
  for (auto& [id, connection] : connections_) {
    connection.watch = net::Watch();
    listen_to(id, connection);
  }
}

bool ReportSocket::read_from(ConnectionId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.ended) {
    return false;
  }
  Connection& connection = found->second;
  bool more = false;
  std::vector<std::string> lines;
  const auto keep = [&lines](std::string_view line) { lines.emplace_back(line); };
  std::array<char, 16 * 1024> piece{};
  for (;;) {
    const ssize_t got = ::recv(connection.socket.get(), piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      break;
    }
    if (got <= 0) {
      connection.lines.finish(keep);
      connection.ended = true;
      connection.watch = net::Watch();
      break;
    }
    if (connection.lines.feed({piece.data(), static_cast<std::size_t>(got)}, keep)) {
      write_to(id, connection,
               R"({"error":"a message is longer than )" + std::to_string(max_message_bytes) + R"( bytes"})");
    }
    if (lines.size() > lines_per_turn) {
      more = true;
      break;
    }
  }
  connection.unanswered += lines.size();
  for (const std::string& line : lines) {
    on_line_(id, line);
  }
  close_if_done(id);
  return more;
}

void ReportSocket::answer(ConnectionId id, std::string_view line) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) {
    return;
  }
  write_to(id, found->second, line);
  found->second.unanswered -= std::min<std::uint64_t>(1, found->second.unanswered);
  close_if_done(id);
}

std::uint64_t ReportSocket::unanswered(ConnectionId id) const {
  const auto found = connections_.find(id);
  return found == connections_.end() ? 0 : found->second.unanswered;
}

void ReportSocket::write_to(ConnectionId id, Connection& connection, std::string_view line) {
  if (connection.mute) {
    return;
  }
  if (connection.behind.size() + line.size() >= most_behind) {
    connection.mute = true;
  } else {
    connection.behind.append(line).push_back('\n');
  }
  flush(id, connection);
}

void ReportSocket::flush(ConnectionId id, Connection& connection) {
  std::string& behind = connection.behind;
  while (!behind.empty()) {
    const ssize_t put =
        ::send(connection.socket.get(), behind.data(), behind.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) {
      behind.erase(0, static_cast<std::size_t>(put));
      connection.patience = {};
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      connection.patience = std::clamp(2 * connection.patience, first_look_for_room, last_look_for_room);
      connection.catch_up = loop_.after(connection.patience, [this, id] {
        flush(id, connections_.at(id));
        close_if_done(id);
      });
      return;
    } else if (errno != EINTR) {  // The client has left.
      connection.mute = true;
      behind.clear();
    }
  }
  connection.catch_up = net::Watch();
  if (connection.mute) {
    ::shutdown(connection.socket.get(), SHUT_WR);
  }
}

void ReportSocket::close_if_done(ConnectionId id) {
  const auto found = connections_.find(id);
  if (found != connections_.end() && found->second.ended && found->second.unanswered == 0 &&
      found->second.behind.empty()) {
    connections_.erase(found);
  }
}

void ReportSocket::drain() {
  accept_all();
  std::vector<ConnectionId> all;
  for (const auto& [id, connection] : connections_) {
    all.push_back(id);
  }
  for (const ConnectionId id : all) {
    while (read_from(id)) {
    }
  }
}

}  // namespace hpsearch::workers
