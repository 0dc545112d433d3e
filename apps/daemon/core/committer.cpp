#include "daemon/core/committer.hpp"

#include <chrono>
#include <utility>

namespace hpsearch::daemon {
namespace {

// Bounds what one sync writes, and how long the first entry in a group waits for the last.
constexpr std::size_t most_events_per_group = 2'000;

// Wait before a group that found no room is tried again.
constexpr std::chrono::milliseconds retry_every{200};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Committer::Committer(net::Timeline& loop, EventStore& store, Failed failed, Failed full,
                     const EmployStoreExecutor& employ)
    : loop_(loop), store_(store), failed_(std::move(failed)), full_(std::move(full)) {
  counters_.durable = store.last_lsn();
  executor_ = employ([this] { return store_next_group(); });
}

Committer::~Committer() = default;

void Committer::commit(std::vector<engine::Event> events, Then then) {
  if (events.empty() && idle()) {
    ++waiting_;  // The entry can be stored without the other thread, but never from within the caller's call.
    std::deque<Entry> done;
    done.push_back(Entry{{}, nullptr, std::move(then)});
    post_finish(std::move(done));
    return;
  }
  push(Entry{std::move(events), nullptr, std::move(then)});
}

void Committer::read(std::function<Then(EventStore&)> job) {
  push(Entry{{}, std::move(job), nullptr});
}

void Committer::observe(Observer observer) {
  const std::scoped_lock lock(mutex_);
  observer_ = observer ? std::make_shared<const Observer>(std::move(observer)) : nullptr;
}

Committer::Counters Committer::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

void Committer::push(Entry entry) {
  const bool alone = idle() && !entry.job;
  ++waiting_;
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(entry));
  }
  to_spare_ = alone && executor_->may_be_spared();
  if (!to_spare_) {
    executor_->wake();  // The executor stores everything, including the entry that came alone before.
    return;
  }
  loop_.post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && std::exchange(to_spare_, false) && !executor_->spare()) {
      executor_->wake();
    }
  });
}

/// Called by the executor. False if there is nothing left to do for now.
bool Committer::store_next_group() {
  return !failed_once_ && take_group() && store_group();
}

/// Called by the executor. False if there is no group, or if the group that waits for room is not due yet.
bool Committer::take_group() {
  const std::scoped_lock lock(mutex_);
  if (waiting_for_room_) {
    return std::exchange(try_again_, false);
  }
  while (!queue_.empty() && (group_.entries.empty() || group_.events.size() < most_events_per_group)) {
    group_.entries.push_back(std::move(queue_.front()));
    queue_.pop_front();
    auto& more = group_.entries.back().events;
    group_.events.insert(group_.events.end(), std::make_move_iterator(more.begin()),
                         std::make_move_iterator(more.end()));
  }
  return !group_.entries.empty();
}

/// Called by the executor. False if the group was not stored: then nothing of it, and nothing after it, is
/// run.
bool Committer::store_group() {
  std::shared_ptr<const Observer> observer;
  if (!group_.events.empty()) {
    const auto start = std::chrono::steady_clock::now();
    const engine::Status stored = store_.append(group_.events);
    if (!stored) {
      // Nothing of the group was committed, so the store may be given the group again; after any other
      // failure it may not.
      waiting_for_room_ = stored.error().code == engine::Errc::unavailable;
      failed_once_ = !waiting_for_room_;
      loop_.post(
          [this, alive = std::weak_ptr<bool>(alive_), error = stored.error(), full = waiting_for_room_] {
            if (alive.expired()) {
              return;
            }
            if (full) {
              find_no_room(error);
            } else {
              failed_(error);
            }
          });
      return false;
    }
    const std::scoped_lock lock(mutex_);
    counters_.durable = group_.events.back().lsn;
    ++counters_.commits;
    counters_.events += group_.events.size();
    const double seconds = seconds_since(start);
    counters_.seconds += seconds;
    counters_.commit_seconds.add(seconds);
    counters_.commit_events.add(static_cast<double>(group_.events.size()));
    observer = observer_;
  }
  for (Entry& entry : group_.entries) {
    if (entry.job) {
      entry.then = entry.job(store_);
    }
  }
  if (std::exchange(waiting_for_room_, false)) {
    loop_.post([this, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) {
        retry_ = net::Watch{};
      }
    });
  }
  post_finish(std::exchange(group_.entries, {}));
  if (observer != nullptr) {
    (*observer)(std::exchange(group_.events, {}));
  }
  group_.events.clear();
  return true;
}

void Committer::find_no_room(const engine::Error& error) {
  retry_ = loop_.after(retry_every, [this] {
    {
      const std::scoped_lock lock(mutex_);
      try_again_ = true;
    }
    executor_->wake();
  });
  full_(error);
}

/// Entries return to the loop whole: what they own (sessions, replies) may only be released there.
void Committer::post_finish(std::deque<Entry> done) {
  loop_.post([this, alive = std::weak_ptr<bool>(alive_), done = std::move(done)] {
    for (const Entry& entry : done) {
      if (alive.expired()) {
        return;
      }
      entry.then();
      --waiting_;
    }
  });
}

}  // namespace hpsearch::daemon
