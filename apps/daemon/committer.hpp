#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "daemon/store/event_store.hpp"
#include "hpsearch/net/loop.hpp"

namespace hpsearch::daemon {

/// The one thread that waits for the disk. Groups of events are made durable in the order they came; what
/// comes while one commit is in flight makes up the next. What has to wait for a commit is run on the loop
/// afterwards, in the order it came.
///
/// Threads: its own one has the store; everything here is called on the loop.
/// Fails:   a failed commit is told once; from then on nothing is stored and nothing that waits is run.
class Committer {
 public:
  /// What was done so far.
  struct Counters {
    engine::Lsn durable;
    std::uint64_t commits = 0;
    std::uint64_t events = 0;
    double seconds = 0;  ///< Spent in commits.
  };
  using Then = std::function<void()>;
  using Failed = std::function<void(const engine::Error&)>;

  /// Both must outlive this. The store is used by nobody else meanwhile.
  Committer(net::Loop& loop, EventStore& store, Failed failed);
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  ~Committer();  ///< Waits for the commit in flight; what is queued behind it is not stored.

  /// Runs `then`, later, once `events` and everything before them is durable.
  void commit(std::vector<engine::Event> events, Then then);

  /// Runs `job` on the store's thread, and what it returns on the loop.
  void read(std::function<Then(EventStore&)> job);

  /// True when everything given so far is done.
  [[nodiscard]] bool idle() const noexcept { return waiting_ == 0; }
  [[nodiscard]] Counters counters() const;

 private:
  struct Entry {
    std::vector<engine::Event> events;
    std::function<Then(EventStore&)> job;  // Either this or `then`.
    Then then;
  };

  void run();
  void push(Entry entry);
  bool store_group(std::deque<Entry>& group, std::vector<engine::Event>& events);
  void post_finish(std::deque<Entry> done);

  net::Loop& loop_;
  EventStore& store_;
  Failed failed_;
  std::size_t waiting_ = 0;                                     // Of the loop: given, but not finished.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // What was posted may outlive us.

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> queue_;
  Counters counters_;
  bool stopping_ = false;

  std::thread thread_;  // Last: it uses everything above.
};

}  // namespace hpsearch::daemon
