#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "daemon/daemon_fixture.hpp"

// Attempts that workers hold and the store does not know: they keep running until an operator decides.

namespace hpsearch::daemon {
namespace {

TEST(WorkerSessions, UnknownAttemptIsHeldNotKilled) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  const engine::AttemptKey foreign{engine::ExperimentId(77), engine::TrialNumber(0), engine::AttemptNumber(1),
                                   engine::LeaseId(500)};
  worker.held = {{foreign, false, 3, engine::Lsn(0)}};
  const auto welcome = worker.join();
  ASSERT_EQ(welcome.attempts.size(), 1U);
  EXPECT_EQ(welcome.attempts[0].fate, engine::WelcomeWorker::Fate::hold);
  worker.send(proto::Reports{foreign, 1, {metrics_report(1, 0.5)}});
  worker.wait_for<proto::Hold>();
}

TEST(WorkerSessions, AttemptOnHoldIsAdoptedOrDisownedByAnOperator) {
  DaemonFixture fixture;
  const engine::ExperimentId id = fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  // From the future of an older store: a trial that this one has, under a lease that it never granted.
  const engine::AttemptKey known{id, engine::TrialNumber(0), engine::AttemptNumber(5),
                                 engine::LeaseId(90'000)};
  const engine::AttemptKey foreign{engine::ExperimentId(77), engine::TrialNumber(0), engine::AttemptNumber(1),
                                   engine::LeaseId(90'001)};
  ScriptedWorker first(fixture, "first");  // Creates the trial, and disconnects.
  first.join();
  first.wait_for<proto::Lease>();
  worker.held = {{known, false, 3, engine::Lsn(0), 4, {engine::SlotIndex(0)}, engine::Units{9}},
                 {foreign, false, 0, engine::Lsn(0), 1, {}, engine::Units{9}}};
  const auto welcome = worker.join();
  ASSERT_EQ(welcome.attempts.size(), 2U);
  EXPECT_EQ(welcome.attempts[0].fate, engine::WelcomeWorker::Fate::hold);
  const std::string path = "/api/v1/workers/2/attempts/";
  EXPECT_EQ(fixture.ask("GET", "/api/v1/workers").count("workers"), 2U);
  EXPECT_EQ(fixture.ask("POST", path + "77/0/2/disown", "{}").status, 404U);
  EXPECT_EQ(fixture.ask("POST", path + "77/0/1/adopt", "{}").status, 404U) << "no such trial here";
  EXPECT_EQ(fixture.ask("POST", path + "77/0/1/disown", "{}").status, 200U);
  EXPECT_EQ(worker.wait_for<proto::Fenced>().key, foreign);
  const auto adopted = fixture.ask("POST", path + std::to_string(id.number()) + "/0/5/adopt", "{}");
  EXPECT_EQ(adopted.status, 200U) << adopted.text;
  worker.wait_for<proto::Resync>();
  worker.held = {worker.held[0]};
  const auto again = worker.join();
  EXPECT_EQ(again.attempts[0].fate, engine::WelcomeWorker::Fate::go_on);
  EXPECT_EQ(again.attempts[0].upto, 3U);
  EXPECT_NE(again.attempts[0].lease, engine::LeaseId{});
  EXPECT_EQ(first.wait_for<proto::Fenced>().key.trial, engine::TrialNumber(0)) << "it had not started";
}

TEST(WorkerSessions, AttemptDisownedWhileDisconnectedEndsAfterTheReconnect) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  const engine::AttemptKey foreign{engine::ExperimentId(77), engine::TrialNumber(0), engine::AttemptNumber(1),
                                   engine::LeaseId(90'001)};
  worker.held = {{foreign, false, 0, engine::Lsn(0), 1, {}, engine::Units{9}}};
  worker.join();
  worker.send(proto::Goodbye{"until later"});
  fixture.pump_until([&] { return !fixture.sessions->connected(engine::WorkerId(1)); });
  const std::string path = "/api/v1/workers/1/attempts/77/0/1/disown";
  EXPECT_EQ(fixture.ask("POST", path, "{}").status, 200U);
  EXPECT_EQ(fixture.ask("POST", path, "{}").status, 404U) << "it is not on hold any more";
  const auto welcome = worker.join();
  ASSERT_EQ(welcome.attempts.size(), 1U);
  EXPECT_EQ(welcome.attempts[0].fate, engine::WelcomeWorker::Fate::fenced);
}

TEST(WorkerSessions, LeaseSelectsOneOfSeveralAttemptsOnHold) {
  DaemonFixture fixture;
  ScriptedWorker worker(fixture);
  constexpr std::uint64_t from = std::uint64_t{1} << 47U;
  for (const std::uint64_t lease :
       {std::uint64_t{90'000}, from, from + 7}) {  // The store was restored twice.
    const engine::AttemptKey key{engine::ExperimentId(3), engine::TrialNumber(0), engine::AttemptNumber(1),
                                 engine::LeaseId(lease)};
    worker.held.push_back({key, false, 3, engine::Lsn(0), 4, {}, engine::Units{9}});
  }
  worker.join();
  const std::string path = "/api/v1/workers/1/attempts/3/0/1/disown";
  const auto refused = fixture.ask("POST", path, "{}");
  EXPECT_EQ(refused.status, 400U);
  EXPECT_NE(refused.text.find("which: 90000, " + std::to_string(from) + ", " + std::to_string(from + 7)),
            std::string::npos)
      << refused.text;
  EXPECT_EQ(fixture.ask("POST", path + "?lease=5", "{}").status, 404U);
  EXPECT_EQ(fixture.ask("POST", path + "?lease=x", "{}").status, 400U);
  const auto disowned = fixture.ask("POST", path + "?lease=" + std::to_string(from), "{}");
  EXPECT_EQ(disowned.status, 200U) << disowned.text;
  EXPECT_EQ(worker.wait_for<proto::Fenced>().key, worker.held[1].key);
  EXPECT_NE(disowned.text.find("\"1." + std::to_string(from + 7) + "\""), std::string::npos) << disowned.text;
  EXPECT_EQ(disowned.text.find("\"1." + std::to_string(from) + "\""), std::string::npos)
      << "it is not on hold any more";
}

}  // namespace
}  // namespace hpsearch::daemon
