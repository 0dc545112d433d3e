#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

// Attempts that are over as soon as they are leased, without a failure of the trial: tried again, and not at
// once.

namespace hpsearch::engine {
namespace {

ExitReport lost(const std::string& why = "hpsearch-shim has died before it could start") {
  ExitReport report;
  report.cause = ExitReport::Cause::lost;
  report.message = why;
  return report;
}

ExitReport evicted() {
  ExitReport report;
  report.cause = ExitReport::Cause::ended_by_agent;
  report.message = "the worker ended before it started";
  return report;
}

ExitReport interrupted() {
  ExitReport report;
  report.code = 75;
  report.message = "exit status 75: it asks to be run again";
  return report;
}

class StartFailures : public testing::Test {
 protected:
  /// Whatever runs ends so, at once, until nothing runs any more.
  void end_all(const ExitReport& exit) {
    for (int left = 1'000; !cluster.attempts.empty() && left > 0; --left) {
      const AttemptKey key = cluster.attempts.begin()->first;
      cluster.send(key, exit);
      cluster.attempts.erase(key);
    }
    ASSERT_TRUE(cluster.attempts.empty()) << "it is leased again and again without a pause";
  }

  /// Time passes up to the next deadline, and how long that was.
  double wait() {
    const auto due = cluster.engine.next_deadline();
    EXPECT_TRUE(due.has_value()) << "nothing would ever wake it";
    const Duration span = due.value_or(cluster.now) - cluster.now;
    cluster.now = std::max(cluster.now, due.value_or(cluster.now));
    cluster.step(CheckTimers{});
    return span.in_seconds();
  }

  std::uint64_t leases() const {
    return static_cast<std::uint64_t>(
        std::count_if(cluster.log.begin(), cluster.log.end(),
                      [](const Event& event) { return std::holds_alternative<LeaseGranted>(event.body); }));
  }

