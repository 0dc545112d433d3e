#include "daemon/runtime.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "daemon/house.hpp"

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;
using engine::Duration;

const engine::ExperimentRecord& only_experiment(const House& house) {
  return house.runtime->engine().experiments().begin()->second;
}

/// Takes a lease, starts, reports at the length, obeys and exits.
void run_one_trial(ScriptedWorker& worker, std::size_t nth, double loss) {
  const auto lease = worker.wait_for<proto::Lease>(nth);
  const auto key = lease.spec.key;
  worker.send(proto::Started{key});
  worker.send(proto::Reports{key, 1, {metrics_report(2, loss + 1), metrics_report(4, loss)}});
  const auto decision = worker.wait_for<proto::Decide>(nth);
  EXPECT_EQ(decision.key, key);
  EXPECT_EQ(decision.decision.directive, engine::Directive::stop);
  worker.send(proto::DecisionAck{key, decision.decision.id});
  worker.send(proto::Reports{key, 3, {exit_report(engine::ExitReport::Cause::exited, 0)}});
}

TEST(Runtime, SearchRunsFromSubmissionToItsEnd) {
  House house;
  house.submit(small_search(3));
  ScriptedWorker worker(house);
  worker.join();
  for (std::size_t i = 1; i <= 3; ++i) {
    run_one_trial(worker, i, 1.0 / static_cast<double>(i));
  }
  house.pump_until([&] { return only_experiment(house).state == engine::ExperimentState::completed; });
  house.pump_until([&] { return house.runtime->idle(); });
  EXPECT_EQ(only_experiment(house).best, engine::TrialNumber(2));
  const auto acks = worker.all<proto::Ack>();
  ASSERT_FALSE(acks.empty());
  EXPECT_EQ(acks.back().upto, 3U);
}

TEST(Runtime, ReplayStandsWhereTheLiveEngineStands) {
  House house;
  house.submit(small_search(5));
  ScriptedWorker worker(house);
  worker.slots = 2;
  worker.join();
  run_one_trial(worker, 1, 0.5);
  const auto second = worker.wait_for<proto::Lease>(2).spec.key;
  worker.send(proto::Started{second});
  worker.send(proto::Reports{second, 1, {metrics_report(1, 0.25)}});
  house.pump_until([&] { return house.runtime->idle() && worker.all<proto::Lease>().size() >= 3; });
  pump_for(house.loop, 50ms);

  engine::Engine replayed(searchers::registry());
  MemoryStore copy(std::make_shared<MemoryDisk>(*house.disk));
  const auto recovered = copy.recover([&](const engine::Event& event) { return replayed.replay(event); });
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(House::picture(replayed), house.picture());

  const std::string before = house.picture();
  house.restart();
  EXPECT_EQ(house.picture(), before);
}

TEST(Runtime, NothingIsSaidBeforeItIsDurable) {
  House house;
  house.submit(small_search(1));
  house.store->hold();
  ScriptedWorker worker(house);
  worker.say_hello();
  house.pump_until([&] { return !house.runtime->engine().workers().empty(); });
  pump_for(house.loop, 100ms);
  EXPECT_TRUE(worker.heard.empty());
  house.store->let_go();
  worker.wait_for<proto::Lease>();
  ASSERT_EQ(worker.heard.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<proto::Welcome>(worker.heard.front()));
}

/// A log in which so many trials wait at the first rung of experiment 1.
std::vector<engine::Event> log_of_waiting_trials(std::int64_t trials) {
  engine::Engine engine(searchers::registry());
  std::vector<engine::Event> log;
  std::vector<engine::AttemptKey> running;
  std::int64_t now = 0;
  const auto step = [&](engine::Command command) {
    const auto effects = engine.step(std::move(command), engine::Instant::from_micros(++now));
    ASSERT_TRUE(effects) << effects.error().message;
    log.insert(log.end(), effects->events.begin(), effects->events.end());
    for (const engine::Order& order : effects->orders) {
      if (const auto* launch = std::get_if<engine::LaunchAttempt>(&order)) {
        running.push_back(launch->spec.key);
      }
    }
  };
  engine::JoinWorker join;
  join.uid = join.name = "many";
  join.slots = static_cast<std::uint64_t>(trials);
  join.slot_kind = "cpu";
  step(join);
  engine::CreateExperiment create;
  create.config = small_search(trials + 1);
  engine::Value::Map& searcher = *(*create.config.as_map())["searcher"].as_map();
  searcher["name"] = "async_halving";
  searcher["num_rungs"] = 2;
  searcher["max_concurrent_trials"] = trials;
  step(create);
  double loss = 0;
  for (const engine::AttemptKey& key : std::vector(running)) {
    engine::TakeReports reports{engine::WorkerId(1), key, 1, {}};
    reports.reports.emplace_back(metrics_report(1, ++loss));  // Each worse than all before it.
    step(std::move(reports));
  }
  return log;
}

