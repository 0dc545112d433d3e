#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/core/runtime.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "engine/test_cluster.hpp"
#include "hpsearch/io/net/log.hpp"
#include "simulation/cluster/nodes/process.hpp"
#include "simulation/disk/mounted_disk.hpp"
#include "simulation/disk/passing_store.hpp"

// A daemon that searches on a simulated disk: what the tests of crashes, failures and damage begin with.

namespace hpsearch::simulation {

using engine::Effects;
using engine::Event;
using engine::Value;

/// Prints how much it took to break what is tested.
struct Tally {
  const char* what;
  std::uint64_t done = 0;

  ~Tally() {
    if (testing::Test::HasFatalFailure()) {
      std::cout << "broken by " << what << ' ' << done << " of this run" << std::endl;
    }
  }
};
/// What was decided, in order, as text: which trials with which hyperparameters, how far each was let, what
/// ended; "" of what decides nothing.
[[nodiscard]] std::string decision_in(const Event& event);

/// A store that says what it was given and what it has taken.
class WatchedStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;

  engine::Lsn given;
  engine::Lsn taken;
  bool failed = false;
  std::vector<Event> stored;
  std::function<void()> on_stored;

  engine::Status append(std::span<const Event> group) override {
    given = group.back().lsn;
    engine::Status done = PassingStore::append(group);
    failed = failed || (!done && done.error().code != engine::Errc::unavailable);
    if (done) {
      taken = given;
      stored.insert(stored.end(), group.begin(), group.end());
      if (on_stored) {
        on_stored();
      }
    }
    return done;
  }
};

/// A worker with one slot that does what it is told and keeps what was not acknowledged.
class SteadyWorker {
 public:
  struct Held {
    engine::AttemptSpec spec;
    std::uint64_t acked = 0;
    std::vector<engine::Report> reports;  // From the first.
    engine::Lsn last_decision;
    bool exited = false;
  };

  /// `seed` is what its measurements follow from, with the trial and the step.
  explicit SteadyWorker(std::uint64_t seed) : seed_(seed) {}

  void meet(daemon::Runtime& runtime) {
    runtime_ = &runtime;
    engine::JoinWorker join;
    join.uid = join.name = "steady";
    join.incarnation = 1;
    join.slots = 1;
    join.slot_kind = "cpu";
    for (const auto& [key, held] : held_) {
      join.held.push_back({key, held.exited, held.reports.size(), held.last_decision});
    }
    const auto joined = runtime.perform(join);
    ASSERT_TRUE(joined) << joined.error().message;
    id_ = *joined->joined;
    runtime.connected(id_);
    static_cast<void>(runtime.perform(engine::CheckTimers{}));
  }

  void obey(const engine::Order& order) {
    if (const auto* welcome = std::get_if<engine::WelcomeWorker>(&order)) {
      for (const auto& attempt : welcome->attempts) {
        ASSERT_EQ(attempt.fate, engine::WelcomeWorker::Fate::go_on);
        acknowledge(attempt.key, attempt.upto);
        if (held_.contains(attempt.key)) {
          say(attempt.key, attempt.upto + 1);
        }
      }
    } else if (const auto* launch = std::get_if<engine::LaunchAttempt>(&order)) {
      if (held_.try_emplace(launch->spec.key, Held{launch->spec, 0, {}, {}, false}).second) {
        report(launch->spec.key, launch->spec.length);
      }
    } else if (const auto* decide = std::get_if<engine::DecideAttempt>(&order)) {
      Held& held = held_.at(decide->key);
      if (decide->decision.id <= held.last_decision) {
        return;
      }
      held.last_decision = decide->decision.id;
      if (decide->decision.directive == engine::Directive::train_on) {
        report(decide->key, decide->decision.length);
      } else {
        held.exited = true;
        held.reports.emplace_back(engine::ExitReport{});
        say(decide->key, held.reports.size());
      }
    } else if (const auto* ack = std::get_if<engine::AckReports>(&order)) {
      acknowledge(ack->key, ack->upto);
    } else {
      FAIL() << "an order that nothing here gives cause to";
    }
  }

 private:
  void report(const engine::AttemptKey& key, engine::Units step) {
    engine::Draw draw(seed_ + engine::count(step), key.trial, "score");
    held_.at(key).reports.emplace_back(engine::MetricsReport{step, {{"score", draw.unit()}}});
    say(key, held_.at(key).reports.size());
  }
  void say(const engine::AttemptKey& key, std::uint64_t from) {
    const Held& held = held_.at(key);
    if (from <= held.reports.size()) {
      const std::vector<engine::Report> rest(held.reports.begin() + static_cast<std::ptrdiff_t>(from - 1),
                                             held.reports.end());
      static_cast<void>(runtime_->perform(engine::TakeReports{id_, key, from, rest}));
    }
  }
  void acknowledge(const engine::AttemptKey& key, std::uint64_t upto) {
    const auto found = held_.find(key);
    if (found != held_.end()) {
      found->second.acked = std::max(found->second.acked, upto);
      if (found->second.exited && found->second.acked == found->second.reports.size()) {
        held_.erase(found);
      }
    }
  }

