#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/alloc/queue_cluster.hpp"
#include "messages.hpp"

// Workers whose time is limited, and what their last word says about their allocation.

namespace hpsearch::engine {
namespace {

constexpr TimeLeft an_hour{Duration::seconds(3'600), Duration::seconds(3'420)};

TEST(WorkerEnd, IsKnownFromHelloOnAndSmallDifferencesLeaveNoTrace) {
  QueueCluster cluster;
  JoinWorker join{"w", "w", 1, 2, "cpu", {}};
  join.time_left = an_hour;
  const WorkerId id = *cluster.step(join).joined;
  const auto& end = cluster.engine.workers().at(id).end;
  ASSERT_TRUE(end);
  EXPECT_EQ(end->at - cluster.now, an_hour.to_end);
  EXPECT_EQ(end->gives_back_at - cluster.now, an_hour.to_give_back);
  cluster.now = cluster.now + Duration::seconds(602);
  EXPECT_TRUE(cluster.step(NoteTimeLeft{id, TimeLeft{Duration::seconds(3'000), Duration::seconds(2'820)}})
                  .events.empty());
  join.time_left = TimeLeft{Duration::seconds(3'001), Duration::seconds(2'821)};
  EXPECT_TRUE(all<WorkerEndNoted>(cluster.step(join).events).empty()) << "nor those of a second HELLO";
  cluster.expect_replayable();
}

TEST(WorkerEnd, MovesWithTheJobAndGoesWithIt) {
  QueueCluster cluster;
  const WorkerId id = cluster.join("w", 2);
  EXPECT_FALSE(cluster.engine.workers().at(id).end);
  EXPECT_TRUE(cluster.step(NoteTimeLeft{id, std::nullopt}).events.empty());
  cluster.step(NoteTimeLeft{id, an_hour});
  cluster.step(NoteTimeLeft{id, TimeLeft{Duration::seconds(7'200), Duration::seconds(7'020)}});
  EXPECT_EQ(cluster.engine.workers().at(id).end->at - cluster.now, Duration::seconds(7'200));
  cluster.step(NoteTimeLeft{id, TimeLeft{}});
  EXPECT_TRUE(cluster.engine.workers().at(id).end) << "its time is over, and it is still there";
  cluster.step(NoteTimeLeft{id, std::nullopt});
  EXPECT_FALSE(cluster.engine.workers().at(id).end);
  EXPECT_EQ(cluster.refused(NoteTimeLeft{WorkerId(9), an_hour}).code, Errc::not_found);
  cluster.expect_replayable();
}

/// An attempt that its worker ends without an order.
ExitReport given_back() {
  ExitReport exit;
  exit.cause = ExitReport::Cause::ended_by_agent;
  exit.message = "paused by its worker: its worker's time is over";
  return exit;
}

TEST(WorkerEnd, TrialsThatAreGivenBackRunAgainFirstAndNothingCounts) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(8, 8));
  const ExperimentId id = cluster.create(random_config(20, 2));
  for (int i = 0; i < 12; ++i) {  // More than a trial may end in a row without a report.
    const auto wanted = cluster.plan_all();
    ASSERT_EQ(wanted.size(), 1U) << i;
    const WorkerId worker = cluster.join_in(wanted.front());
    for (const std::uint64_t trial : {0U, 1U}) {
      cluster.send(cluster.live(id, trial), given_back());
    }
    cluster.step(LoseWorker{worker, std::string(left_at_its_end)});
    cluster.step(NoteEnded{wanted.front(), AllocationEnd::completed, "Slurm: COMPLETED"});
    EXPECT_EQ(cluster.allocation(wanted.front()).end, AllocationEnd::time_limit);
    cluster.attempts.clear();
  }
  for (const std::uint64_t trial : {0U, 1U}) {
    EXPECT_EQ(cluster.trial(id, trial).restarts, 0U);
    EXPECT_FALSE(cluster.trial(id, trial).failure_history);
    EXPECT_EQ(cluster.trial(id, trial).state, TrialState::pending);
  }
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 2U) << "before new ones";
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  EXPECT_EQ(cluster.queue().state, QueueRecord::State::active);
  cluster.expect_replayable();
}

TEST(WorkerEnd, AQueueLeavesTimeToTrain) {
  QueueCluster cluster;
  QueueSettings settings = QueueCluster::settings();
  settings.time_limit = Duration::seconds(200);
  EXPECT_MESSAGE(cluster.refused(AddQueue{"gpu", settings}).message);
  settings.give_back = Duration::seconds(20);
  cluster.add(settings);
}

}  // namespace
}  // namespace hpsearch::engine
