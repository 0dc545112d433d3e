#include <gtest/gtest.h>

#include "engine/alloc/queue_cluster.hpp"

// Queues and allocations from their beginning to their end.

namespace hpsearch::engine {
namespace {

TEST(Queue, NameAndSettingsAreChecked) {
  QueueCluster cluster;
  EXPECT_EQ(cluster.refused(AddQueue{"G P", QueueCluster::settings()}).code, Errc::bad_request);
  QueueSettings none = QueueCluster::settings();
  none.max_workers = 0;
  EXPECT_EQ(cluster.refused(AddQueue{"gpu", none}).code, Errc::bad_request);
  QueueSettings other = QueueCluster::settings();
  other.backend = "";
  EXPECT_EQ(cluster.refused(AddQueue{"gpu", other}).code, Errc::bad_request);
  cluster.add(QueueCluster::settings());
  other.backend = "pbs";
  EXPECT_EQ(
      cluster.refused(ChangeQueue{"gpu", other}).message,
      "the queue \"gpu\" has the backend slurm, which cannot be changed; remove the queue and add it again");
  EXPECT_EQ(cluster.refused(AddQueue{"gpu", QueueCluster::settings()}).code, Errc::wrong_state);
  EXPECT_EQ(cluster.refused(PauseQueue{"cpu"}).message, "there is no queue \"cpu\"; known queues: gpu");
}

TEST(Queue, NamesOfAllocationsAreReadBack) {
  EXPECT_EQ(allocation_named("gpu/17"), (AllocationName{"gpu", 17}));
  for (const char* wrong : {"", "gpu", "gpu/", "/17", "gpu/17x", "gpu/-1", "G/1"}) {
    EXPECT_FALSE(allocation_named(wrong)) << wrong;
  }
  for (const char* name : {"idle", "preempted", "will_not_start", "vanished"}) {
    ASSERT_TRUE(allocation_end_named(name)) << name;
    EXPECT_EQ(name_of(*allocation_end_named(name)), name);
  }
}

TEST(Queue, AttemptsThatEndWithTheirAllocationSpeakNeitherAgainstWorkerNorTrial) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings());
  const ExperimentId id = cluster.create(random_config(1, 1));
  const WorkerId worker = cluster.join_in(cluster.plan_all().front());
  ASSERT_EQ(cluster.attempts.size(), 1U);
  ExitReport evicted;
  evicted.cause = ExitReport::Cause::ended_by_agent;
  cluster.send(cluster.attempts.begin()->first, evicted);
  EXPECT_EQ(rest_of(cluster.engine.workers().at(worker), cluster.now), std::nullopt);
  EXPECT_TRUE(cluster.engine.workers().at(worker).failed_starts.empty());
  EXPECT_FALSE(cluster.trial(id, 0).failure_history.has_value());
}

TEST(Queue, PausesItselfAfterThreeRefusals) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings());
  cluster.create(random_config(4, 4));
  for (int i = 0; i < 3; ++i) {
    const auto wanted = cluster.plan(100);
    ASSERT_EQ(wanted.size(), 1U) << i;
    cluster.step(NoteEnded{wanted.front(), AllocationEnd::refused, "invalid partition"});
  }
  EXPECT_EQ(cluster.queue().state, QueueRecord::State::paused);
  EXPECT_EQ(cluster.queue().why, "invalid partition");
  EXPECT_TRUE(cluster.plan(10'000).empty());
  cluster.expect_replayable();
  cluster.step(ResumeQueue{"gpu"});
  EXPECT_EQ(cluster.plan(1).size(), 1U);
}

TEST(Queue, PausesItselfWhenTwoAllocationsWouldWaitForever) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(4, 1));
  cluster.create(random_config(4, 4));
  for (int i = 0; i < 2; ++i) {
    const auto wanted = cluster.plan(100);
    ASSERT_EQ(wanted.size(), 1U) << i;
    cluster.step(NoteSubmitted{wanted.front(), "7"});
    EXPECT_EQ(cluster.step(CancelAllocation{wanted.front(), "PartitionTimeLimit", true}).orders.size(), 1U);
    cluster.step(NoteEnded{wanted.front(), AllocationEnd::canceled_there});
    EXPECT_EQ(cluster.allocation(wanted.front()).end, AllocationEnd::will_not_start);
  }
  EXPECT_EQ(cluster.queue().state, QueueRecord::State::paused);
  EXPECT_EQ(cluster.queue().why, "PartitionTimeLimit");
}

