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

/// What has to wait for the disk. Groups of events are made durable in the order they came; what comes while
/// one commit is in flight makes up the next. What has to wait for a commit is run on the loop afterwards, in
/// the order it came. One that comes alone is stored on the loop where the executor may be spared.
///
/// Threads: its executor's has the store, or the loop's while that does nothing; everything here is called on
/// the loop. Fails:   a failed commit is told once; from then on nothing is stored and nothing that waits is
/// run. Where only
///          room is lacking, everything waits, and the same group is tried again until there is some.
class Committer {
 public:
  /// What was done so far.
  struct Counters {
    engine::Lsn durable;
    std::uint64_t commits = 0;
    std::uint64_t events = 0;
    double seconds = 0;  ///< Spent in commits.
    Histogram<request_bounds.size()> commit_seconds{request_bounds};
    Histogram<group_bounds.size()> commit_events{group_bounds};
  };
  using Then = std::function<void()>;
  using Failed = std::function<void(const engine::Error&)>;

  /// Loop and store must outlive this. The store is used by nobody else meanwhile. `full` hears of each try
  /// that found no room.
  Committer(net::Timeline& loop, EventStore& store, Failed failed, Failed full,
            const EmployStoreExecutor& employ = on_a_thread_of_its_own);
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  ~Committer();  ///< Waits for the commit in flight; what is queued behind it is not stored.

  /// Runs `then`, later, once `events` and everything before them is durable.
  void commit(std::vector<engine::Event> events, Then then);

  /// Hands the events of each group over when they are durable, on the thread that stored them. It ends with
  /// the next call: nothing = to nobody.
  using Observer = std::function<void(std::vector<engine::Event>)>;
  void observe(Observer observer);

  /// Runs `job` on the store's thread, and what it returns on the loop.
  void read(std::function<Then(EventStore&)> job);

  /// True when everything given so far is done.
  [[nodiscard]] bool idle() const noexcept { return waiting_ == 0; }
  /// How much of that is not.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }
  /// True while a group waits for room.
  [[nodiscard]] bool stalled() const noexcept { return static_cast<bool>(retry_); }
  [[nodiscard]] Counters counters() const;

 private:
  struct Entry {
    std::vector<engine::Event> events;
    std::function<Then(EventStore&)> job;  // Either this or `then`.
    Then then;
  };
  struct Group {
    std::deque<Entry> entries;
    std::vector<engine::Event> events;  // Theirs, one after the other.
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
  std::size_t waiting_ = 0;  // Of the loop: given, but not finished.
  bool to_spare_ = false;    // What is queued came alone, nothing came since, and nobody was woken for it.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // What was posted may outlive us.

  mutable std::mutex mutex_;
  std::deque<Entry> queue_;
  Counters counters_;
  std::shared_ptr<const Observer> observer_;
  bool try_again_ = false;
  // Of who stores:
  Group group_;  // Being stored; stays while there is no room for it.
  bool waiting_for_room_ = false;
  bool failed_once_ = false;

  std::unique_ptr<StoreExecutor> executor_;  // Last: it uses everything above.
};

}  // namespace hpsearch::daemon
