#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "daemon/core/store_executor.hpp"
#include "daemon/metrics/bounds.hpp"
#include "daemon/store/event_store.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Runs what must wait for the disk. Groups of events become durable in the order they arrived; events that
/// arrive during a commit make up the next group. Callbacks run on the loop after their commit, in the order
/// they arrived. An entry that arrives alone is stored on the loop if the executor may be spared.
///
/// Threads: the store belongs to the executor's thread, or to the loop's while the executor is idle; call all
///          functions on the loop.
/// Fails:   a failed commit is reported once; from then on nothing is stored and no callback runs. If only
///          room is missing, everything waits, and the same group is retried until there is room.
class Committer {
 public:
  /// Totals so far.
  struct Counters {
    engine::Lsn durable;
    std::uint64_t commits = 0;
    std::uint64_t events = 0;
    double seconds = 0;  ///< Time spent in commits.
    Histogram<request_bounds.size()> commit_seconds{request_bounds};
    Histogram<group_bounds.size()> commit_events{group_bounds};
  };
  using Then = std::function<void()>;
  using Failed = std::function<void(const engine::Error&)>;

  /// Loop and store must outlive this. Nothing else may use the store meanwhile. `full` is called for each
  /// try that found no room.
  Committer(net::Timeline& loop, EventStore& store, Failed failed, Failed full,
            const EmployStoreExecutor& employ = on_a_thread_of_its_own);
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  ~Committer();  ///< Waits for the commit in progress; queued groups are not stored.

  /// Runs `then`, later, once `events` and everything before them is durable.
  void commit(std::vector<engine::Event> events, Then then);

  /// Passes the events of each group to the observer when they are durable, on the thread that stored them.
  /// Each call replaces the observer; null = none.
  using Observer = std::function<void(std::vector<engine::Event>)>;
  void observe(Observer observer);

  /// Runs `job` on the store's thread, and the function that it returns on the loop.
  void read(std::function<Then(EventStore&)> job);

  /// True if everything given so far is finished.
  [[nodiscard]] bool idle() const noexcept { return waiting_ == 0; }
  /// The number of entries that are not finished.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }
  /// True while a group waits for room.
  [[nodiscard]] bool stalled() const noexcept { return static_cast<bool>(retry_); }
  [[nodiscard]] Counters counters() const;

 private:
  struct Entry {
    std::vector<engine::Event> events;
    std::function<Then(EventStore&)> job;  // Either this or `then` is set.
    Then then;
  };
  struct Group {
    std::deque<Entry> entries;
    std::vector<engine::Event> events;  // The events of its entries, in order.
  };

  bool store_next_group();
  void push(Entry entry);
  bool take_group();
  bool store_group();
  void find_no_room(const engine::Error& error);
  void post_finish(std::deque<Entry> done);

  net::Timeline& loop_;
  EventStore& store_;
  Failed failed_;
  Failed full_;
  net::Watch retry_;         // Set while a group waits for room.
  std::size_t waiting_ = 0;  // On the loop: entries given, but not finished.
  // The queue has one entry that came alone, nothing came since, and the executor was not woken for it.
  bool to_spare_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // Posted work may outlive this object.

  mutable std::mutex mutex_;
  std::deque<Entry> queue_;
  Counters counters_;
  std::shared_ptr<const Observer> observer_;
  bool try_again_ = false;
  // Used by the executor only:
  Group group_;  // The group being stored; it stays while there is no room for it.
  bool waiting_for_room_ = false;
  bool failed_once_ = false;

  std::unique_ptr<StoreExecutor> executor_;  // Last: it uses everything above.
};

}  // namespace hpsearch::daemon
