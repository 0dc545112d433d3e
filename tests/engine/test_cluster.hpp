#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/state_text.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::engine {

/// The events of one kind, in order.
template <class Body>
std::vector<Body> all(const std::vector<Event>& events) {
  std::vector<Body> found;
  for (const Event& event : events) {
    if (const auto* body = std::get_if<Body>(&event.body)) {
      found.push_back(*body);
    }
  }
  return found;
}

/// An attempt as its (pretended) worker knows it.
struct TestAttempt {
  AttemptSpec spec;
  WorkerId worker;
  std::uint64_t next_seq = 1;
  std::optional<Decision> decision;
};

/// An engine with pretended workers: tests say what happens and read what follows. Every event is kept, so
/// that the log can be replayed at any moment.
class TestCluster {
 public:
  /// Searches start on all slots at once.
  TestCluster() : TestCluster(FirstLook::skipped) {}

  enum class FirstLook : std::uint8_t { taken, skipped };
  explicit TestCluster(FirstLook look) : engine(searchers::registry()) {
    if (look == FirstLook::skipped) {
      engine.skip_first_look();
    }
  }

  Effects step(const Command& command) {
    now = now + Duration::millis(1);
    Result<Effects> effects = engine.step(command, now);
    EXPECT_TRUE(effects.has_value()) << (effects ? "" : effects.error().message);
    if (!effects) {
      return {};
    }
    take(*effects);
    return std::move(*effects);
  }

  Error refused(const Command& command) {
    const Lsn before = engine.last_lsn();
    const Result<Effects> effects = engine.step(command, now);
    EXPECT_FALSE(effects.has_value());
    EXPECT_EQ(engine.last_lsn(), before) << "a refused command leaves no event";
    return effects ? Error{} : effects.error();
  }

  WorkerId join(const std::string& uid, std::uint64_t slots, std::uint64_t incarnation = 1,
                std::vector<HeldAttempt> held = {}) {
    return *step(JoinWorker{uid, uid, incarnation, slots, "cpu", std::move(held)}).joined;
  }

  ExperimentId create(Value config) {
    CreateExperiment command;
    command.config = std::move(config);
    command.fallback_name = "test";
    command.seed = 7;
    return *step(command).created;
  }

  Effects report(const AttemptKey& key, std::uint64_t length, double metric) {
    return send(key, MetricsReport{Units{length}, {{"score", metric}}});
  }

  Effects send(const AttemptKey& key, Report report) {
    TestAttempt& attempt = attempts.at(key);
    return step(TakeReports{attempt.worker, key, attempt.next_seq++, {std::move(report)}});
  }

  Effects exit(const AttemptKey& key, int code = 0) {
    ExitReport report;
    report.code = code;
    report.message = code == 0 ? "" : "exit status " + std::to_string(code);
    if (code != 0) {  // No two programs fail in the same way, unless a test wants them to.
      report.log_tail = std::string(++failures_, 'x');
    }
    Effects effects = send(key, report);
    attempts.erase(key);
    return effects;
  }

  /// Runs every program to its length with a metric of `metric(trial)` until nothing runs any more.
  template <class Metric>
  void run_all(Metric metric) {
    while (!attempts.empty()) {
      const AttemptKey key = attempts.begin()->first;
      const TestAttempt& attempt = attempts.begin()->second;
      if (attempt.decision && attempt.decision->directive != Directive::train_on) {
        exit(key);
        continue;
      }
      const Units length = attempt.decision ? attempt.decision->length : attempt.spec.length;
      report(key, count(length), metric(key.trial));
    }
  }

  /// The running attempt of a trial.
  AttemptKey live(ExperimentId experiment, std::uint64_t trial) const {
    const TrialRecord* record = engine.find(experiment, TrialNumber(trial));
    EXPECT_TRUE(record != nullptr && record->live.has_value()) << "trial " << trial << " does not run";
    return record != nullptr && record->live ? record->live->key : AttemptKey{};
  }

  const TrialRecord& trial(ExperimentId experiment, std::uint64_t number) const {
    return *engine.find(experiment, TrialNumber(number));
  }

  /// An engine that has replayed the log.
  [[nodiscard]] Engine replayed() const {
    Engine twin(searchers::registry());
    for (const Event& event : log) {
      const Status done = twin.replay(event);
      EXPECT_TRUE(done) << "event " << event.lsn.number() << ": " << (done ? "" : done.error().message);
    }
    return twin;
  }
  void expect_replayable() const { EXPECT_EQ(state_text(replayed()), state_text(engine)); }

  Engine engine;
  Instant now = Instant::from_micros(1'000'000);
  std::vector<Event> log;
  std::map<AttemptKey, TestAttempt> attempts;  ///< Launched and not exited, fenced or lost.

 private:
  std::size_t failures_ = 0;

  void take(const Effects& effects) {
    log.insert(log.end(), effects.events.begin(), effects.events.end());
    for (const Event& event : effects.events) {
      if (const auto* lost = std::get_if<AttemptLost>(&event.body)) {
        attempts.erase(lost->key);
      }
    }
    for (const Order& order : effects.orders) {
      if (const auto* launch = std::get_if<LaunchAttempt>(&order)) {
        attempts[launch->spec.key] = TestAttempt{launch->spec, launch->worker, 1, std::nullopt};
      } else if (const auto* decide = std::get_if<DecideAttempt>(&order)) {
        if (const auto found = attempts.find(decide->key); found != attempts.end()) {
          found->second.decision = decide->decision;
        }
      } else if (const auto* fence = std::get_if<FenceAttempt>(&order)) {
        attempts.erase(fence->key);
      }
    }
  }
};

/// An experiment file as a tree: one double parameter, metric "score", smaller is better.
inline Value test_config(Value::Map searcher, Value::Map others = {}) {
  searcher["metric"] = "score";
  if (!searcher.contains("max_length")) {
    searcher["max_length"] = Value::Map{{"epochs", 9}};
  }
  Value::Map config = std::move(others);
  config["entrypoint"] = "true";
  config["searcher"] = std::move(searcher);
  if (!config.contains("hyperparameters")) {
    config["hyperparameters"] =
        Value::Map{{"x", Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}}};
  }
  return config;
}

/// The first order of that kind, or nullptr.
template <class Kind>
[[nodiscard]] const Kind* find_order(const Effects& effects) {
  for (const Order& order : effects.orders) {
    if (const auto* found = std::get_if<Kind>(&order)) {
      return found;
    }
  }
  return nullptr;
}

inline Value random_config(int max_trials, int concurrent, Value::Map others = {}) {
  return test_config(
      Value::Map{{"name", "random"}, {"max_trials", max_trials}, {"max_concurrent_trials", concurrent}},
      std::move(others));
}

inline Value asha_config(int max_trials, int concurrent, bool stop_once = false, Value::Map others = {}) {
  return test_config(Value::Map{{"name", "async_halving"},
                                {"max_trials", max_trials},
                                {"num_rungs", 3},
                                {"divisor", 3},
                                {"stop_once", stop_once},
                                {"max_concurrent_trials", concurrent}},
                     std::move(others));
}

}  // namespace hpsearch::engine
