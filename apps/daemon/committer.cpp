#include "daemon/committer.hpp"

#include <chrono>
#include <utility>

namespace hpsearch::daemon {
namespace {

// Bounds what one sync waits for and how long the first in a group waits for the last.
constexpr std::size_t most_events_per_group = 2'000;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Committer::Committer(net::Timeline& loop, EventStore& store, Failed failed, const EmployStoreExecutor& employ)
    : loop_(loop), store_(store), failed_(std::move(failed)) {
  counters_.durable = store.last_lsn();
  executor_ = employ([this] { return store_next_group(); });
}

Committer::~Committer() = default;

void Committer::commit(std::vector<engine::Event> events, Then then) {
  if (events.empty() && idle()) {
    ++waiting_;  // No need to wake the other thread; but never from within the call that asked.
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

Committer::Counters Committer::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

void Committer::push(Entry entry) {
  ++waiting_;
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(entry));
  }
  executor_->wake();
}

/// On the executor. False when there is nothing left to do.
bool Committer::store_next_group() {
  std::deque<Entry> group;
  std::vector<engine::Event> events;
  {
    const std::scoped_lock lock(mutex_);
    if (failed_once_ || queue_.empty()) {
      return false;
    }
    while (!queue_.empty() && (group.empty() || events.size() < most_events_per_group)) {
      group.push_back(std::move(queue_.front()));
      queue_.pop_front();
      auto& more = group.back().events;
      events.insert(events.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
  }
  failed_once_ = !store_group(group, events);
  return !failed_once_;
}

/// False when the store failed: then nothing of the group, and nothing after it, is ever run.
bool Committer::store_group(std::deque<Entry>& group, std::vector<engine::Event>& events) {
  if (!events.empty()) {
    const auto start = std::chrono::steady_clock::now();
    const engine::Status stored = store_.append(events);
    if (!stored) {
      loop_.post(
          [this, alive = std::weak_ptr<bool>(alive_), group = std::move(group), error = stored.error()] {
            if (!alive.expired()) {
              failed_(error);
            }
          });
      return false;
    }
    const std::scoped_lock lock(mutex_);
    counters_.durable = events.back().lsn;
    ++counters_.commits;
    counters_.events += events.size();
    counters_.seconds += seconds_since(start);
  }
  for (Entry& entry : group) {
    if (entry.job) {
      entry.then = entry.job(store_);
    }
  }
  post_finish(std::move(group));
  return true;
}

/// Entries go back to the loop whole: what they hold (sessions, replies) may only be let go there.
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
