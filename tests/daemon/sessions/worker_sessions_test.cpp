#include "daemon/sessions/worker_sessions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "daemon/daemon_fixture.hpp"
#include "messages.hpp"

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;

TEST(WorkerSessions, WelcomeOpensASession) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  const auto welcome = worker.join();
  EXPECT_EQ(welcome.worker, engine::WorkerId(1));
  EXPECT_GE(welcome.beat_every_ms, 1'000U);
  EXPECT_LE(welcome.beat_every_ms, 10'000U);
  EXPECT_EQ(worker.envelope.cluster, fixture.store->cluster());
  EXPECT_EQ(worker.envelope.daemon_epoch, 1U);
  EXPECT_EQ(worker.envelope.session_epoch >> 32U, 1U);
  EXPECT_TRUE(fixture.sessions->connected(engine::WorkerId(1)));
}

TEST(WorkerSessions, UnknownWorkerIsAskedForAHello) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.send(proto::Beat{});
  worker.wait_for<proto::Resync>();
  EXPECT_TRUE(fixture.runtime->engine().workers().empty());
}

TEST(WorkerSessions, NoiseIsDropped) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  for (const std::size_t size : {0U, 1U, 7U, 1'000U, 200'000U}) {
    proto::Bytes noise(size);
    for (std::size_t i = 0; i < size; ++i) {
      noise[i] = static_cast<std::byte>((i * 2'654'435'761U) >> 13U);
    }
    worker.send_bytes(noise);
  }
  worker.join();
  EXPECT_EQ(worker.heard.size(), 1U);
}

TEST(WorkerSessions, WorkerOfAnotherClusterIsRefused) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.envelope.cluster = fixture.store->cluster() + 1;
  worker.send_hello();
  EXPECT_NE(worker.wait_for<proto::Refused>().why.find("another"), std::string::npos);
  EXPECT_TRUE(fixture.runtime->engine().workers().empty());
}

TEST(WorkerSessions, WorkerOfALaterDaemonIsRefused) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.envelope.cluster = fixture.store->cluster();
  worker.envelope.daemon_epoch = 99;
  worker.send_hello();
  EXPECT_MESSAGE(worker.wait_for<proto::Refused>().why);
}

TEST(WorkerSessions, WorkerOfAnotherVersionIsRefused) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  auto hello = worker.greeting();
  hello.speaks_from = proto::wire_version + 1;
  hello.speaks_to = proto::wire_version + 5;
  worker.send(hello);
  EXPECT_NE(worker.wait_for<proto::Refused>().why.find("version"), std::string::npos);
}

TEST(WorkerSessions, ImpossibleWorkersAreRefused) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  auto hello = worker.greeting();
  hello.slots = std::uint64_t{1} << 60U;
  worker.send(hello);
  EXPECT_NE(worker.wait_for<proto::Refused>().why.find("slots"), std::string::npos);
  hello.slots = 1;
  hello.uid.clear();
  worker.send(hello);
  EXPECT_MESSAGE(worker.wait_for<proto::Refused>(2).why);
  EXPECT_TRUE(fixture.runtime->engine().workers().empty());
}

TEST(WorkerSessions, OldCopyOfAWorkerIsRefused) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.incarnation = 5;
  worker.join();
  ScriptedWorker copy(fixture);
  copy.incarnation = 4;
  copy.send_hello();
  copy.wait_for<proto::Refused>();
  EXPECT_TRUE(fixture.sessions->connected(engine::WorkerId(1)));
}