  void expect_replay_stands_here() {
    Engine replayed = cluster.replayed();
    EXPECT_EQ(state_text(replayed), state_text(cluster.engine));
    for (const auto& [id, worker] : replayed.workers()) {
      replayed.set_suspect(id, false);
    }
    const auto later = replayed.step(CheckTimers{}, cluster.now + Duration::seconds(1'000));
    ASSERT_TRUE(later);
    EXPECT_FALSE(later->events.empty()) << "it leases again when its time has come";
  }

  TestCluster cluster;
};

TEST_F(StartFailures, WaitLongerEachTimeAlsoOnTheOnlyWorker) {
  cluster.join("only", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  end_all(lost());
  EXPECT_EQ(leases(), 2U) << "one is an accident: it is made good at once";
  std::vector<double> waits;
  for (int i = 0; i < 7; ++i) {
    waits.push_back(std::round(wait()));
    end_all(lost());
  }
  EXPECT_EQ(waits, (std::vector<double>{1, 2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U) << "its program has not failed";
  expect_replay_stands_here();
  EXPECT_EQ(std::round(wait()), 128);
}

TEST_F(StartFailures, MayTakeLongAsLongAsNoProgramBegan) {
  cluster.join("only", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  for (const double expected : {0.0, 1.0, 2.0, 4.0}) {
    const AttemptKey key = cluster.live(id, 0);
    cluster.now = cluster.now + Duration::seconds(400);  // Making ready takes its time.
    cluster.send(key, lost("no room for its process"));
    if (expected > 0) {
      ASSERT_FALSE(cluster.trial(id, 0).live) << "tried again without a pause";
      EXPECT_EQ(std::round(wait()), expected);
    }
  }
  const AttemptKey key = cluster.live(id, 0);
  cluster.step(ConfirmStart{cluster.attempts.at(key).worker, key});
  cluster.now = cluster.now + Duration::seconds(400);
  cluster.send(key, lost("its machine was restarted"));
  EXPECT_EQ(cluster.trial(id, 0).failure_history->last_culprit, WorkerId{})
      << "a program ran for a while: that is not the worker's doing";
}

TEST_F(StartFailures, AReportEndsThem) {
  const WorkerId only = cluster.join("only", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  end_all(lost());
  wait();
  cluster.report(cluster.live(id, 0), 1, 0.5);
  EXPECT_EQ(cluster.engine.workers().at(only).start_failures, 0U);
  EXPECT_FALSE(cluster.trial(id, 0).failure_history);
  cluster.send(cluster.live(id, 0), lost("its machine was restarted"));
  EXPECT_TRUE(cluster.trial(id, 0).live) << "it had begun: it goes on at once";
}

TEST_F(StartFailures, FailuresOfDifferentExperimentsLetTheirWorkerRest) {
  const WorkerId bad = cluster.join("bad", 1);
  cluster.join("good", 1);
  const ExperimentId first = cluster.create(random_config(1, 1));
  cluster.send(cluster.live(first, 0), lost());
  ASSERT_TRUE(cluster.trial(first, 0).live);
  EXPECT_NE(cluster.trial(first, 0).live->worker, bad) << "it is tried elsewhere";
  EXPECT_FALSE(rest_of(cluster.engine.workers().at(bad), cluster.now));
  const ExperimentId second = cluster.create(random_config(1, 1));
  ASSERT_EQ(cluster.trial(second, 0).live->worker, bad);
  cluster.send(cluster.live(second, 0), lost());
  EXPECT_EQ(cluster.engine.workers().at(bad).rests_until, cluster.now + Duration::seconds(1));
  cluster.now = cluster.now + Duration::millis(900);
  cluster.step(CheckTimers{});
  EXPECT_TRUE(cluster.engine.workers().at(bad).attempts.empty());
  expect_replay_stands_here();
}

// kill -9 $PPID kills the shim.
TEST_F(StartFailures, AProgramThatKillsItsShimDelaysItsTrialOnly) {
  const WorkerId a = cluster.join("a", 1);
  const WorkerId b = cluster.join("b", 1);
  const ExperimentId killer = cluster.create(random_config(1, 1));
  for (int i = 0; i < 8; ++i) {
    if (!cluster.trial(killer, 0).live) {
      wait();
    }
    cluster.send(cluster.live(killer, 0), lost("its shim was killed"));
    for (const WorkerId each : {a, b}) {
      EXPECT_FALSE(rest_of(cluster.engine.workers().at(each), cluster.now));
    }
  }
  EXPECT_GE(cluster.trial(killer, 0).failure_history->not_before - cluster.now, Duration::seconds(32));
  cluster.create(random_config(2, 2));
  EXPECT_EQ(cluster.engine.workers().at(a).attempts.size(), 1U) << "others don't wait for it";
  EXPECT_EQ(cluster.engine.workers().at(b).attempts.size(), 1U);
  cluster.expect_replayable();
}

TEST_F(StartFailures, TwoProgramsThatKillTheirShimsAreNoFailuresOfTheWorker) {
  const std::vector<WorkerId> workers{cluster.join("a", 1), cluster.join("b", 1)};
  const std::vector<ExperimentId> killers{cluster.create(random_config(3, 3)),
                                          cluster.create(random_config(3, 3))};
  for (int i = 0; i < 60; ++i) {
    cluster.now = cluster.now + Duration::seconds(20);
    cluster.step(CheckTimers{});
    end_all(lost("its shim was killed"));
    for (const WorkerId each : workers) {
      const auto rest = rest_of(cluster.engine.workers().at(each), cluster.now);
      EXPECT_LE(rest ? rest->remaining : Duration{}, Duration::seconds(60));
    }
  }
  cluster.expect_replayable();
}

// The other worker is busy, so that no trial shows that it ends as soon there.
TEST_F(StartFailures, LetTheirWorkerRestForAMinuteAtMost) {
  cluster.join("busy", 1);
  cluster.create(random_config(1, 1));
  const WorkerId bad = cluster.join("bad", 1);
  Duration longest;
  for (int i = 0; i < 12; ++i) {
    cluster.create(random_config(1, 1));
    while (cluster.engine.workers().at(bad).attempts.empty() && cluster.engine.next_deadline()) {
      wait();
    }
    ASSERT_FALSE(cluster.engine.workers().at(bad).attempts.empty());
    cluster.send(*cluster.engine.workers().at(bad).attempts.begin(), lost("its shim was killed"));
    const auto rest = rest_of(cluster.engine.workers().at(bad), cluster.now);
    longest = std::max(longest, rest ? rest->remaining : Duration{});
  }
  EXPECT_EQ(longest, Duration::seconds(60));
}

TEST_F(StartFailures, TheOnlyWorkerOfItsKindNeverRests) {
  const WorkerId only = cluster.join("only", 1);
  cluster.create(random_config(100, 1));
  cluster.create(random_config(100, 1));
  std::uint64_t most = 0;
  for (int i = 0; i < 60; ++i) {
    const auto& attempts = cluster.engine.workers().at(only).attempts;
    if (attempts.empty()) {
      wait();
      continue;
    }
    cluster.send(*attempts.begin(), lost("its shim was killed"));
    most = std::max(most, cluster.engine.workers().at(only).start_failures);
    EXPECT_FALSE(rest_of(cluster.engine.workers().at(only), cluster.now));
  }
  EXPECT_GT(most, 2U) << "or this test shows nothing";
}

TEST_F(StartFailures, AFailureThatRepeatsOnAnotherWorkerIsTakenBack) {
  const WorkerId a = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  cluster.send(cluster.live(id, 0), lost());
  EXPECT_EQ(cluster.engine.workers().at(a).start_failures, 1U);
  const WorkerId b = cluster.join("b", 1);
  cluster.send(cluster.live(id, 0), lost());
  wait();
  ASSERT_TRUE(cluster.trial(id, 0).live);
  ASSERT_EQ(cluster.trial(id, 0).live->worker, b);
  cluster.send(cluster.live(id, 0), lost());
  EXPECT_EQ(cluster.engine.workers().at(a).start_failures, 0U);
  EXPECT_EQ(cluster.engine.workers().at(b).start_failures, 0U);
}

// No worker is idle for more than a minute because of them.
TEST_F(StartFailures, KeepTheirPlaceFromOtherTrialsNotForLong) {
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(100, 1));
  Duration idle;
  Duration longest;
  for (int i = 0; i < 1'000; ++i) {
    if (cluster.attempts.empty()) {
      idle = idle + Duration::micros(static_cast<std::int64_t>(wait() * 1e6));
      longest = std::max(longest, idle);
      continue;
    }
    idle = Duration{};
    const AttemptKey key = cluster.attempts.begin()->first;
    if (key.trial == TrialNumber(1)) {
      cluster.send(key, lost("its shim was killed"));
      cluster.attempts.erase(key);
      if (is_closed(cluster.trial(id, 1).state)) {
        break;
      }
      continue;
    }
    cluster.now = cluster.now + Duration::seconds(20);
    cluster.report(key, 9, 0.5);
    cluster.exit(key);
  }
  EXPECT_TRUE(is_closed(cluster.trial(id, 1).state));
  EXPECT_LE(longest, Duration::seconds(60));
}

TEST_F(StartFailures, EarlierAttemptsDoNotCountForTheWorker) {
  const WorkerId worker = cluster.join("w", 2);
  const ExperimentId old = cluster.create(random_config(1, 1));
  cluster.report(cluster.live(old, 0), 1, 0.5);
  const AttemptKey well = cluster.live(old, 0);
  const ExperimentId id = cluster.create(random_config(1, 1));
  for (int i = 0; i < 3; ++i) {
    cluster.send(cluster.live(id, 0), lost());
    cluster.report(well, 2 + static_cast<std::uint64_t>(i), 0.5);
    if (!cluster.trial(id, 0).live) {
      wait();
    }
  }
  EXPECT_EQ(cluster.engine.workers().at(worker).start_failures, 1U) << "one experiment says so";
}

TEST_F(StartFailures, FailuresOfAttemptsThatWereLeasedTogetherCountOnce) {
  const WorkerId worker = cluster.join("w", 8);
  cluster.create(random_config(8, 8));
  cluster.step(JoinWorker{"w", "w", 2, 8, "cpu", {}});
  EXPECT_EQ(cluster.engine.workers().at(worker).start_failures, 1U) << "its agent was restarted once";
  EXPECT_EQ(cluster.engine.workers().at(worker).attempts.size(), 8U) << "and has them again at once";
}

TEST_F(StartFailures, AProgramThatAsksToBeRunAgainIsNoFailureOfTheWorker) {
  const WorkerId worker = cluster.join("w", 2);
  const ExperimentId id = cluster.create(random_config(50, 2));
  end_all(interrupted());
  EXPECT_EQ(cluster.engine.workers().at(worker).start_failures, 0U);
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 2U) << "those that wait keep their places";
  const ExperimentId other = cluster.create(random_config(1, 1));
  EXPECT_TRUE(cluster.trial(other, 0).live) << "nobody else waits for it";
  expect_replay_stands_here();
}

TEST_F(StartFailures, APausedTrialWaitsOnWhenItIsResumed) {
  cluster.join("w", 2);
  const ExperimentId id = cluster.create(random_config(1, 1));
  end_all(interrupted());
  cluster.step(PauseExperiment{id});
  cluster.step(ResumeExperiment{id});
  EXPECT_FALSE(cluster.trial(id, 0).live) << "two in a row";
  wait();
  EXPECT_TRUE(cluster.trial(id, 0).live);
}

// A worker that goes away says so and gets no leases; one that ends what it gets and asks for more has a
// fault.
TEST_F(StartFailures, AWorkerThatEndsWhatItGetsRestsAndIsTriedAtOnceWhenReleased) {
  const WorkerId worker = cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  end_all(evicted());
  EXPECT_EQ(cluster.trial(id, 0).failure_history.has_value(), false)
      << "nothing of it is the trial's failure";
  const auto rest = rest_of(cluster.engine.workers().at(worker), cluster.now);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->start_failures, 2U);
  EXPECT_GT(rest->remaining, Duration{});
  EXPECT_LE(rest->remaining, Duration::seconds(1));
  const ExperimentId other = cluster.create(random_config(1, 1));
  EXPECT_FALSE(cluster.engine.find(other)->running.contains(TrialNumber(0)));
  const auto of_other = waits_for(*cluster.engine.find(other), cluster.engine.workers(), cluster.now);
  ASSERT_TRUE(of_other && std::holds_alternative<WaitForRestingWorkers>(*of_other));
  EXPECT_EQ(std::get<WaitForRestingWorkers>(*of_other).remaining,
            rest_of(cluster.engine.workers().at(worker), cluster.now)->remaining);
  cluster.step(ReleaseWorker{worker});
  EXPECT_FALSE(cluster.engine.workers().at(worker).attempts.empty());
  cluster.expect_replayable();
}

TEST_F(StartFailures, AreExplained) {
  const WorkerId worker = cluster.join("gpu-7", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  end_all(lost());
  const auto& workers = cluster.engine.workers();
  const auto wait_of_trial = [&] {
    return std::get<NextSlots>(explain(*cluster.engine.find(id), TrialNumber(0), workers, cluster.now).next)
        .wait;
  };
  const auto retry = std::get<WaitForRetry>(wait_of_trial());
  EXPECT_EQ(retry.fruitless, 2U);
  EXPECT_EQ(retry.worker, "gpu-7");
  EXPECT_EQ(retry.why, "hpsearch-shim has died before it could start");
  EXPECT_GT(retry.remaining, Duration{});
  EXPECT_LE(retry.remaining, Duration::seconds(1));
  const auto of_experiment = waits_for(*cluster.engine.find(id), workers, cluster.now);
  ASSERT_TRUE(of_experiment && std::holds_alternative<WaitForRetry>(*of_experiment));
  EXPECT_EQ(std::get<WaitForRetry>(*of_experiment).trial, TrialNumber(0));
  EXPECT_FALSE(rest_of(workers.at(worker), cluster.now)) << "it is the last one";
  cluster.step(PauseExperiment{id});
  EXPECT_TRUE(std::holds_alternative<WaitForResume>(wait_of_trial()));
}

}  // namespace
}  // namespace hpsearch::engine