TEST(Queue, PreemptionAndNodeFailuresNeverPauseIt) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(1, 1));
  cluster.create(random_config(4, 4));
  for (const AllocationEnd end :
       {AllocationEnd::preempted, AllocationEnd::node_failed, AllocationEnd::time_limit,
        AllocationEnd::preempted, AllocationEnd::node_failed}) {
    const auto wanted = cluster.plan(1);
    ASSERT_EQ(wanted.size(), 1U) << name_of(end);
    cluster.step(NoteStarted{wanted.front()});
    cluster.step(NoteEnded{wanted.front(), end});
  }
  EXPECT_EQ(cluster.queue().state, QueueRecord::State::active);
  EXPECT_EQ(cluster.queue().failures, 0U);
}

TEST(Queue, AnAllocationThatEndsBetweenTwoLooksIsAFailure) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(1, 1));
  cluster.create(random_config(4, 4));
  const auto wanted = cluster.plan(1);
  ASSERT_EQ(wanted.size(), 1U);
  cluster.step(NoteEnded{wanted.front(), AllocationEnd::failed, "exit status 1"});
  EXPECT_EQ(cluster.queue().failures, 1U);
  EXPECT_EQ(cluster.queue().last_failure, "exit status 1");
}

TEST(Queue, AWorkerThatJoinsResetsItsFailures) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(1, 1));
  cluster.create(random_config(8, 8));
  for (int i = 0; i < 5; ++i) {
    const auto failing = cluster.plan(100);
    ASSERT_EQ(failing.size(), 1U) << i;
    cluster.step(NoteStarted{failing.front()});
    cluster.step(NoteEnded{failing.front(), AllocationEnd::failed, "exit status 1"});
    EXPECT_EQ(cluster.queue().failures, 1U);
    const auto working = cluster.plan(100);
    ASSERT_EQ(working.size(), 1U) << i;
    const WorkerId worker = cluster.join_in(working.front());
    EXPECT_EQ(cluster.queue().failures, 0U);
    EXPECT_EQ(cluster.allocation(working.front()).state, AllocationRecord::State::running);
    cluster.step(LoseWorker{worker, "asked to stop"});
    cluster.step(NoteEnded{working.front(), AllocationEnd::completed});
    EXPECT_EQ(cluster.allocation(working.front()).end, AllocationEnd::preempted)
        << "it ended before its workers were idle";
  }
}

TEST(Queue, AfterACancellationByHandItWaitsAMinute) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(1, 1));
  cluster.create(random_config(4, 4));
  const auto wanted = cluster.plan_all();
  cluster.step(NoteEnded{wanted.front(), AllocationEnd::canceled_there});
  EXPECT_EQ(cluster.queue().failures, 0U);
  EXPECT_TRUE(cluster.plan(30).empty());
  EXPECT_EQ(cluster.plan(31).size(), 1U);
}

TEST(Allocation, IdleWorkersEndItAndAreForgotten) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings());
  const ExperimentId id = cluster.create(random_config(1, 1));
  const auto wanted = cluster.plan_all();
  const WorkerId worker = cluster.join_in(wanted.front());
  cluster.report(cluster.live(id, 0), 9, 0.5);
  cluster.exit(cluster.live(id, 0));
  cluster.step(LoseWorker{worker, "idle"});
  cluster.step(NoteEnded{wanted.front(), AllocationEnd::completed});
  EXPECT_EQ(cluster.allocation(wanted.front()).end, AllocationEnd::idle);
  cluster.plan();
  EXPECT_FALSE(cluster.engine.workers().contains(worker));
  EXPECT_TRUE(cluster.engine.forgotten_workers().contains(worker));
  cluster.step(RemoveQueue{"gpu"});
  EXPECT_FALSE(cluster.engine.plans_allocations()) << "nothing is left to look after";
  cluster.expect_replayable();
}

