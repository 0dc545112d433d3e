#include <gtest/gtest.h>

#include "engine/alloc/queue_cluster.hpp"

// How many allocations the trials that wait are worth.

namespace hpsearch::engine {
namespace {

TEST(AllocationPlan, WantsNothingWithoutTrials) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings());
  EXPECT_TRUE(cluster.plan_all().empty());
}

TEST(AllocationPlan, WantsWorkersForTheTrialsThatWait) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(4, 4));
  cluster.create(random_config(6, 6));
  EXPECT_EQ(cluster.plan_all().size(), 3U) << "6 trials, 2 slots each";
  EXPECT_TRUE(cluster.plan_all().empty()) << "those on their way count";
  EXPECT_EQ(cluster.engine.trials_waiting_for("gpu").value(), 6U);
  cluster.expect_replayable();
}

TEST(AllocationPlan, KeepsToBacklogAndMaxWorkers) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(3, 2));
  cluster.create(random_config(100, 0));
  const auto first = cluster.plan_all();
  ASSERT_EQ(first.size(), 2U) << "the backlog";
  cluster.join_in(first[0]);
  cluster.join_in(first[1]);
  EXPECT_EQ(cluster.plan_all().size(), 1U) << "max_workers";
  EXPECT_EQ(load_of(cluster.queue()).workers, 3U);
}

TEST(AllocationPlan, FollowsTheLimitsOfTheExperiment) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(8, 8));
  cluster.create(random_config(100, 3));
  EXPECT_EQ(cluster.plan_all().size(), 2U) << "3 trials at once need 2 workers of 2 slots";
}

TEST(AllocationPlan, AsksForOneAllocationUntilAWorkerHasSaidItsSlots) {
  QueueCluster cluster;
  QueueSettings settings = QueueCluster::settings(8, 8);
  settings.slots.reset();
  cluster.add(settings);
  cluster.create(random_config(16, 16));
  const auto first = cluster.plan_all();
  ASSERT_EQ(first.size(), 1U);
  cluster.join_in(first.front(), 4);
  EXPECT_EQ(cluster.plan_all().size(), 3U) << "12 trials wait for workers of 4 slots";
}

TEST(AllocationPlan, AFurtherAllocationHasToBeBusyEnough) {
  QueueCluster cluster;
  QueueSettings settings = QueueCluster::settings(8, 8);
  settings.slots = 4;
  settings.min_utilization = 0.75;
  cluster.add(settings);
  cluster.create(random_config(6, 6));
  EXPECT_EQ(cluster.plan_all().size(), 1U) << "the second would have 2 of 4 slots busy";
}

TEST(AllocationPlan, ASmallDemandGetsItsFirstAllocation) {
  QueueCluster cluster;
  QueueSettings settings = QueueCluster::settings();
  settings.slots = 8;
  settings.min_utilization = 1;
  cluster.add(settings);
  cluster.create(random_config(1, 1));
  EXPECT_EQ(cluster.plan_all().size(), 1U);
}

TEST(AllocationPlan, TrialsThatNoWorkerOfTheQueueCanRunAskForNothing) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings());
  cluster.create(random_config(4, 4, {{"resources", Value::Map{{"slots_per_trial", 3}}}}));
  cluster.create(random_config(4, 4, {{"resources", Value::Map{{"resource_pool", "other"}}}}));
  EXPECT_TRUE(cluster.plan_all().empty());
  EXPECT_EQ(cluster.engine.trials_waiting_for("gpu").value(), 0U);
}

TEST(AllocationPlan, PendingAllocationsEndWithTheirDemand) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(4, 4));
  const ExperimentId id = cluster.create(random_config(4, 4));
  const auto wanted = cluster.plan_all();
  ASSERT_EQ(wanted.size(), 2U);
  cluster.step(KillExperiment{id});
  cluster.plan(1);
  EXPECT_TRUE(cluster.withdrawn.empty()) << "a new experiment may come";
  cluster.plan(61);
  EXPECT_EQ(cluster.withdrawn, wanted);
  for (const AllocationName& name : wanted) {
    cluster.step(NoteEnded{name, AllocationEnd::canceled_there});
    EXPECT_EQ(cluster.allocation(name).end, AllocationEnd::canceled) << "the daemon canceled it";
  }
  EXPECT_EQ(load_of(cluster.queue()).workers, 0U);
  cluster.expect_replayable();
}

TEST(AllocationPlan, APausedQueueWantsNothing) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings());
  cluster.create(random_config(4, 4));
  cluster.step(PauseQueue{"gpu"});
  EXPECT_TRUE(cluster.plan_all().empty());
  cluster.step(ResumeQueue{"gpu"});
  EXPECT_FALSE(cluster.plan_all().empty());
}

TEST(AllocationPlan, ATrialLargerThanAWorkerAsksForNothingUnlessItSpansWorkers) {
  QueueCluster cluster;
  QueueSettings settings = QueueCluster::settings(4, 2);
  settings.workers = 2;
  cluster.add(settings);
  cluster.create(random_config(1, 1, {{"resources", Value::Map{{"slots_per_trial", 4}}}}));
  EXPECT_TRUE(cluster.plan_all().empty()) << "its programs do not span workers";
}

}  // namespace
}  // namespace hpsearch::engine
