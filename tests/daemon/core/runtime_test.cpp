#include "daemon/core/runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "daemon/daemon_fixture.hpp"

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;
using engine::Duration;

const engine::ExperimentRecord& only_experiment(const DaemonFixture& fixture) {
  return fixture.runtime->engine().experiments().begin()->second;
}

/// Accepts a lease, starts, reports at the length, follows the decision and exits.
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
  DaemonFixture fixture;
  fixture.submit(small_search(3));
  ScriptedWorker worker(fixture);
  worker.join();
  for (std::size_t i = 1; i <= 3; ++i) {
    run_one_trial(worker, i, 1.0 / static_cast<double>(i));
  }
  fixture.pump_until([&] { return only_experiment(fixture).state == engine::ExperimentState::completed; });
  fixture.pump_until([&] { return fixture.runtime->idle(); });
  EXPECT_EQ(only_experiment(fixture).best, engine::TrialNumber(2));
  const auto acks = worker.all<proto::Ack>();
  ASSERT_FALSE(acks.empty());
  EXPECT_EQ(acks.back().upto, 3U);
}

TEST(Runtime, ReplayReachesTheStateOfTheLiveEngine) {
  DaemonFixture fixture;
  fixture.submit(small_search(5));
  ScriptedWorker worker(fixture);
  worker.slots = 2;
  worker.join();
  run_one_trial(worker, 1, 0.5);
  const auto second = worker.wait_for<proto::Lease>(2).spec.key;
  worker.send(proto::Started{second});
  worker.send(proto::Reports{second, 1, {metrics_report(1, 0.25)}});
  fixture.pump_until([&] { return fixture.runtime->idle() && worker.all<proto::Lease>().size() >= 3; });
  pump_for(fixture.loop, 50ms);

  engine::Engine replayed(searchers::registry());
  MemoryStore copy(std::make_shared<MemoryDisk>(*fixture.disk));
  const auto recovered = copy.recover([&](const engine::Event& event) { return replayed.replay(event); });
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(DaemonFixture::picture(replayed), fixture.picture());

  fixture.restart();
  fixture.pump_until([&] { return fixture.runtime->idle(); });
  engine::Engine again(searchers::registry());
  MemoryStore later(std::make_shared<MemoryDisk>(*fixture.disk));
  ASSERT_TRUE(later.recover([&](const engine::Event& event) { return again.replay(event); }));
  EXPECT_EQ(DaemonFixture::picture(again), fixture.picture());
}

TEST(Runtime, AnswersAndOrdersAreDurable) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  fixture.store->hold();
  ScriptedWorker worker(fixture);
  worker.send_hello();
  fixture.pump_until([&] { return !fixture.runtime->engine().workers().empty(); });
  pump_for(fixture.loop, 100ms);
  EXPECT_TRUE(worker.heard.empty());
  fixture.store->let_go();
  worker.wait_for<proto::Lease>();
  ASSERT_EQ(worker.heard.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<proto::Welcome>(worker.heard.front()));
}

/// A log in which this many trials wait at the first rung of experiment 1.
std::vector<engine::Event> log_of_waiting_trials(std::int64_t trials) {
  engine::Engine engine(searchers::registry());
  engine.skip_first_look();
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
  while (engine.next_deadline() == engine.last_instant()) {
    step(engine::CheckTimers{});
  }
  double loss = 0;
  for (const engine::AttemptKey& key : std::vector(running)) {
    engine::TakeReports reports{engine::WorkerId(1), key, 1, {}};
    reports.reports.emplace_back(metrics_report(1, ++loss));  // Each worse than all before it.
    step(std::move(reports));
  }
  return log;
}