TEST(Runtime, WhatOneStepLeavesToTheNextWaitsForASlowStore) {
  constexpr std::int64_t trials = 8'000;
  House house;
  {
    MemoryStore store(house.disk);
    ASSERT_TRUE(store.append(log_of_waiting_trials(trials)));
  }
  house.restart();
  house.pump_until([&] { return house.runtime->idle(); });
  house.store->hold();
  const std::uint64_t before = house.runtime->engine().last_lsn().number();
  static_cast<void>(house.runtime->perform(engine::CancelExperiment{engine::ExperimentId(1)}));
  pump_for(house.loop, 200ms);
  EXPECT_LT(house.runtime->engine().last_lsn().number() - before, 6'000U)
      << "whoever asks for something now would wait for all of this to be stored";
  house.store->let_go();
  const auto paused = static_cast<std::size_t>(engine::TrialState::paused);
  house.pump_until([&] { return only_experiment(house).by_state[paused] == 0; });
  EXPECT_GE(house.runtime->engine().last_lsn().number() - before, 5'000U);
}

TEST(Runtime, AFailedCommitSaysNothingMore) {
  House house;
  house.submit(small_search(1));
  house.store->fail_from_now_on();
  ScriptedWorker worker(house);
  worker.say_hello();
  house.pump_until([&] { return house.failure.has_value(); });
  pump_for(house.loop, 100ms);
  EXPECT_TRUE(worker.heard.empty());
  EXPECT_EQ(house.store->last_lsn(), engine::Lsn(1));
}

TEST(Runtime, WhatWasNotDurableIsGoneAfterACrashAndTheRestIsThere) {
  House house;
  house.submit(small_search(1));
  const std::string durable = house.picture();
  house.store->hold();
  engine::CreateExperiment second;
  second.config = small_search(2);
  bool told = false;
  static_cast<void>(
      house.runtime->perform(second, [&](const engine::Result<Runtime::Outcome>&) { told = true; }));
  EXPECT_EQ(house.runtime->engine().experiments().size(), 2U);
  house.store->fail_from_now_on();
  house.store->let_go();
  house.pump_until([&] { return house.failure.has_value(); });
  EXPECT_FALSE(told);
  house.restart();
  EXPECT_EQ(house.picture(), durable);
}

TEST(Runtime, RefusalIsToldAndLeavesNoTrace) {
  House house;
  std::optional<engine::Error> error;
  static_cast<void>(house.runtime->perform(
      engine::PauseExperiment{engine::ExperimentId(9)},
      [&](const engine::Result<Runtime::Outcome>& outcome) { error = outcome.error(); }));
  house.pump_until([&] { return error.has_value(); });
  EXPECT_EQ(error->code, engine::Errc::not_found);
  EXPECT_EQ(house.store->last_lsn(), engine::Lsn(0));
}

TEST(Runtime, ProgramsRunOnThroughARestart) {
  House house;
  house.submit(small_search(1));
  ScriptedWorker worker(house);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  worker.send(proto::Reports{key, 1, {metrics_report(1, 0.5)}});
  worker.wait_for<proto::Ack>();

  house.restart();
  worker.connect();
  worker.held = {{key, false, 2, engine::Lsn(0)}};
  const auto welcome = worker.join();
  ASSERT_EQ(welcome.attempts.size(), 1U);
  EXPECT_EQ(welcome.attempts[0].key, key);
  EXPECT_EQ(welcome.attempts[0].fate, engine::WelcomeWorker::Fate::go_on);
  EXPECT_EQ(welcome.attempts[0].upto, 1U);
  EXPECT_TRUE(worker.all<proto::Lease>().empty());
  worker.send(proto::Reports{key, 2, {metrics_report(4, 0.25)}});
  EXPECT_EQ(worker.wait_for<proto::Decide>().decision.directive, engine::Directive::stop);
}

TEST(Runtime, KnownWorkerGetsNothingNewBeforeItIsBack) {
  House house;
  {
    ScriptedWorker worker(house);
    worker.join();
  }
  house.restart();
  house.submit(small_search(1));
  pump_for(house.loop, 1'500ms);  // Past a look at the clock.
  EXPECT_EQ(only_experiment(house).running.size(), 0U);
  ScriptedWorker worker(house);
  worker.join();
  worker.wait_for<proto::Lease>();
}

TEST(Runtime, SilentWorkerLosesItsLeasesAndIsWelcomeAgain) {
  House house(engine::Patience{Duration::millis(500), Duration::millis(1'500)});
  house.submit(small_search(1));
  ScriptedWorker silent(house);
  silent.join();
  const auto first = silent.wait_for<proto::Lease>().spec.key;
  silent.send(proto::Started{first});
  house.pump_until([&] { return only_experiment(house).running.empty(); });
  house.pump_until([&] { return !house.runtime->engine().workers().begin()->second.present; });

  // What it says on its old session now is answered with: say HELLO again. Nobody has taken its trial, so it
  // has its attempt back, under a new lease.
  silent.send(proto::Beat{});
  silent.wait_for<proto::Resync>();
  silent.held = {{first, false, 0, engine::Lsn(0)}};
  const auto welcome = silent.join();
  ASSERT_EQ(welcome.attempts.size(), 1U);
  EXPECT_EQ(welcome.attempts[0].fate, engine::WelcomeWorker::Fate::go_on);
  engine::AttemptKey adopted = first;
  adopted.lease = welcome.attempts[0].lease;
  EXPECT_GT(adopted.lease, first.lease);
  silent.send(proto::Reports{adopted, 1, {metrics_report(1, 0.5)}});
  EXPECT_EQ(silent.wait_for<proto::Ack>().key, adopted);
}

TEST(Runtime, RestoreBarrierLeasesNothingOfWorkersThatAreNotBack) {
  House house(engine::Patience{Duration::seconds(2), Duration::seconds(3), Duration::seconds(300)});
  house.submit(small_search(2));
  ScriptedWorker missing(house, "missing");
  missing.slots = 2;
  missing.join();
  const auto key = missing.wait_for<proto::Lease>().spec.key;
  missing.send(proto::Started{key});
  house.pump_until([&] { return house.runtime->engine().find(key.experiment, key.trial)->live->started; });
  missing.disconnect();
  house.restart();
  ScriptedWorker other(house, "other");
  other.join();
  pump_for(house.loop, 4'500ms);  // Past lost_after, and a look at the clock.
  const engine::TrialRecord* trial = house.runtime->engine().find(key.experiment, key.trial);
  ASSERT_TRUE(trial->live);
  EXPECT_EQ(trial->live->key, key) << "our own absence costs nobody a lease";
  for (const proto::Lease& lease : other.all<proto::Lease>()) {
    EXPECT_NE(lease.spec.key.trial, key.trial);
  }
}

TEST(Runtime, AShortStandstillExpiresNoShortLease) {
  House house(engine::Patience{Duration::seconds(2), Duration::seconds(3)});
  house.submit(small_search(1));
  ScriptedWorker worker(house);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  house.pump_until([&] { return house.runtime->engine().find(key.experiment, key.trial)->live->started; });
  std::this_thread::sleep_for(3'500ms);  // The loop does not run: whatever is sent lies unread.
  pump_for(house.loop, 1'200ms);         // A look at the clock.
  EXPECT_EQ(only_experiment(house).running.size(), 1U);
}

TEST(Runtime, WhoSaysNothingGetsNoLeaseBeforeItIsHeardAgain) {
  House house(engine::Patience{Duration::seconds(1), Duration::seconds(600)});
  ScriptedWorker worker(house);
  worker.join();
  pump_for(house.loop, 3000ms);
  house.submit(small_search(1));
  pump_for(house.loop, 500ms);
  EXPECT_TRUE(worker.all<proto::Lease>().empty());
  worker.send(proto::Beat{});
  worker.wait_for<proto::Lease>();
}

TEST(Runtime, BeatsKeepAWorkerAlive) {
  House house(engine::Patience{Duration::seconds(1), Duration::seconds(3)});
  house.submit(small_search(1));
  ScriptedWorker worker(house);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  for (int i = 0; i < 30; ++i) {
    worker.send(proto::Beat{});
    pump_for(house.loop, 150ms);
  }
  EXPECT_EQ(only_experiment(house).running.size(), 1U);
}

}  // namespace
}  // namespace hpsearch::daemon
