#include <gtest/gtest.h>

#include <variant>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

// Workers that an operator wants idle.

namespace hpsearch::engine {
namespace {

TEST(Draining, EndsNothingAndStartsNothingUntilTheWorkerIsReleased) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("w", 2);
  const ExperimentId id = cluster.create(random_config(3, 0));
  const AttemptKey first = cluster.live(id, 0);
  EXPECT_EQ(all<WorkerDraining>(cluster.step(DrainWorker{worker}).events).size(), 1U);
  EXPECT_TRUE(cluster.step(DrainWorker{worker}).events.empty()) << "asking twice leaves no trace";
  EXPECT_TRUE(cluster.trial(id, 0).live.has_value()) << "what runs, runs on";
  cluster.report(first, 9, 0.5);
  cluster.exit(first);
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 2U) << "its free slot is not leased";
  cluster.expect_replayable();
  cluster.step(ReleaseWorker{worker});
  EXPECT_FALSE(cluster.engine.workers().at(worker).draining);
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 3U);
  cluster.expect_replayable();
}

TEST(Draining, OutlastsARestartOfTheWorker) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("w", 1);
  cluster.step(DrainWorker{worker});
  const std::vector<WorkerLost> lost =
      all<WorkerLost>(cluster.step(LoseWorker{worker, "told to end"}).events);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_FALSE(lost.front().silent) << "it said goodbye";
  EXPECT_EQ(cluster.join("w", 1, 2), worker);
  const ExperimentId id = cluster.create(random_config(1, 1));
  EXPECT_TRUE(cluster.engine.find(id)->trials.empty());
  const auto wait = waits_for(*cluster.engine.find(id), cluster.engine.workers(), cluster.now);
  ASSERT_TRUE(wait && std::holds_alternative<WaitForRelease>(*wait));
  EXPECT_EQ(std::get<WaitForRelease>(*wait).draining, 1U);
  EXPECT_EQ(std::get<WaitForRelease>(*wait).quarantined, 0U);
}

TEST(Draining, SendsTrialsToOtherWorkers) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("w", 1);
  const WorkerId other = cluster.join("other", 1);
  cluster.step(DrainWorker{worker});
  const ExperimentId id = cluster.create(random_config(2, 0));
  ASSERT_EQ(cluster.engine.find(id)->trials.size(), 1U);
  EXPECT_EQ(cluster.trial(id, 0).live->worker, other);
}

TEST(Draining, IsOfAWorkerThatExists) {
  TestCluster cluster;
  EXPECT_EQ(cluster.refused(DrainWorker{WorkerId(4)}).message, "there is no worker 4");
}

}  // namespace
}  // namespace hpsearch::engine