TEST(Runtime, FollowUpStepsWaitForASlowStore) {
  constexpr std::int64_t trials = 8'000;
  DaemonFixture fixture;
  {
    MemoryStore store(fixture.disk);
    ASSERT_TRUE(store.append(log_of_waiting_trials(trials)));
  }
  fixture.restart();
  fixture.pump_until([&] { return fixture.runtime->idle(); });
  fixture.store->hold();
  const std::uint64_t before = fixture.runtime->engine().last_lsn().number();
  static_cast<void>(fixture.runtime->perform(engine::CancelExperiment{engine::ExperimentId(1)}));
  pump_for(fixture.loop, 200ms);
  EXPECT_LT(fixture.runtime->engine().last_lsn().number() - before, 6'000U)
      << "whoever asks for something now would wait for all of this to be stored";
  fixture.store->let_go();
  const auto paused = static_cast<std::size_t>(engine::TrialState::paused);
  fixture.pump_until([&] { return only_experiment(fixture).by_state[paused] == 0; });
  EXPECT_GE(fixture.runtime->engine().last_lsn().number() - before, 5'000U);
}

TEST(Runtime, RecoveryReportsItsProgress) {
  const std::vector<engine::Event> log = log_of_waiting_trials(3'000);
  ASSERT_GT(log.size(), 4'096U);
  const auto disk = std::make_shared<MemoryDisk>();
  ASSERT_TRUE(MemoryStore(disk).append(log));
  net::Loop loop;
  MemoryStore store(disk);
  Runtime runtime(loop, store, searchers::registry(), {});
  std::vector<std::uint64_t> seen;
  ASSERT_TRUE(runtime.recover([&seen](engine::Lsn lsn) { seen.push_back(lsn.number()); }));
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_LE(seen.back(), log.size());
}

TEST(Runtime, NothingIsSentAfterAFailedCommit) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  fixture.store->fail_from_now_on();
  ScriptedWorker worker(fixture);
  worker.send_hello();
  fixture.pump_until([&] { return fixture.failure.has_value(); });
  pump_for(fixture.loop, 100ms);
  EXPECT_TRUE(worker.heard.empty());
  EXPECT_EQ(fixture.store->last_lsn(), engine::Lsn(1));
}

TEST(Runtime, CrashLosesOnlyEventsThatWereNotDurable) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  const std::string durable = fixture.picture();
  fixture.store->hold();
  engine::CreateExperiment second;
  second.config = small_search(2);
  bool answered = false;
  static_cast<void>(
      fixture.runtime->perform(second, [&](const engine::Result<Runtime::Outcome>&) { answered = true; }));
  EXPECT_EQ(fixture.runtime->engine().experiments().size(), 2U);
  fixture.store->fail_from_now_on();
  fixture.store->let_go();
  fixture.pump_until([&] { return fixture.failure.has_value(); });
  EXPECT_FALSE(answered);
  fixture.restart();
  fixture.pump_until([&] { return fixture.runtime->idle(); });
  engine::Engine there(searchers::registry());
  MemoryStore store(std::make_shared<MemoryDisk>(*fixture.disk));
  ASSERT_TRUE(store.recover([&](const engine::Event& event) {
    const bool of_the_start = std::holds_alternative<engine::TimeNoted>(event.body);
    return of_the_start ? engine::Status(engine::Done{}) : there.replay(event);
  }));
  EXPECT_EQ(DaemonFixture::picture(there), durable);
}

TEST(Runtime, RefusalIsAnsweredAndStoresNothing) {
  DaemonFixture fixture;
  std::optional<engine::Error> error;
  static_cast<void>(fixture.runtime->perform(
      engine::PauseExperiment{engine::ExperimentId(9)},
      [&](const engine::Result<Runtime::Outcome>& outcome) { error = outcome.error(); }));
  fixture.pump_until([&] { return error.has_value(); });
  EXPECT_EQ(error->code, engine::Errc::not_found);
  EXPECT_EQ(fixture.store->last_lsn(), engine::Lsn(0));
}

TEST(Runtime, ProgramsKeepRunningThroughARestart) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  worker.send(proto::Reports{key, 1, {metrics_report(1, 0.5)}});
  worker.wait_for<proto::Ack>();

  fixture.restart();
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

TEST(Runtime, TimeBudgetSurvivesAClockThatIsAheadAfterARestart) {
  DaemonFixture fixture;
  engine::Value config = small_search(1);
  (*config.as_map())["budget"] = engine::Value::Map{{"max_time", std::int64_t{3'600}}};
  fixture.submit(config);
  ScriptedWorker worker(fixture);
  worker.join();
  worker.wait_for<proto::Lease>();
  for (int starts = 0; starts < 2; ++starts) {
    fixture.crash();
    fixture.loop.start_clock_at_least(fixture.loop.now() + Duration::seconds(86'400));
    fixture.start();
    fixture.pump_until([&] { return fixture.runtime->idle(); });
    EXPECT_EQ(only_experiment(fixture).state, engine::ExperimentState::active);
    ASSERT_TRUE(fixture.runtime->engine().next_deadline());
    const Duration left = *fixture.runtime->engine().next_deadline() - fixture.runtime->now();
    EXPECT_GT(left, Duration::seconds(3'000));
    EXPECT_LE(left, Duration::seconds(3'600));
  }
}

TEST(Runtime, KnownWorkerGetsNoLeaseBeforeItReconnects) {
  DaemonFixture fixture;
  {
    ScriptedWorker worker(fixture);
    worker.join();
  }
  fixture.restart();
  fixture.submit(small_search(1));
  pump_for(fixture.loop, 1'500ms);  // Longer than the interval between checks of the clock.
  EXPECT_EQ(only_experiment(fixture).running.size(), 0U);
  ScriptedWorker worker(fixture);
  worker.join();
  worker.wait_for<proto::Lease>();
}

TEST(Runtime, SilentWorkerLosesItsLeasesAndCanReconnect) {
  DaemonFixture fixture(engine::Patience{Duration::millis(500), Duration::millis(1'500)});
  fixture.submit(small_search(1));
  ScriptedWorker silent(fixture);
  silent.join();
  const auto first = silent.wait_for<proto::Lease>().spec.key;
  silent.send(proto::Started{first});
  fixture.pump_until([&] { return only_experiment(fixture).running.empty(); });
  fixture.pump_until([&] { return !fixture.runtime->engine().workers().begin()->second.present; });

  // A message on its old session is answered with a request for HELLO. No other worker has got its trial, so
  // it gets its attempt back, under a new lease.
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

TEST(Runtime, RestoreBarrierGrantsNoSlotsOfWorkersThatHaveNotReconnected) {
  DaemonFixture fixture(engine::Patience{Duration::seconds(2), Duration::seconds(3), Duration::seconds(300)});
  fixture.submit(small_search(2));
  ScriptedWorker missing(fixture, "missing");
  missing.slots = 2;
  missing.join();
  const auto key = missing.wait_for<proto::Lease>().spec.key;
  missing.send(proto::Started{key});
  fixture.pump_until(
      [&] { return fixture.runtime->engine().find(key.experiment, key.trial)->live->started; });
  missing.disconnect();
  fixture.restart();
  ScriptedWorker other(fixture, "other");
  other.join();
  pump_for(fixture.loop, 4'500ms);  // Longer than lost_after and the interval between checks of the clock.
  const engine::TrialRecord* trial = fixture.runtime->engine().find(key.experiment, key.trial);
  ASSERT_TRUE(trial->live);
  EXPECT_EQ(trial->live->key, key) << "a standstill of the daemon ends no lease";
  for (const proto::Lease& lease : other.all<proto::Lease>()) {
    EXPECT_NE(lease.spec.key.trial, key.trial);
  }
}

TEST(Runtime, ShortStandstillExpiresNoLease) {
  DaemonFixture fixture(engine::Patience{Duration::seconds(2), Duration::seconds(3)});
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  fixture.pump_until(
      [&] { return fixture.runtime->engine().find(key.experiment, key.trial)->live->started; });
  std::this_thread::sleep_for(3'500ms);  // The loop does not run: messages stay unread.
  pump_for(fixture.loop, 1'200ms);       // A check of the clock.
  EXPECT_EQ(only_experiment(fixture).running.size(), 1U);
}

TEST(Runtime, SilentWorkerGetsNoLeaseBeforeItsNextMessage) {
  DaemonFixture fixture(engine::Patience{Duration::seconds(1), Duration::seconds(600)});
  ScriptedWorker worker(fixture);
  worker.join();
  pump_for(fixture.loop, 3000ms);
  fixture.submit(small_search(1));
  pump_for(fixture.loop, 500ms);
  EXPECT_TRUE(worker.all<proto::Lease>().empty());
  worker.send(proto::Beat{});
  worker.wait_for<proto::Lease>();
}

TEST(Runtime, BeatsKeepAWorkerAlive) {
  DaemonFixture fixture(engine::Patience{Duration::seconds(1), Duration::seconds(3)});
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  for (int i = 0; i < 30; ++i) {
    worker.send(proto::Beat{});
    pump_for(fixture.loop, 150ms);
  }
  EXPECT_EQ(only_experiment(fixture).running.size(), 1U);
}

}  // namespace
}  // namespace hpsearch::daemon
