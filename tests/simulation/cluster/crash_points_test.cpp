// The daemon is killed right before and right after every group it stores, recovers and goes on: it stands where the
// uninterrupted daemon stood, and decides what that one decided. HPSEARCH_CRASH_TRIALS=n searches with n trials,
// HPSEARCH_CRASH_EVERY=n kills at every n-th group only.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/runtime.hpp"
#include "daemon/store/memory_store.hpp"
#include "engine/test_cluster.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/net/log.hpp"
#include "hpsearch/proto/stored.hpp"
#include "simulation/cluster/process.hpp"
#include "simulation/invariants.hpp"

namespace hpsearch::simulation {
namespace {

using engine::Effects;
using engine::Event;
using engine::Value;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// What was decided, in order, as text: which trials with which hyperparameters, how far each was let, what ended.
std::string decision_in(const Event& event) {
  const auto bytes = proto::encode_event(event.body);
  const std::string body(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto* granted = std::get_if<engine::LeaseGranted>(&event.body)) {
    return "lease of trial " + std::to_string(granted->trial.number()) + " to " +
           std::to_string(engine::count(granted->length));
  }
  const bool decides = std::holds_alternative<engine::TrialCreated>(event.body) ||
                       std::holds_alternative<engine::TrialPromoted>(event.body) ||
                       std::holds_alternative<engine::TrialPaused>(event.body) ||
                       std::holds_alternative<engine::TrialEnded>(event.body) ||
                       std::holds_alternative<engine::LengthReached>(event.body) ||
                       std::holds_alternative<engine::ExperimentEnded>(event.body);
  return decides ? body : "";
}

/// A store whose machine dies at the n-th call: before the group is written, or after it and before anybody hears.
class MortalStore final : public daemon::EventStore {
 public:
  explicit MortalStore(std::shared_ptr<daemon::MemoryDisk> disk) : log_(std::move(disk)) {}

  std::uint64_t dies_at = 0;  ///< 0: never.
  bool after = false;
  bool dead = false;
  std::uint64_t calls = 0;
  std::vector<Event> stored;
  std::function<void()> on_stored;

  [[nodiscard]] std::uint64_t cluster() const noexcept override { return log_.cluster(); }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept override { return log_.daemon_epoch(); }
  [[nodiscard]] engine::Result<std::uint32_t> chain_at(engine::Lsn lsn) override { return log_.chain_at(lsn); }
  using EventStore::recover;
  engine::Status recover(engine::Lsn after_lsn, const Visit& visit) override { return log_.recover(after_lsn, visit); }
  engine::Status append(std::span<const Event> group) override {
    const bool dies = ++calls == dies_at;
    if (dies && !after) {
      dead = true;
      return engine::Error{engine::Errc::corrupt, "dead"};
    }
    const engine::Status done = log_.append(group);
    stored.insert(stored.end(), group.begin(), group.end());
    dead = dies;
    if (on_stored) {
      on_stored();
    }
    return done;
  }
  [[nodiscard]] engine::Lsn last_lsn() const noexcept override { return log_.last_lsn(); }
  [[nodiscard]] engine::Result<std::vector<Event>> read(engine::Lsn after_lsn, std::size_t limit) override {
    return log_.read(after_lsn, limit);
  }
  [[nodiscard]] engine::Result<std::vector<Event>> history(engine::ExperimentId experiment,
                                                           engine::TrialNumber trial) override {
    return log_.history(experiment, trial);
  }
  [[nodiscard]] engine::Result<std::vector<daemon::MetricPoint>> metrics(engine::ExperimentId experiment,
                                                                         engine::TrialNumber trial) override {
    return log_.metrics(experiment, trial);
  }

 private:
  daemon::MemoryStore log_;
};

/// A worker with one slot that does what it is told and keeps what was not acknowledged.
class SteadyWorker {
 public:
  struct Held {
    engine::LaunchSpec spec;
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
    static_cast<void>(runtime.perform(engine::LookAtClock{}));
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

/// A daemon and its worker until the search has ended, or the machine died.
class Life {
 public:
  Life(std::shared_ptr<daemon::MemoryDisk> disk, SteadyWorker& worker)
      : store_(std::move(disk)), worker_(worker), process_(time_) {
    process_.begin(engine::Instant::from_micros(1'000'000));
    runtime_ = std::make_unique<daemon::Runtime>(
        process_, store_, searchers::registry(), engine::Patience{},
        [this](std::function<bool()> work) -> std::unique_ptr<daemon::StoreExecutor> {
          return std::make_unique<PromptDisk>(process_, std::move(work));
        });
    const auto recovered = runtime_->recover();
    EXPECT_TRUE(recovered) << recovered.error().message;
  }

  MortalStore& store() { return store_; }
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
  /// Until it is over, or dead, or so many more events are stored.
  void live(std::size_t events = SIZE_MAX) {
    while (!store_.dead && !over() && store_.stored.size() < events && time_.step()) {
    }
  }
  [[nodiscard]] bool over() const {
    const auto& experiments = runtime_->engine().experiments();
    return !experiments.empty() && engine::is_ended(experiments.begin()->second.state) && runtime_->idle();
  }