TEST(Allocation, EndOfItsProcessesEndsItsAttemptsAtOnce) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(2, 2));
  const ExperimentId id = cluster.create(random_config(2, 2));
  const auto wanted = cluster.plan_all();
  const WorkerId worker = cluster.join_in(wanted.front());
  ASSERT_TRUE(cluster.trial(id, 0).live);
  cluster.step(NoteEnded{wanted.front(), AllocationEnd::preempted, "", true});
  EXPECT_FALSE(cluster.trial(id, 0).live);
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U);
  EXPECT_FALSE(cluster.engine.workers().at(worker).present);
  cluster.expect_replayable();
}

TEST(Allocation, ANodeFailureSaysNothingAboutItsProcesses) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(2, 2));
  const ExperimentId id = cluster.create(random_config(2, 2));
  const auto wanted = cluster.plan_all();
  cluster.join_in(wanted.front());
  cluster.step(NoteEnded{wanted.front(), AllocationEnd::node_failed});
  EXPECT_TRUE(cluster.trial(id, 0).live) << "its worker may still run it";
}

TEST(Allocation, AWorkerThatLeftUnheardIsForgottenWithIt) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings());
  const ExperimentId id = cluster.create(random_config(1, 1));
  const auto wanted = cluster.plan_all();
  const WorkerId worker = cluster.join_in(wanted.front());
  cluster.report(cluster.live(id, 0), 9, 0.5);
  cluster.exit(cluster.live(id, 0));
  cluster.step(NoteEnded{wanted.front(), AllocationEnd::completed});
  cluster.plan();
  EXPECT_TRUE(cluster.engine.workers().contains(worker)) << "it is heard still";
  cluster.engine.set_suspect(worker, true);
  cluster.plan();
  EXPECT_FALSE(cluster.engine.workers().contains(worker));
  cluster.expect_replayable();
}

TEST(Allocation, JobThatBecomesKnownAfterItsCancellationIsWithdrawn) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings());
  cluster.create(random_config(4, 4));
  const auto wanted = cluster.plan();
  ASSERT_EQ(wanted.size(), 1U);
  cluster.step(CancelAllocation{wanted.front(), "no trial needs it any more"});
  const auto orders = cluster.step(NoteSubmitted{wanted.front(), "job1"}).orders;
  ASSERT_EQ(orders.size(), 1U);
  const auto* withdraw = std::get_if<WithdrawAllocation>(&orders.front());
  ASSERT_NE(withdraw, nullptr);
  EXPECT_EQ(withdraw->name, wanted.front());
}

TEST(Queue, RemovedAtOnceCancelsAllItsAllocations) {
  QueueCluster cluster;
  cluster.add(QueueCluster::settings(2, 2));
  cluster.create(random_config(8, 8));
  const auto wanted = cluster.plan_all();
  ASSERT_EQ(wanted.size(), 2U);
  cluster.join_in(wanted.front());
  EXPECT_EQ(cluster.step(RemoveQueue{"gpu", true}).orders.size(), 2U);
  EXPECT_EQ(cluster.queue().state, QueueRecord::State::removed);
  EXPECT_EQ(cluster.refused(AddQueue{"gpu", QueueCluster::settings()}).code, Errc::wrong_state);
  cluster.step(NoteEnded{wanted[0], AllocationEnd::canceled_there, "", true});
  cluster.step(NoteEnded{wanted[1], AllocationEnd::canceled_there, "", true});
  EXPECT_TRUE(cluster.engine.queues().empty());
  cluster.plan();
  EXPECT_FALSE(cluster.engine.plans_allocations());
  cluster.expect_replayable();
  cluster.add(QueueCluster::settings());
  EXPECT_EQ(cluster.plan().front().number, 3U) << "numbers are not used again";
}

}  // namespace
}  // namespace hpsearch::engine
