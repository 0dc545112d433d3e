#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

// Attempts that end without a report, for whatever reason: a trial has ten of them in a row, further and
// further apart.

namespace hpsearch::engine {
namespace {

using Cause = ExitReport::Cause;

ExitReport exit_of(Cause cause, int code, std::string message) {
  ExitReport report;
  report.cause = cause;
  report.code = code;
  report.message = std::move(message);
  return report;
}

class FruitlessAttempts : public testing::Test {
 protected:
  FruitlessAttempts() { cluster.join("w", 1); }

  /// Its failures alone never end a trial.
  ExperimentId create() {
    return cluster.create(random_config(1, 1, Value::Map{{"max_restarts", 1'000'000}}));
  }

  /// Until the trial runs, which it must do by itself. What that took is noted.
  void wait_for_lease(ExperimentId id) {
    const Instant before = cluster.now;
    for (int looks = 0; looks < 10 && !cluster.trial(id, 0).live; ++looks) {
      const auto due = cluster.engine.next_deadline();
      ASSERT_TRUE(due.has_value()) << "nothing would ever wake it";
      cluster.now = std::max(cluster.now, *due);
      cluster.step(CheckTimers{});
    }
    ASSERT_TRUE(cluster.trial(id, 0).live);
    waits.push_back((cluster.now - before).in_seconds());
  }

  /// Attempts end as `end` says until the trial has ended or 50 were seen. How many it took.
  std::uint64_t end_each(ExperimentId id, const std::function<void(const AttemptKey&)>& end) {
    std::uint64_t ended = 0;
    while (ended < 50 && !is_closed(cluster.trial(id, 0).state)) {
      wait_for_lease(id);
      if (!cluster.trial(id, 0).live) {
        break;
      }
      end(cluster.live(id, 0));
      ++ended;
    }
    return ended;
  }

  void exit_as(const AttemptKey& key, const ExitReport& report) {
    cluster.send(key, report);
    cluster.attempts.erase(key);
  }

  void expect_given_up(ExperimentId id, const std::string& last) {
    const TrialRecord& trial = cluster.trial(id, 0);
    EXPECT_EQ(trial.state, TrialState::failed);
    EXPECT_EQ(trial.reason.detail(), "10 attempts in a row ended without a report; the last: " + last);
    EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::failed);
    cluster.expect_replayable();
  }

  static HeldAttempt held_as(const AttemptKey& key) {
    HeldAttempt held;
    held.key = key;
    held.first_seq = 1;
    held.slots = {SlotIndex{0}};
    return held;
  }

  TestCluster cluster;
  std::vector<double> waits;
};

TEST_F(FruitlessAttempts, AreTenHoweverTheyEnd) {
  const std::vector<ExitReport> ends = {
      exit_of(Cause::lost, 0, "cannot create a name of the context"),
      exit_of(Cause::exited, 75, "exit status 75: it asks to be run again"),
      exit_of(Cause::signaled, 9, "ended by signal 9"),
      exit_of(Cause::out_of_memory, 9, "its memory limit was reached"),
      exit_of(Cause::no_progress, 0, "no report for 60 s"),
  };
  for (const ExitReport& end : ends) {
    SCOPED_TRACE(end.message);
    cluster = TestCluster();
    cluster.join("w", 1);
    const ExperimentId id = create();
    EXPECT_EQ(end_each(id, [&](const AttemptKey& key) { exit_as(key, end); }), 10U);
    expect_given_up(id, end.message);
  }
}

TEST_F(FruitlessAttempts, AreFurtherAndFurtherApart) {
  const ExperimentId id = create();
  end_each(id,
           [&](const AttemptKey& key) { exit_as(key, exit_of(Cause::signaled, 9, "ended by signal 9")); });
  ASSERT_EQ(waits.size(), 10U);
  const std::vector<double> expected = {0, 0, 1, 2, 4, 8, 16, 32, 64, 128};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    EXPECT_NEAR(waits[i], expected[i], 0.1) << "attempt " << i + 1;
  }
}

TEST_F(FruitlessAttempts, AreTenWhenTheirAgentIsRestartedWithoutThem) {
  std::uint64_t incarnation = 1;
  const ExperimentId id = create();
  EXPECT_EQ(end_each(id, [&](const AttemptKey&) { cluster.join("w", 1, ++incarnation); }), 10U);
  expect_given_up(id, "its worker was restarted and does not run it any more");
}

// An eviction is no failure of the trial: drain, wall time, preemption, give-back.
TEST_F(FruitlessAttempts, EvictionsByAWorkerDoNotCount) {
  const ExperimentId id = create();
  EXPECT_EQ(end_each(id,
                     [&](const AttemptKey& key) {
                       exit_as(key, exit_of(Cause::ended_by_agent, 0, "the worker ended before it started"));
                     }),
            50U);
  EXPECT_FALSE(cluster.trial(id, 0).failure_history);
  cluster.expect_replayable();
}

TEST_F(FruitlessAttempts, EndsByALeavingWorkerDoNotCount) {
  const ExperimentId id = create();
  EXPECT_EQ(end_each(id,
                     [&](const AttemptKey&) {
                       cluster.step(LoseWorker{WorkerId(1), "asked to stop"});
                       cluster.join("w", 1);
                     }),
            50U);
  EXPECT_FALSE(cluster.trial(id, 0).failure_history);
  cluster.expect_replayable();
}

TEST_F(FruitlessAttempts, AnEvictionInBetweenChangesNothing) {
  const ExperimentId id = create();
  int number = 0;
  EXPECT_EQ(end_each(id,
                     [&](const AttemptKey& key) {
                       exit_as(key, ++number % 2 == 0 ? exit_of(Cause::ended_by_agent, 0, "")
                                                      : exit_of(Cause::signaled, 9, "ended by signal 9"));
                     }),
            19U);
  expect_given_up(id, "ended by signal 9");
}