 private:
  VirtualTime time_;
  MortalStore store_;
  SteadyWorker& worker_;
  Process process_;
  std::unique_ptr<daemon::Runtime> runtime_;
};

/// The fingerprint without the clock, which a restart moves.
std::string standing(const engine::Engine& engine) {
  return engine::fingerprint(engine);
}

struct Search {
  const char* name;
  std::function<Value(int trials)> config;
};
void PrintTo(const Search& search, std::ostream* out) {
  *out << search.name;
}

class CrashPoints : public testing::TestWithParam<Search> {};

TEST_P(CrashPoints, RecoveredDaemonDecidesWhatTheUninterruptedOneDid) {
  net::set_log_level("error");
#ifdef NDEBUG
  const std::uint64_t every = from_environment("HPSEARCH_CRASH_EVERY", 1);
  const auto trials = static_cast<int>(from_environment("HPSEARCH_CRASH_TRIALS", 500));
#else
  const std::uint64_t every = from_environment("HPSEARCH_CRASH_EVERY", 1);
  const auto trials = static_cast<int>(from_environment("HPSEARCH_CRASH_TRIALS", 40));
#endif
  const Value search = GetParam().config(trials);

  // The uninterrupted run: what was decided, and where the engine stood after each group.
  SteadyWorker calm(3);
  Life life(std::make_shared<daemon::MemoryDisk>(), calm);
  engine::Engine fold(searchers::registry());
  std::map<std::uint64_t, std::size_t> stood;  // lsn → hash of the standing
  std::size_t folded = 0;
  life.store().on_stored = [&] {
    for (; folded < life.store().stored.size(); ++folded) {
      ASSERT_TRUE(fold.replay(life.store().stored[folded]));
    }
    stood[fold.last_lsn().number()] = std::hash<std::string>{}(standing(fold));
  };
  life.begin(search);
  life.live();
  ASSERT_TRUE(life.over());
  std::vector<std::string> decided;
  for (const Event& event : life.store().stored) {
    if (std::string decision = decision_in(event); !decision.empty()) {
      decided.push_back(std::move(decision));
    }
  }
  const std::uint64_t calls = life.store().calls;
  ASSERT_EQ(life.engine().experiments().begin()->second.trials.size(), static_cast<std::size_t>(trials));

  std::uint64_t points = 0;
  std::uint64_t to_the_end = 0;
  for (std::uint64_t call = 1; call <= calls; call += every) {
    for (const bool after : {false, true}) {
      SteadyWorker worker(3);
      const auto disk = std::make_shared<daemon::MemoryDisk>();
      std::vector<Event> events;
      {
        Life first(disk, worker);
        first.store().dies_at = call;
        first.store().after = after;
        first.begin(search);
        first.live();
        ASSERT_TRUE(first.store().dead);
        events = first.store().stored;
      }
      Life second(disk, worker);
      const std::uint64_t lsn = second.engine().last_lsn().number();
      ASSERT_EQ(lsn, events.size());
      if (lsn > 0) {
        ASSERT_EQ(std::hash<std::string>{}(standing(second.engine())), stood.at(lsn))
            << "killed " << (after ? "after" : "before") << " storage call " << call;
      }
      second.begin(search);
      // What follows is a function of where it stands: all of it is looked at now and then, its beginning always.
      const bool whole = points++ % 97 == 0;
      to_the_end += whole ? 1U : 0U;
      second.live(whole ? SIZE_MAX : 12);
      events.insert(events.end(), second.store().stored.begin(), second.store().stored.end());
      std::size_t next = 0;
      for (const Event& event : events) {
        const std::string decision = decision_in(event);
        if (!decision.empty()) {
          ASSERT_LT(next, decided.size());
          ASSERT_EQ(decision, decided[next])
              << "decision " << next << ", killed " << (after ? "after" : "before") << " storage call " << call;
          ++next;
        }
      }
      if (whole) {
        ASSERT_TRUE(second.over());
        ASSERT_EQ(next, decided.size());
      }
    }
  }
  std::cout << GetParam().name << ": " << trials << " trials, killed at " << points << " points of " << calls
            << " storage calls, " << to_the_end << " of them followed to the end" << std::endl;
}

const Search searches[] = {
    {"random", [](int trials) { return engine::random_config(trials, 1); }},
    {"grid",
     [](int trials) {
       return engine::test_config(
           Value::Map{{"name", "grid"}, {"max_concurrent_trials", 1}},
           Value::Map{{"hyperparameters",
                       Value::Map{{"x", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", trials + 1},
                                                   {"count", trials}}}}}});
     }},
    {"asha_promotion", [](int trials) { return engine::asha_config(trials, 1, false); }},
    {"asha_stopping", [](int trials) { return engine::asha_config(trials, 1, true); }},
    {"adaptive_asha",
     [](int trials) {
       return engine::test_config(Value::Map{{"name", "adaptive_asha"},
                                             {"max_trials", trials},
                                             {"max_concurrent_trials", 1},
                                             {"divisor", 3}});
     }},
};

INSTANTIATE_TEST_SUITE_P(Searchers, CrashPoints, testing::ValuesIn(searches),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace hpsearch::simulation
