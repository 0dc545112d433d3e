#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "engine/test_cluster.hpp"

// Budgets and pauses run on engine time. It stands still while there is no daemon, whatever the wall clock
// says afterwards.

namespace hpsearch::engine {
namespace {

class EngineTime : public testing::Test {
 protected:
  ExperimentId create(const std::string& field, Value limit) {
    return cluster.create(random_config(1, 1, Value::Map{{"budget", Value::Map{{field, std::move(limit)}}}}));
  }

  void pass(Duration span) {
    cluster.now = cluster.now + span;
    cluster.step(CheckTimers{});
  }

  /// The daemon is killed. The next one starts when the wall clock shows `later` more than its last event.
  void restart(Duration later) {
    Engine next = cluster.replayed();
    for (const auto& [id, worker] : next.workers()) {
      next.set_suspect(id, false);
    }
    cluster.engine = std::move(next);
    cluster.now = cluster.engine.last_instant() + later;
    cluster.step(ContinueTime{});
  }

  ExperimentState state(ExperimentId id) const { return cluster.engine.find(id)->state; }

  TestCluster cluster;
};

constexpr Duration day = Duration::seconds(86'400);
constexpr Duration ten_years = Duration::seconds(315'360'000);

TEST_F(EngineTime, MaxTimeLastsAsLongAsDaemonsRan) {
  cluster.join("w", 1);
  const ExperimentId id = create("max_time", 3'600);
  for (const Duration away : {day, Duration::millis(1), ten_years}) {
    pass(Duration::seconds(1'000));
    cluster.step(NoteTime{});
    restart(away);
    EXPECT_EQ(state(id), ExperimentState::active);
  }
  pass(Duration::seconds(590));
  EXPECT_EQ(state(id), ExperimentState::active);
  ASSERT_TRUE(cluster.engine.next_deadline());
  EXPECT_NEAR((*cluster.engine.next_deadline() - cluster.now).in_seconds(), 10, 0.1);
  pass(Duration::seconds(11));
  EXPECT_NE(state(id), ExperimentState::active);
  EXPECT_EQ(cluster.engine.find(id)->reason, "budget.max_time of 3600.0 s is over");
  cluster.expect_replayable();
}

TEST_F(EngineTime, SlotHoursDoNotGrowWithoutADaemon) {
  cluster.join("w", 1);
  const ExperimentId id = create("max_slot_hours", 1);
  pass(Duration::seconds(1'000));
  cluster.step(NoteTime{});
  restart(day);
  EXPECT_EQ(state(id), ExperimentState::active);
  EXPECT_NEAR(cluster.engine.find(id)->slot_time.until(cluster.now).in_seconds(), 1'000, 0.1);
  pass(Duration::seconds(2'590));
  EXPECT_EQ(state(id), ExperimentState::active);
  pass(Duration::seconds(11));
  EXPECT_NE(state(id), ExperimentState::active);
  cluster.exit(cluster.live(id, 0));
  EXPECT_NEAR(cluster.trial(id, 0).busy.in_seconds(), 3'601, 0.1);
  cluster.expect_replayable();
}

TEST_F(EngineTime, AClockThatIsBehindAfterARestartProlongsNothing) {
  cluster.join("w", 1);
  const ExperimentId id = create("max_time", 3'600);
  pass(Duration::seconds(1'000));
  cluster.step(NoteTime{});
  const std::size_t events = cluster.log.size();
  Engine next = cluster.replayed();
  cluster.engine = std::move(next);
  const Instant last = cluster.engine.last_instant();
  ASSERT_TRUE(cluster.engine.step(ContinueTime{}, Instant::from_micros(last.micros() - 1'000'000'000)));
  EXPECT_EQ(cluster.log.size(), events);
  ASSERT_TRUE(cluster.engine.step(CheckTimers{}, last + Duration::seconds(2'590)));
  EXPECT_EQ(state(id), ExperimentState::active);
  ASSERT_TRUE(cluster.engine.step(CheckTimers{}, last + Duration::seconds(2'601)));
  EXPECT_NE(state(id), ExperimentState::active);
}

TEST_F(EngineTime, APauseBetweenAttemptsIsAsLongAsItWas) {
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  for (int i = 0; i < 5; ++i) {
    while (!cluster.trial(id, 0).live) {
      pass(Duration::seconds(1));
    }
    const AttemptKey key = cluster.live(id, 0);
    ExitReport lost;
    lost.cause = ExitReport::Cause::lost;
    cluster.send(key, lost);
    cluster.attempts.erase(key);
  }
  const Instant due = cluster.trial(id, 0).failure_history->not_before;
  EXPECT_NEAR((due - cluster.now).in_seconds(), 8, 0.1);
  restart(day);
  EXPECT_FALSE(cluster.trial(id, 0).live) << "the wall clock does not end its pause";
  pass(Duration::seconds(6));
  EXPECT_FALSE(cluster.trial(id, 0).live);
  pass(Duration::seconds(3));
  EXPECT_TRUE(cluster.trial(id, 0).live);
  cluster.expect_replayable();
}

TEST_F(EngineTime, ARestOfAWorkerIsAsLongAsItWas) {
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  for (int i = 0; i < 5; ++i) {
    while (!cluster.trial(id, 0).live) {
      pass(Duration::seconds(1));
    }
    const AttemptKey key = cluster.live(id, 0);
    ExitReport evicted;
    evicted.cause = ExitReport::Cause::ended_by_agent;
    cluster.send(key, evicted);
    cluster.attempts.erase(key);
  }
  restart(day);
  EXPECT_GT(cluster.engine.workers().at(WorkerId(1)).rests_until, cluster.now);
}

TEST_F(EngineTime, IsNotNotedIfNoTrialWaits) {
  cluster.join("w", 1);
  const std::size_t events = cluster.log.size();
  restart(day);
  EXPECT_EQ(cluster.log.size(), events);
}

TEST_F(EngineTime, CannotStandStillForLongerThanHasPassed) {
  cluster.join("w", 1);
  Event event;
  event.lsn = Lsn(cluster.engine.last_lsn().number() + 1);
  event.at = cluster.engine.last_instant() + Duration::seconds(10);
  event.body = TimeNoted{Duration::seconds(11)};
  EXPECT_EQ(cluster.engine.replay(event).error().code, Errc::corrupt);
  event.body = TimeNoted{Duration::seconds(10)};
  EXPECT_TRUE(cluster.engine.replay(event));
}

}  // namespace
}  // namespace hpsearch::engine