TEST_F(FruitlessAttempts, AreTenWhenTheirWorkerIsSilentEachTime) {
  const ExperimentId id = create();
  const std::uint64_t ended = end_each(id, [&](const AttemptKey&) {
    const Instant heard = cluster.now;
    cluster.now = cluster.now + Duration::seconds(100);
    cluster.step(ExpireLeases{WorkerId(1), heard, Duration::seconds(60), Duration{}});
    cluster.join("w", 1);
  });
  EXPECT_EQ(ended, 10U);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::failed);
  cluster.expect_replayable();
}

TEST_F(FruitlessAttempts, AReportLetsThemBeginAnew) {
  const ExperimentId id = create();
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 9; ++i) {
      wait_for_lease(id);
      exit_as(cluster.live(id, 0), exit_of(Cause::lost, 0, "no room"));
    }
    wait_for_lease(id);
    cluster.report(cluster.live(id, 0), 1, 0.5);
    EXPECT_FALSE(cluster.trial(id, 0).failure_history);
    exit_as(cluster.live(id, 0), exit_of(Cause::lost, 0, "its machine was restarted"));
    EXPECT_TRUE(cluster.trial(id, 0).live) << "it had reported: it goes on at once";
  }
  cluster.expect_replayable();
}

TEST_F(FruitlessAttempts, ANoteIsNoReport) {
  const ExperimentId id = create();
  const std::uint64_t ended = end_each(id, [&](const AttemptKey& key) {
    cluster.send(key, NoteReport{"misunderstood", "a message of the program was not understood"});
    exit_as(key, exit_of(Cause::signaled, 9, "ended by signal 9"));
  });
  EXPECT_EQ(ended, 10U);
}

TEST_F(FruitlessAttempts, EndsByAPauseDoNotCount) {
  const ExperimentId id = create();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(cluster.trial(id, 0).live);
    const AttemptKey key = cluster.live(id, 0);
    cluster.step(PauseExperiment{id});
    exit_as(key, exit_of(i % 2 == 0 ? Cause::exited : Cause::lost, 75, "told to pause"));
    cluster.step(ResumeExperiment{id});
  }
  EXPECT_TRUE(cluster.trial(id, 0).live) << "it waits for nothing";
  cluster.expect_replayable();
}

TEST_F(FruitlessAttempts, EndsByLoweredLimitsDoNotCount) {
  cluster.join("w", 2, 2);
  const ExperimentId id = cluster.create(random_config(2, 2));
  for (int i = 0; i < 20; ++i) {
    cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 1}}}}});
    for (std::uint64_t trial = 0; trial < 2; ++trial) {
      if (cluster.trial(id, trial).live && cluster.trial(id, trial).live->is_ending()) {
        exit_as(cluster.live(id, trial), exit_of(Cause::exited, 0, ""));
      }
    }
    EXPECT_EQ(cluster.engine.find(id)->running.size(), 1U);
    cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 2}}}}});
    ASSERT_EQ(cluster.engine.find(id)->running.size(), 2U);
  }
}

TEST_F(FruitlessAttempts, AttemptsThatAnAgentStillHasDoNotCount) {
  const ExperimentId id = create();
  const AttemptKey key = cluster.live(id, 0);
  for (std::uint64_t incarnation = 2; incarnation < 22; ++incarnation) {
    cluster.join("w", 1, incarnation, {held_as(key)});
    ASSERT_EQ(cluster.live(id, 0), key);
  }
  EXPECT_FALSE(cluster.trial(id, 0).failure_history);
}

TEST_F(FruitlessAttempts, AttemptsOfASilentWorkerThatComesBackDoNotCount) {
  const ExperimentId id = create();
  const AttemptKey known_as = cluster.live(id, 0);
  cluster.step(ConfirmStart{WorkerId(1), known_as});
  for (int i = 0; i < 20; ++i) {
    const HeldAttempt there = held_as(known_as);
    const Instant heard = cluster.now;
    cluster.now = cluster.now + Duration::seconds(10'000);
    cluster.step(ExpireLeases{WorkerId(1), heard, Duration::seconds(60), Duration{}});
    ASSERT_FALSE(is_closed(cluster.trial(id, 0).state)) << i;
    cluster.join("w", 1, 1, {there});
    ASSERT_TRUE(cluster.trial(id, 0).live && cluster.trial(id, 0).live->known_as() == known_as) << i;
  }
  cluster.expect_replayable();
}

TEST_F(FruitlessAttempts, AreExplained) {
  const ExperimentId id = create();
  for (int i = 0; i < 3; ++i) {
    wait_for_lease(id);
    exit_as(cluster.live(id, 0), exit_of(Cause::signaled, 9, "ended by signal 9"));
  }
  const auto explained = [&] {
    return explain(*cluster.engine.find(id), TrialNumber(0), cluster.engine.workers(), cluster.now);
  };
  const auto retry = std::get<WaitForRetry>(std::get<NextSlots>(explained().next).wait);
  EXPECT_EQ(retry.fruitless, 3U);
  EXPECT_EQ(retry.why, "ended by signal 9");
  EXPECT_NEAR(retry.remaining.in_seconds(), 2, 0.1);
  wait_for_lease(id);
  EXPECT_EQ(std::get<NowTrains>(explained().now).fruitless, 3U);
  cluster.report(cluster.live(id, 0), 1, 0.5);
  EXPECT_EQ(std::get<NowTrains>(explained().now).fruitless, 0U);
}

}  // namespace
}  // namespace hpsearch::engine
