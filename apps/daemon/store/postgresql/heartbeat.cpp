#include "daemon/store/postgresql/heartbeat.hpp"

#include <chrono>
#include <utility>

#include "daemon/store/thread_without_signals.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;

constexpr std::chrono::seconds every{2};

// A commit that waits for a standby of the database holds the row: then the next heartbeat is soon enough.
constexpr const char* settings =
    "SET statement_timeout = 5000; SET synchronous_commit = local; "
    "SET default_transaction_isolation = 'read committed'";

}  // namespace

Error taken_over(Connection& connection, std::uint64_t epoch) {
  const auto now = connection.read("SELECT holder FROM hpsearch_store");
  const std::string holder = now && now->count() == 1 && !now->text(0, 0).empty()
                                 ? "another daemon (" + std::string(now->text(0, 0)) + ")"
                                 : std::string("another daemon");
  return Error{Errc::wrong_state, holder + " has taken over the store " + connection.url() + " since start " +
                                      std::to_string(epoch) +
                                      ", which this one is; this daemon stores nothing more and ends"};
}

Heartbeat::Heartbeat(DatabaseUrl url, std::uint64_t epoch)
    : connection_(std::move(url), settings),
      epoch_(epoch),
      thread_(thread_without_signals([this] { run(); })) {
}

Heartbeat::~Heartbeat() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Status Heartbeat::check_ours() const {
  const std::scoped_lock lock(mutex_);
  return lost_ ? Status(*lost_) : Status(Done{});
}

void Heartbeat::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, every, [this] { return stopping_ || lost_; })) {
    lock.unlock();
    beat();
    lock.lock();
  }
}

void Heartbeat::beat() {
  const auto beaten = connection_.run(
      "UPDATE hpsearch_store SET heartbeat = clock_timestamp() WHERE epoch = $1 RETURNING epoch",
      Parameters().number(epoch_));
  if (!beaten || beaten->count() == 1) {
    return;
  }
  Error error = taken_over(connection_, epoch_);
  const std::scoped_lock lock(mutex_);
  lost_ = std::move(error);
}

}  // namespace hpsearch::daemon