// It holds programs, so it retries for ever; the worker's own attempts run nowhere.
TEST(WorkerSessions, RetriesOfAnOldCopyAreNotBeats) {
  DaemonFixture fixture({.suspect_after = engine::Duration::millis(500),
                         .lost_after = engine::Duration::millis(1'500),
                         .after_start = {}});
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.incarnation = 9;
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  ScriptedWorker copy(fixture);
  copy.incarnation = 8;
  const auto end = std::chrono::steady_clock::now() + 6s;
  const auto lost = [&fixture, &key] {
    return !fixture.runtime->engine().find(key.experiment, key.trial)->live.has_value();
  };
  while (!lost() && std::chrono::steady_clock::now() < end) {
    copy.forget();
    copy.send_hello();
    copy.wait_for<proto::Refused>();
    pump_for(fixture.loop, 200ms);
  }
  EXPECT_TRUE(lost());
  fixture.pump_until(
      // Its session has ended, too.
      [&fixture] { return !fixture.sessions->connected(engine::WorkerId(1)); });
}

TEST(WorkerSessions, NewestSessionReplacesTheOlderOne) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker older(fixture);
  older.join();
  const auto key = older.wait_for<proto::Lease>().spec.key;
  older.forget();
  ScriptedWorker newer(fixture);
  newer.envelope.msg_no = older.envelope.msg_no;
  newer.join();
  EXPECT_GT(newer.envelope.session_epoch, older.envelope.session_epoch);
  EXPECT_EQ(newer.wait_for<proto::Lease>().spec.key, key);
  older.send(proto::Started{key});
  pump_for(fixture.loop, 100ms);
  EXPECT_TRUE(older.heard.empty());
  EXPECT_FALSE(fixture.runtime->engine().find(key.experiment, key.trial)->live->started);
  newer.send(proto::Started{key});
  fixture.pump_until(
      [&] { return fixture.runtime->engine().find(key.experiment, key.trial)->live->started; });
}

// Found by hpsearch-sim: a HELLO that was delayed on a closed connection names no attempts, which ended
// leases that were granted since.
TEST(WorkerSessions, ConnectionBelongsToOneWorker) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.join();
  auto other = worker.greeting();
  other.uid = "somebody-else";
  worker.forget();
  worker.send(other);
  EXPECT_EQ(worker.wait_for<proto::Welcome>().worker, engine::WorkerId(2));
  EXPECT_FALSE(fixture.sessions->connected(engine::WorkerId(1))) << "the first has no session any more";
  worker.send(proto::Goodbye{""});
  fixture.pump_until([&] { return !fixture.sessions->connected(engine::WorkerId(2)); });
  fixture.submit(small_search(1));  // Frames for either of them reach no session.
  EXPECT_FALSE(fixture.sessions->connected(engine::WorkerId(1)));
}

TEST(WorkerSessions, HelloOlderThanTheSessionsIsDropped) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  const auto late = proto::encode({.msg_no = 1}, worker.greeting());
  worker.envelope.msg_no = 1;
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  fixture.pump_until(
      [&] { return fixture.runtime->engine().find(key.experiment, key.trial)->live->started; });
  ScriptedWorker closed_connection(fixture);
  closed_connection.send_bytes(late);
  worker.send(proto::Reports{key, 1, {metrics_report(1, 0.5)}});
  worker.wait_for<proto::Ack>();
  EXPECT_TRUE(closed_connection.heard.empty());
  EXPECT_TRUE(fixture.runtime->engine().find(key.experiment, key.trial)->live.has_value());
}

// Found by hpsearch-sim: a restarted daemon does not know which HELLO was the last.
TEST(WorkerSessions, ReplayedHelloAfterARestartEndsNoLease) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  engine::AttemptKey key;
  {
    ScriptedWorker worker(fixture);
    worker.join();
    key = worker.wait_for<proto::Lease>().spec.key;
    worker.send(proto::Started{key});
    fixture.pump_until([&] {  // A crash before it is durable would forget the start.
      return fixture.runtime->engine().find(key.experiment, key.trial)->live->started &&
             fixture.runtime->idle();
    });
  }
  fixture.restart();
  ScriptedWorker played_back(fixture);
  EXPECT_EQ(played_back.join().hello, played_back.envelope.msg_no);
  EXPECT_EQ(fixture.runtime->engine().find(key.experiment, key.trial)->live->key, key);
  // The owner of that session has it, and really holds nothing.
  played_back.send(proto::Beat{});
  fixture.pump_until(
      [&] { return fixture.runtime->engine().find(key.experiment, key.trial)->attempts == 2; });
}

TEST(WorkerSessions, EarlierStartIsRefusedByItsOwnNumber) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.incarnation = 4;
  worker.join();  // Replayed over the connection of the start after it.
  worker.forget();
  ScriptedWorker later(fixture);
  later.incarnation = 5;
  later.join();
  EXPECT_EQ(worker.wait_for<proto::Refused>().incarnation, 4U)
      << "the later start, if that hears it, is not meant";
}

TEST(WorkerSessions, FramesOfAnEarlierSessionOfTheConnectionAreDropped) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  const auto stale = worker.envelope;
  worker.join();
  worker.wait_for<proto::Lease>();
  const auto current = std::exchange(worker.envelope, stale);
  worker.send(proto::Started{key});
  pump_for(fixture.loop, 100ms);
  EXPECT_FALSE(fixture.runtime->engine().find(key.experiment, key.trial)->live->started);
  worker.envelope = current;
}

