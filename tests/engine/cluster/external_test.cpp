#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/test_cluster.hpp"

// Trials that clients ask for (`workers: external`).

namespace hpsearch::engine {
namespace {

constexpr Duration lease = Duration::seconds(60);

class External : public testing::Test {
 protected:
  ExperimentId create(Value config) {
    (*config.as_map())["workers"] = "external";
    return cluster.create(std::move(config));
  }
  std::vector<AttemptKey> ask(ExperimentId id, std::uint64_t count = 1, const std::string& request = "") {
    return cluster.step(AskTrials{id, count, lease, request}).asked;
  }
  const ExperimentRecord& record(ExperimentId id) { return *cluster.engine.find(id); }
  /// As a client reports through the daemon.
  void send(const AttemptKey& key, std::vector<Report> reports) {
    const auto& live = cluster.engine.find(key.experiment, key.trial)->live;
    ASSERT_TRUE(live);
    const WorkerId worker = live->worker;
    const std::uint64_t seq = live->applied_seq + 1;
    cluster.step(TakeReports{worker, key, seq, std::move(reports)});
  }
  void report(const AttemptKey& key, std::uint64_t step, double score) {
    send(key, {MetricsReport{Units{step}, {{"score", score}}}});
  }
  void tell(const AttemptKey& key, int code = 0) {
    ExitReport exit;
    exit.code = code;
    send(key, {exit});
  }

  TestCluster cluster;
};

TEST_F(External, TrialsStartWhenAClientAsksAndNotBefore) {
  cluster.join("a", 8);
  const ExperimentId id = create(random_config(10, 4));
  EXPECT_EQ(record(id).trials.size(), 0U) << "no worker gets them";
  const auto keys = ask(id, 3);
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(record(id).running.size(), 3U);
  const WorkerId holder = cluster.trial(id, keys[0].trial.number()).live->worker;
  EXPECT_TRUE(is_external(cluster.engine.workers().at(holder)));
  EXPECT_EQ(ask(id, 5).size(), 1U) << "max_concurrent_trials";
  report(keys[0], 9, 0.5);
  tell(keys[0]);
  EXPECT_EQ(record(id).running.size(), 3U) << "a place that becomes free is nobody's before somebody asks";
  EXPECT_EQ(ask(id).size(), 1U);
  cluster.expect_replayable();
}

TEST_F(External, OtherExperimentsHaveNothingOfIt) {
  const ExperimentId own = cluster.create(random_config(4, 4));
  const ExperimentId id = create(random_config(4, 4));
  EXPECT_EQ(ask(id, 2).size(), 2U);
  EXPECT_EQ(record(own).trials.size(), 0U) << "it waits for a worker";
  EXPECT_EQ(cluster.refused(AskTrials{own, 1, lease}).code, Errc::wrong_state);
  EXPECT_EQ(cluster.refused(AskTrials{ExperimentId{9}, 1, lease}).code, Errc::not_found);
  EXPECT_EQ(cluster.refused(AskTrials{id, 0, lease}).code, Errc::bad_request);
  EXPECT_EQ(cluster.refused(AskTrials{id, most_trials_at_once + 1, lease}).code, Errc::bad_request);
  EXPECT_EQ(cluster.refused(AskTrials{id, 1, Duration{}}).code, Errc::bad_request);
  EXPECT_EQ(cluster.refused(JoinWorker{std::string(external_worker_uid), "a", 1, 8, "cpu", {}}).code,
            Errc::bad_request);
}

TEST_F(External, WaitsForAClientAndSaysSo) {
  const ExperimentId id = create(random_config(4, 4));
  const auto wait = waits_for(record(id), cluster.engine.workers(), cluster.now);
  ASSERT_TRUE(wait);
  EXPECT_TRUE(std::holds_alternative<WaitForClient>(*wait));
}

TEST_F(External, ALeaseThatIsNotRenewedIsLostAndItsTrialIsAskedForAgain) {
  const ExperimentId id = create(random_config(1, 1));
  const AttemptKey first = ask(id).at(0);
  report(first, 3, 0.5);
  cluster.step(ExpireExternal{{first}});
  ASSERT_EQ(all<AttemptLost>(cluster.log).size(), 1U);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::pending);
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U) << "as with a worker, it is not the program's failure";
  const AttemptKey second = ask(id).at(0);
  EXPECT_EQ(second.trial, first.trial);
  EXPECT_NE(second.lease, first.lease);
  const WorkerId worker = cluster.trial(id, 0).live->worker;
  const Effects late =
      cluster.step(TakeReports{worker, first, 2, {MetricsReport{Units{9}, {{"score", 0.1}}}}});
  EXPECT_NE(find_order<FenceAttempt>(late), nullptr);
  EXPECT_EQ(all<ReportTaken>(late.events).size(), 0U) << "who has lost the lease does not count";
  EXPECT_EQ(cluster.step(ExpireExternal{{first}}).events.size(), 0U) << "it is over";
  report(second, 9, 0.5);
  tell(second);
  EXPECT_EQ(record(id).state, ExperimentState::completed);
  cluster.expect_replayable();
}

