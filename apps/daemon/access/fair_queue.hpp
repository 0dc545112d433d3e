#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Queues the heavy work of clients, of which a few pieces run at once. Each client has a queue of its own,
/// and the queues take turns. So a client with sixty requests delays another client by one of them, not by
/// sixty.
///
/// Answers that are not sent yet count, too: while a client leaves much unread, no new work of it begins, and
/// while all clients together leave too much unread, no new work begins at all.
///
/// Threads: the timeline's. Cost: O(log clients), and O(clients that wait) when work begins.
class FairQueue {
 public:
  struct Bounds {
    std::size_t running = 3;
    std::size_t running_of_one = 2;  ///< Less than `running`, to leave the rest for other clients.
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
  /// Like add(), for the next part of an answer that has begun. It comes before new work of the same client,
  /// and doesn't wait until others have read their answers; otherwise the answer might never end.
  void add_part(const std::string& client, Begin begin);
  void done(const std::string& client);

  /// Counts an answer of this size as unread until the returned pointer is released on the timeline's thread.
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
  /// The queue that holds the next work of this client; null if it has no work, or none that may begin.
  [[nodiscard]] std::deque<Begin>* next_of(Client& client) const noexcept;
  void begin_what_may();
  void forget_if_idle(Clients::iterator client);

  net::Timeline& timeline_;
  Bounds bounds_;
  Clients clients_;                ///< Clients with work that waits or runs, or with unread answers.
  std::deque<std::string> turns_;  ///< Clients with work that waits, the next one first.
  std::size_t running_ = 0;
  std::size_t waiting_ = 0;  ///< New work.
  std::size_t unread_bytes_ = 0;
  std::shared_ptr<FairQueue*> self_;  ///< Posted work and unread answers may outlive the queue.
};

}  // namespace hpsearch::daemon