TEST(WorkerSessions, LeaseNamesACheckpointDirectory) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  EXPECT_EQ(worker.wait_for<proto::Lease>().spec.checkpoint_root, "/checkpoints/default");
}

// Every store numbers its experiments from 1.
TEST(WorkerSessions, LeaseNamesDirectoriesOfTheStoreBelowUserPaths) {
  DaemonFixture fixture;
  engine::Value config = small_search(1);
  (*config.as_map())["checkpoint_storage"] =
      engine::Value::Map{{"host_path", "/shared"}, {"storage_path", "here"}};
  (*config.as_map())["outputs"] = engine::Value::Map{{"model", "/results"}, {"plots", engine::Value::Map{}}};
  fixture.submit(config);
  ScriptedWorker worker(fixture);
  worker.join();
  const auto spec = worker.wait_for<proto::Lease>().spec;
  const std::string own = std::to_string(fixture.runtime->cluster());
  EXPECT_EQ(spec.checkpoint_root, "/shared/here/" + own);
  ASSERT_EQ(spec.contract.outputs.size(), 2U);
  EXPECT_EQ(spec.contract.outputs[0].path, "/results/" + own);
  EXPECT_EQ(spec.contract.outputs[1].path, "") << "in the attempt's own directory";
  EXPECT_EQ(spec.environment_variables.at("HPSEARCH_STORE"), own);
}

TEST(WorkerSessions, LeaseIsRepeatedUntilItIsAcknowledged) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>(2).spec.key;
  worker.send(proto::Started{key});
  fixture.pump_until(
      [&] { return fixture.runtime->engine().find(key.experiment, key.trial)->live->started; });
  worker.forget();
  pump_for(fixture.loop, 2'100ms);
  EXPECT_TRUE(worker.all<proto::Lease>().empty());
}

TEST(WorkerSessions, DecisionIsRepeatedUntilItIsAcknowledged) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  worker.send(proto::Reports{key, 1, {metrics_report(4, 0.5)}});
  const auto again = worker.wait_for<proto::Decide>(2);
  worker.send(proto::DecisionAck{key, again.decision.id});
  pump_for(fixture.loop, 100ms);
  worker.forget();
  pump_for(fixture.loop, 2'100ms);
  EXPECT_TRUE(worker.all<proto::Decide>().empty());
}

TEST(WorkerSessions, AckWithoutTheLeaseDoesNotCount) {
  DaemonFixture fixture;
  const auto experiment = fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  static_cast<void>(fixture.runtime->perform(engine::CancelExperiment{experiment}));
  const auto decision = worker.wait_for<proto::Decide>();
  worker.send(
      // It came before the lease, which the worker does not have.
      proto::DecisionAck{key, decision.decision.id});
  pump_for(fixture.loop, 100ms);
  worker.forget();
  worker.send(proto::Started{key});  // The lease has arrived, and is not repeated.
  EXPECT_EQ(worker.wait_for<proto::Decide>().decision.id, decision.decision.id);
  EXPECT_TRUE(worker.all<proto::Lease>().empty());
  worker.send(proto::DecisionAck{key, decision.decision.id});
  pump_for(fixture.loop, 100ms);
  worker.forget();
  pump_for(fixture.loop, 2'100ms);
  EXPECT_TRUE(worker.all<proto::Decide>().empty());
}

TEST(WorkerSessions, NewSessionGetsTheUnacknowledgedDecision) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  worker.send(proto::Reports{key, 1, {metrics_report(4, 0.5)}});
  const auto decision = worker.wait_for<proto::Decide>();
  worker.connect();
  worker.held = {{key, false, 1, engine::Lsn(0)}};
  worker.join();
  EXPECT_EQ(worker.wait_for<proto::Decide>().decision.id, decision.decision.id);
  EXPECT_TRUE(worker.all<proto::Lease>().empty());
}