TEST_F(External, KeepsTheLengthOfALeaseAndWhoAskedForIt) {
  const ExperimentId id = create(random_config(4, 4));
  const AttemptKey key = ask(id, 1, "abc").at(0);
  const Engine twin = cluster.replayed();
  const auto& kept = twin.find(id, key.trial)->live->external;
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->lease_for, lease);
  EXPECT_EQ(kept->request, "abc");
}

TEST_F(External, FailuresCountAsThoseOfPrograms) {
  const ExperimentId id = create(random_config(1, 1, Value::Map{{"max_restarts", 1}}));
  for (int i = 0; i < 2; ++i) {
    const auto keys = ask(id);
    ASSERT_EQ(keys.size(), 1U);
    report(keys[0], 1, 0.5);
    tell(keys[0], 1);
  }
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::failed);
  EXPECT_TRUE(ask(id).empty());
  cluster.expect_replayable();
}

TEST_F(External, FailuresPutNoWorkerInQuarantine) {
  cluster.join("a", 1);
  const ExperimentId good = create(random_config(1, 1));
  report(ask(good).at(0), 1, 0.5);
  const ExperimentId id = create(random_config(20, 20, Value::Map{{"max_restarts", 0}}));
  for (const AttemptKey& key : ask(id, 20)) {
    if (cluster.trial(id, key.trial.number()).live) {
      tell(key, 1);
    }
  }
  EXPECT_TRUE(all<WorkerQuarantined>(cluster.log).empty());
}

/// Many clients that report, end, fail and fall silent as a seed says: whatever happens, every limit holds
/// and the log is the state.
TEST_F(External, ClientsOfAllKindsKeepEveryLimit) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    cluster = TestCluster();
    std::mt19937_64 draw(seed);
    const auto below = [&draw](std::uint64_t most) { return draw() % most; };
    const int concurrent = 1 + static_cast<int>(below(12));
    const int trials = 30;
    const ExperimentId id = create(asha_config(trials, concurrent, seed % 2 == 0));
    std::vector<AttemptKey> held;
    std::set<LeaseId> leases;
    for (int turn = 0; turn < 20'000 && record(id).state == ExperimentState::active; ++turn) {
      cluster.now = cluster.now + Duration::millis(static_cast<std::int64_t>(below(2'000)));
      if (held.empty() || below(4) == 0) {
        const std::uint64_t wanted = 1 + below(5);
        const auto got = ask(id, wanted);
        ASSERT_LE(got.size(), wanted);
        for (const AttemptKey& key : got) {
          ASSERT_TRUE(leases.insert(key.lease).second) << "no lease is given twice";
        }
        held.insert(held.end(), got.begin(), got.end());
      } else {
        const std::size_t chosen = below(held.size());
        const AttemptKey key = held[chosen];
        const TrialRecord& trial = cluster.trial(id, key.trial.number());
        ASSERT_TRUE(trial.live && trial.live->key == key) << "who has not lost a lease has it";
        const std::uint64_t length =
            count(trial.live->decision ? trial.live->decision->length : trial.live->granted_length);
        const std::uint64_t kind = below(20);
        const bool ends = trial.live->is_ending() || kind < 2;
        if (kind == 3) {
          cluster.step(ExpireExternal{{key}});
        } else if (ends) {
          tell(key, kind == 1 && !trial.live->is_ending() ? 1 : 0);
        } else {
          const std::uint64_t step = std::min(length, count(trial.live->reached) + 1 + below(4));
          report(key, step, static_cast<double>(below(1'000)) / 1'000);
          continue;
        }
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(chosen));
      }
      ASSERT_LE(record(id).running.size(), static_cast<std::size_t>(concurrent));
      ASSERT_EQ(record(id).running.size(), held.size());
      ASSERT_LE(record(id).trials.size(), static_cast<std::size_t>(trials));
    }
    EXPECT_NE(record(id).state, ExperimentState::active) << "it comes to an end";
    EXPECT_TRUE(held.empty());
    cluster.expect_replayable();
  }
}

}  // namespace
}  // namespace hpsearch::engine