  std::uint64_t seed_;
  daemon::Runtime* runtime_ = nullptr;
  engine::WorkerId id_;
  std::map<engine::AttemptKey, Held> held_;
};

/// The store's second thread, right away.
class PromptDisk final : public daemon::StoreExecutor {
 public:
  PromptDisk(Process& process, std::function<bool()> work) : process_(process), work_(std::move(work)) {}
  void wake() override {
    if (!std::exchange(woken_, true)) {
      turn_ = process_.after(std::chrono::microseconds(1), [this] {
        woken_ = false;
        if (work_()) {
          wake();
        }
      });
    }
  }

 private:
  Process& process_;
  std::function<bool()> work_;
  bool woken_ = false;
  net::Watch turn_;
};

// Few enough that a search has many checkpoints.
inline constexpr int pages_per_checkpoint = 60;

using BeforeCall = std::function<int(DiskCall call, const std::string& path)>;

/// A daemon and its worker on a disk, until the search has ended, or the store is given up.
class Life {
 public:
  Life(DiskImage& image, SteadyWorker& worker) : disk_(image), worker_(worker), process_(time_) {
    process_.begin(engine::Instant::from_micros(1'000'000));
  }
  ~Life() { disk_.die(); }  // No clean end: nothing is tidied up any more.

  /// `before` hears of each storage call from the opening on.
  engine::Status open(BeforeCall before = {}) {
    disk_.before = std::move(before);
    auto opened = daemon::SqliteStore::open(database, {disk_, pages_per_checkpoint});
    if (!opened) {
      return opened.error();
    }
    store_ = std::make_unique<WatchedStore>(std::move(opened).value());
    runtime_ = std::make_unique<daemon::Runtime>(
        process_, *store_, searchers::registry(), engine::Patience{},
        [this](std::function<bool()> work) -> std::unique_ptr<daemon::StoreExecutor> {
          return std::make_unique<PromptDisk>(process_, std::move(work));
        });
    engine::Status recovered = runtime_->recover();
    store_->taken = store_->given = runtime_->engine().last_lsn();
    return recovered;
  }

  /// A clean end.
  void close() {
    runtime_.reset();
    store_.reset();
  }

  static constexpr const char* database = "/state/events.db";

  [[nodiscard]] MountedDisk& disk() { return disk_; }
  [[nodiscard]] WatchedStore* store() { return store_.get(); }  ///< nullptr before it is open.
  [[nodiscard]] const engine::Engine& engine() const { return runtime_->engine(); }

  void begin(const std::optional<Value>& search) {
    runtime_->start([this](const engine::Order& order) { worker_.obey(order); }, [](const engine::Error&) {});
    if (search) {
      engine::CreateExperiment command;
      command.config = *search;
      command.fallback_name = "crash points";
      command.seed = 11;
      command.idempotency_key = "once";
      ASSERT_TRUE(runtime_->perform(command));
    }
    worker_.meet(*runtime_);
  }
  /// Until it is over, or given up, or so many more events are stored.
  void live(std::size_t events = SIZE_MAX) {
    const std::size_t until = events == SIZE_MAX ? events : store_->stored.size() + events;
    while (!store_->failed && !over() && store_->stored.size() < until && time_.step()) {
    }
  }
  [[nodiscard]] bool over() const {
    const auto& experiments = runtime_->engine().experiments();
    return !experiments.empty() && engine::is_ended(experiments.begin()->second.state) && runtime_->idle();
  }

 private:
  VirtualTime time_;
  MountedDisk disk_;
  std::unique_ptr<WatchedStore> store_;
  SteadyWorker& worker_;
  Process process_;
  std::unique_ptr<daemon::Runtime> runtime_;
};
/// What an uninterrupted search stored and decided.
struct Uninterrupted {
  std::vector<std::size_t> events;             ///< Their hashes; the first is event 1.
  std::map<std::uint64_t, std::size_t> stood;  ///< lsn at the end of a group → hash of the engine's standing.
  std::vector<std::string> decided;
  std::vector<std::size_t> decided_upto{0};  ///< How many decisions there are up to event n.
  std::uint64_t calls = 0;
};
[[nodiscard]] std::size_t hash_of(const Event& event);
[[nodiscard]] std::size_t standing(const engine::Engine& engine);
/// Lives that search without any trouble.
void live_uninterrupted(const Value& search, Uninterrupted& calm);

}  // namespace hpsearch::simulation