TEST(WorkerSessions, ReportsStayWithTheWorkerWhileThereIsNoRoom) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const engine::AttemptKey key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  worker.send(proto::Reports{key, 1, {metrics_report(1, 0.5)}});
  worker.wait_for<proto::Ack>();
  fixture.runtime->set_storage({.state = "exhausted", .intake = Intake::what_ends, .why = "no room"});
  const engine::Lsn before = fixture.runtime->engine().last_lsn();
  worker.send(proto::Reports{key, 2, {metrics_report(2, 0.25)}});
  worker.send_bytes(proto::encode(worker.envelope, proto::FromWorker(proto::Beat{})));
  pump_for(fixture.loop, std::chrono::milliseconds(50));
  EXPECT_EQ(worker.all<proto::Ack>().size(), 1U);
  EXPECT_EQ(worker.all<proto::RetryAfter>().size(), 1U) << "it was heard, and is to know";
  EXPECT_EQ(fixture.runtime->engine().last_lsn(), before);
  fixture.runtime->set_storage({});
  worker.send(proto::Reports{key, 2, {metrics_report(2, 0.25)}});
  EXPECT_EQ(worker.wait_for<proto::Ack>(2).upto, 2U);
}

TEST(WorkerSessions, ReportsOfEndingAttemptsAreAcceptedWithoutRoom) {
  DaemonFixture fixture;
  const engine::ExperimentId id = fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const engine::AttemptKey key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  pump_for(fixture.loop, std::chrono::milliseconds(50));
  fixture.runtime->set_storage({.state = "exhausted", .intake = Intake::what_ends, .why = "no room"});
  static_cast<void>(fixture.runtime->perform(engine::CancelExperiment{id}));
  worker.wait_for<proto::Decide>();
  worker.send(proto::Reports{key, 1, {metrics_report(1, 0.5), engine::ExitReport{}}});
  EXPECT_EQ(worker.wait_for<proto::Ack>().upto, 2U);
  EXPECT_EQ(fixture.runtime->engine().find(id)->state, engine::ExperimentState::canceled);
  worker.send(proto::Reports{key, 1, {metrics_report(1, 0.5), engine::ExitReport{}}});
  EXPECT_EQ(worker.wait_for<proto::Ack>(2).upto, 2U)
      << "what is over is acknowledged again, which stores nothing";
}

TEST(WorkerSessions, CreditFollowsTheBacklogOfTheDisk) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  fixture.reopen_gate({.checkpoint_root = "/checkpoints", .credit = {.calm_events = 2}});
  ScriptedWorker worker(fixture);
  EXPECT_EQ(worker.join().credit, 0U) << "as much as it likes";
  const engine::AttemptKey key = worker.wait_for<proto::Lease>().spec.key;
  const auto live = [&]() -> const engine::LiveAttempt& {
    return *fixture.runtime->engine().find(key.experiment, key.trial)->live;
  };
  worker.send(proto::Started{key});
  fixture.pump_until([&] { return live().started && fixture.runtime->idle(); });
  fixture.store->hold();
  worker.send(proto::Reports{key, 1, {metrics_report(1, 0.5)}});
  fixture.pump_until([&] { return live().applied_seq == 1; });
  fixture.store->wait_until_one_waits();
  worker.send(
      proto::Reports{key, 2, {metrics_report(2, 0.5), metrics_report(2, 0.4), metrics_report(3, 0.3)}});
  fixture.pump_until([&] { return live().applied_seq == 4; });
  fixture.store->let_one_go();
  EXPECT_EQ(worker.wait_for<proto::Ack>().credit, CreditRules{}.most / 2)
      << "three events are not on disk, and two are calm";
  fixture.store->let_go();
  EXPECT_EQ(worker.wait_for<proto::Ack>(2).credit, 0U);
}

TEST(WorkerSessions, CreditIsOneBatchWhileNoReportsAreAccepted) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  fixture.runtime->set_storage({.state = "low", .intake = Intake::no_experiments, .why = "little room"});
  EXPECT_EQ(worker.join().credit, 0U) << "reports are taken";
  fixture.runtime->set_storage({.state = "exhausted", .intake = Intake::what_ends, .why = "no room"});
  EXPECT_EQ(worker.join().credit, CreditRules{}.least);
  fixture.runtime->set_storage({});
  EXPECT_EQ(worker.join().credit, 0U);
}

TEST(WorkerSessions, CreditIsSharedByManyWorkers) {
  DaemonFixture fixture;
  fixture.reopen_gate({.checkpoint_root = "/checkpoints", .credit = {.under_way_bytes = CreditRules{}.most}});
  ScriptedWorker first(fixture, "uid-1");
  EXPECT_EQ(first.join().credit, 0U);
  ScriptedWorker second(fixture, "uid-2");
  EXPECT_EQ(second.join().credit, CreditRules{}.most / 2);
}

