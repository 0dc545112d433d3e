#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Heavy work of clients, a few pieces at once. The rest waits: each client has a line of its own, and the
/// lines take turns. So a client with sixty requests delays another client by one of them, not by sixty.
///
/// Answers that are not sent yet count, too: while a client leaves much unread, no new work of it begins, and
/// while all clients together leave too much unread, no new work begins at all.
///
/// Threads: the timeline's. Cost: O(log clients), and O(clients that wait) when work begins.
class FairQueue {
 public:
  struct Bounds {
    std::size_t running = 3;
    std::size_t running_of_one = 2;  ///< Less than `running`: the rest is for other clients.
    std::size_t waiting = 512;
    std::size_t waiting_of_one = 64;
    std::size_t unread_bytes = std::size_t{64} << 20U;
    std::size_t unread_bytes_of_one = std::size_t{16} << 20U;
  };
  using Begin = std::function<void()>;

  FairQueue(net::Timeline& timeline, Bounds bounds);
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  /// Whether new work of the client may wait.
  [[nodiscard]] bool has_room(const std::string& client) const;
  /// Posts `begin` when it is the client's turn. The work runs until done() is called for the same client.
  void add(const std::string& client, Begin begin);
  /// The same for the next part of an answer that has begun. It comes before new work of the same client, and
  /// doesn't wait until others have read their answers: only so does the answer end.
  void add_part(const std::string& client, Begin begin);
  void done(const std::string& client);

  /// An answer of so many bytes. It is unread until what is returned is let go, on the timeline's thread.
  [[nodiscard]] std::shared_ptr<const void> hold(const std::string& client, std::size_t bytes);

 private:
  struct Client {
    std::deque<Begin> parts;
    std::deque<Begin> waiting;
    std::size_t running = 0;
    std::size_t unread_bytes = 0;
  };
  using Clients = std::map<std::string, Client>;

  void add_to(std::deque<Begin> Client::*line, const std::string& client, Begin begin);
  /// The line that holds the next work of this client; null if it has none, or none that may begin.
  [[nodiscard]] std::deque<Begin>* next_of(Client& client) const noexcept;
  void begin_what_may();
  void forget_if_idle(Clients::iterator client);

  net::Timeline& timeline_;
  Bounds bounds_;
  Clients clients_;                ///< Those with anything that waits, runs or is unread.
  std::deque<std::string> turns_;  ///< Clients with work that waits, the next one first.
  std::size_t running_ = 0;
  std::size_t waiting_ = 0;  ///< New work.
  std::size_t unread_bytes_ = 0;
  std::shared_ptr<FairQueue*> self_;  ///< What was posted or is unread may outlive the queue.
};

}  // namespace hpsearch::daemon