TEST(WorkerSessions, GapInReportsIsRequested) {
  DaemonFixture fixture;
  fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  worker.send(proto::Reports{key, 3, {metrics_report(3, 0.5)}});
  EXPECT_EQ(worker.wait_for<proto::Nack>().expect, 1U);
}

TEST(WorkerSessions, ManyHellosAtOnceAreDelayed) {
  DaemonFixture fixture;
  fixture.reopen_gate({.checkpoint_root = "/checkpoints", .hellos_per_second = 3});
  fixture.submit(small_search(1));
  ScriptedWorker working(fixture, "working");
  working.join();
  const engine::AttemptKey key = working.wait_for<proto::Lease>().spec.key;
  std::vector<std::unique_ptr<ScriptedWorker>> crowd;
  for (int i = 0; i < 30; ++i) {
    crowd.push_back(std::make_unique<ScriptedWorker>(fixture, "crowd-" + std::to_string(i)));
  }
  pump_for(fixture.loop, 100ms);  // Until they are connected.
  for (const auto& peer : crowd) {
    peer->send_hello();
  }
  working.send(proto::Reports{key, 1, {metrics_report(1, 0.5)}});
  EXPECT_EQ(working.wait_for<proto::Ack>().upto, 1U) << "a session that exists goes on";
  const auto welcomed = [&] {
    return std::count_if(crowd.begin(), crowd.end(),
                         [](const auto& peer) { return !peer->template all<proto::Welcome>().empty(); });
  };
  std::vector<std::uint64_t> waits;
  fixture.pump_until([&] {
    waits.clear();
    for (const auto& peer : crowd) {
      for (const proto::RetryAfter& retry : peer->all<proto::RetryAfter>()) {
        waits.push_back(retry.after_ms);
      }
    }
    return waits.size() + static_cast<std::size_t>(welcomed()) >= crowd.size();
  });
  EXPECT_LT(welcomed(), 15) << "3 a second";
  ASSERT_FALSE(waits.empty());
  const auto [least, most] = std::minmax_element(waits.begin(), waits.end());
  EXPECT_EQ(*least, 2'000U);
  EXPECT_GE(*most, 8'000U) << "it grows with the crowd";
  EXPECT_LE(*most, 30'000U);
  crowd.front()->forget();
  fixture.pump_until([&] {
    crowd.front()->send_hello();
    return !crowd.front()->all<proto::Welcome>().empty();
  });
}

TEST(WorkerSessions, TwoAgentsOnCopiesOfOneStateDirectoryAreBothRefused) {
  DaemonFixture fixture;
  ScriptedWorker original(fixture);
  original.pid = 100;
  original.join();
  ScriptedWorker copy(fixture);
  copy.pid = 200;
  copy.send_hello();
  EXPECT_MESSAGE(copy.wait_for<proto::Refused>().why);
  original.wait_for<proto::Refused>();
  EXPECT_FALSE(fixture.sessions->connected(engine::WorkerId(1)));
  EXPECT_FALSE(fixture.runtime->engine().workers().at(engine::WorkerId(1)).quarantined.empty());
  ScriptedWorker restarted(fixture);
  restarted.pid = 300;
  restarted.incarnation = 2;
  restarted.join();
  EXPECT_TRUE(fixture.sessions->connected(engine::WorkerId(1)));
}

TEST(WorkerSessions, TwoAgentsOnCopiesInContainersAreBothRefused) {
  DaemonFixture fixture;
  ScriptedWorker original(fixture);  // Each is process 1 of its own container, on one machine.
  original.pid = 1;
  original.nonce = 5;
  original.join();
  original.join();
  EXPECT_TRUE(fixture.sessions->connected(engine::WorkerId(1))) << "it is itself";
  ScriptedWorker copy(fixture);
  copy.pid = 1;
  copy.nonce = 6;
  copy.send_hello();
  EXPECT_MESSAGE(copy.wait_for<proto::Refused>().why);
  original.wait_for<proto::Refused>();
  EXPECT_FALSE(fixture.sessions->connected(engine::WorkerId(1)));
}

TEST(WorkerSessions, LaterStartOfAWorkerReplacesTheEarlier) {
  DaemonFixture fixture;
  ScriptedWorker earlier(fixture);
  earlier.join();
  ScriptedWorker later(fixture);
  later.incarnation = 2;
  later.join();
  EXPECT_MESSAGE(earlier.wait_for<proto::Refused>().why);
}

TEST(WorkerSessions, QuarantineIsSetAndEndedOverHttp) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.join();
  EXPECT_EQ(fixture.ask("POST", "/api/v1/workers/9/quarantine", "{}").status, 404U);
  EXPECT_EQ(fixture.ask("POST", "/api/v1/workers/1/quarantine", R"({"why":3})").status, 400U);
  EXPECT_EQ(fixture.ask("POST", "/api/v1/workers/1/quarantine", R"({"why":"a fan"})").at("quarantined"),
            R"("a fan")");
  fixture.submit(small_search(1));
  pump_for(fixture.loop, 50ms);
  EXPECT_TRUE(worker.all<proto::Lease>().empty());
  EXPECT_EQ(fixture.ask("POST", "/api/v1/workers/1/release", "{}").at("quarantined"), "null");
  worker.wait_for<proto::Lease>();
}

TEST(WorkerSessions, SlotsOfUnkillableProcessesAreFreedByABeatWithoutThem) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.join();
  fixture.submit(small_search(2));
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  const std::vector<engine::SlotIndex> slots{engine::SlotIndex{0}};
  engine::ExitReport exit{engine::ExitReport::Cause::ended_by_agent, 9, "process 7 survives SIGKILL", ""};
  exit.unkillable = true;
  worker.send(proto::Reports{key, 1, {exit}});
  worker.wait_for<proto::Ack>();
  worker.send(proto::Beat{{}, {{key, slots}}});
  const auto record = [&]() -> const engine::WorkerRecord& {
    return fixture.runtime->engine().workers().at(engine::WorkerId(1));
  };
  const auto answer = fixture.ask("GET", "/api/v1/workers");
  EXPECT_EQ(record().slots.free(), 0U);
  EXPECT_NE(answer.text.find(R"("slots_quarantined":1)"), std::string::npos) << answer.text;
  EXPECT_EQ(worker.all<proto::Lease>().size(), 1U);
  // A beat that was overtaken is out of date.
  const std::uint64_t newest = worker.envelope.msg_no;
  worker.envelope.msg_no = newest - 2;
  worker.send(proto::Beat{});
  pump_for(fixture.loop, 50ms);
  EXPECT_TRUE(record().leaked_processes.contains(key));
  EXPECT_EQ(worker.all<proto::Lease>().size(), 1U) << "the slot is not leased again";
  worker.envelope.msg_no = newest;
  worker.send(proto::Beat{});
  EXPECT_NE(worker.wait_for<proto::Lease>(2).spec.key, key) << "its slot is leased again";
  EXPECT_FALSE(worker.all<proto::Lease>().back().spec.despite_leaked_processes);
}

TEST(WorkerSessions, ReleaseFreesSlotsOfUnkillableProcesses) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.join();
  fixture.submit(small_search(2));
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  engine::ExitReport exit{engine::ExitReport::Cause::ended_by_agent, 9, "process 7 survives SIGKILL", ""};
  exit.unkillable = true;
  worker.send(proto::Reports{key, 1, {exit}});
  worker.wait_for<proto::Ack>();
  fixture.ask("POST", "/api/v1/workers/1/release", "{}");
  EXPECT_TRUE(worker.wait_for<proto::Lease>(2).spec.despite_leaked_processes);
}

TEST(WorkerSessions, ProgressOfBeatsIsShownAndNotStored) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  auto hello = worker.greeting();
  hello.kills_by = "process table";
  worker.send(hello);
  worker.wait_for<proto::Welcome>();
  fixture.submit(small_search(1));
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  fixture.pump_until(
      [&] { return fixture.runtime->engine().find(key.experiment, key.trial)->live->started; });
  const engine::Lsn before = fixture.runtime->engine().last_lsn();
  proto::Beat beat{{{key, engine::Units{3}, 2'000}}, {}};
  beat.progress[0].utilization =
      proto::Utilization{1'769'000'000'000, 10'000, 39'000, 2'147'483'648, {{2, 8'500, 600}}};
  worker.send(beat);
  fixture.pump_until(
      [&] { return fixture.sessions->last_activity_of(engine::WorkerId(1), key).has_value(); });
  const auto trial = fixture.ask("GET", "/api/v1/experiments/1/trials/0");
  EXPECT_EQ(trial.at("heard_step"), "3");
  EXPECT_NE(trial.at("heard_at"), "null");
  EXPECT_EQ(fixture.runtime->engine().last_lsn(), before);
  EXPECT_NE(fixture.ask("GET", "/api/v1/workers").text.find(R"("kills_by":"process table")"),
            std::string::npos);
  const auto shown = fixture.ask("GET", "/api/v1/workers/1");
  ASSERT_EQ(shown.count("loads"), 1U) << shown.text;
  const engine::Value& load = shown.body.at_path("loads")->as_list()->front();
  EXPECT_EQ(load.at_path("trial")->number_or(-1), 0);
  EXPECT_EQ(load.at_path("at")->number_or(0), 1'769'000'000);
  EXPECT_EQ(load.at_path("cores")->number_or(0), 3.9);
  EXPECT_EQ(load.at_path("memory_bytes")->number_or(0), 2'147'483'648);
  const engine::Value& device = load.at_path("devices")->as_list()->front();
  EXPECT_EQ(device.at_path("index")->number_or(0), 2);
  EXPECT_EQ(device.at_path("utilization")->number_or(0), 85);
  EXPECT_EQ(device.at_path("memory_bytes")->number_or(0), 600);

  beat.progress[0].utilization.reset();
  worker.send(beat);
  fixture.pump_until([&] { return fixture.ask("GET", "/api/v1/workers/1").count("loads") == 0; });
}

TEST(WorkerSessions, ShowHostVersionLastMessageAndCheckpointProblem) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  auto hello = worker.greeting();
  hello.host = "node-7";
  hello.version = "0.2.0";
  worker.send(hello);
  EXPECT_EQ(worker.wait_for<proto::Welcome>().checkpoint_root, "/checkpoints/default");
  const auto shown = [&] { return fixture.ask("GET", "/api/v1/workers/1"); };
  EXPECT_EQ(shown().at("host"), R"("node-7")");
  EXPECT_EQ(shown().at("version"), R"("0.2.0")");
  EXPECT_NE(shown().at("heard_at"), "null");
  EXPECT_EQ(shown().at("checkpoint_problem"), "null");
  proto::Beat beat;
  beat.checkpoint_problem = "/checkpoints/default is not there";
  testing::internal::CaptureStderr();
  worker.send(beat);
  fixture.pump_until([&] { return shown().at("checkpoint_problem") != "null"; });
  EXPECT_EQ(shown().at("checkpoint_problem"), R"("/checkpoints/default is not there")");
  worker.send(proto::Beat{});
  fixture.pump_until([&] { return shown().at("checkpoint_problem") == "null"; });
  const std::string log = testing::internal::GetCapturedStderr();
  const std::size_t cannot = log.find(
      "cannot store checkpoints of experiments without checkpoint_storage: /checkpoints/default is not "
      "there");
  EXPECT_NE(cannot, std::string::npos) << log;
  EXPECT_NE(log.find("can store checkpoints in ", cannot), std::string::npos) << log;
}

TEST(WorkerSessions, DrainingWorkerGetsNoLeaseOfATrialThatItReturned) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.join();
  fixture.submit(small_search(1));
  const auto key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  worker.send(proto::Beat{{}, {}, true});
  engine::ExitReport ended;
  ended.cause = engine::ExitReport::Cause::ended_by_agent;
  worker.send(proto::Reports{key, 1, {ended}});
  worker.wait_for<proto::Ack>();
  const auto* trial = fixture.runtime->engine().find(key.experiment, key.trial);
  EXPECT_EQ(trial->state, engine::TrialState::pending);
  EXPECT_FALSE(trial->live) << "it would wait for its goodbye";
  ScriptedWorker next(fixture);
  next.incarnation = worker.incarnation + 1;
  next.join();
  EXPECT_EQ(next.wait_for<proto::Lease>().spec.key.attempt, engine::AttemptNumber(2));
}

TEST(WorkerSessions, GoodbyeEndsTheSession) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  worker.join();
  worker.send(proto::Goodbye{"ordered to end"});
  fixture.pump_until([&] { return !fixture.runtime->engine().workers().begin()->second.present; });
  EXPECT_FALSE(fixture.sessions->connected(engine::WorkerId(1)));
  worker.forget();
  worker.send(proto::Beat{});
  worker.wait_for<proto::Resync>();
}

}  // namespace
}  // namespace hpsearch::daemon
