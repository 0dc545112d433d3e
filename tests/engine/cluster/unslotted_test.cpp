#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

// Trials without slots: their workers say how many of them they run at once.

namespace hpsearch::engine {
namespace {

class Unslotted : public testing::Test {
 protected:
  WorkerId join(const std::string& uid, std::uint64_t slots, std::optional<std::uint64_t> most,
                std::uint64_t incarnation = 1) {
    JoinWorker command{uid, uid, incarnation, slots, "cpu", {}};
    for (const auto& [key, attempt] : cluster.attempts) {
      const auto known = cluster.engine.workers().find(attempt.worker);
      if (known != cluster.engine.workers().end() && known->second.uid == uid) {
        HeldAttempt held;
        held.key = key;
        held.first_seq = 1;
        held.slots = attempt.spec.slots;
        command.held.push_back(held);
      }
    }
    command.max_unslotted = most;
    return *cluster.step(command).joined;
  }

  ExperimentId create(int trials, int concurrent, int slots = 0) {
    return cluster.create(
        random_config(trials, concurrent, Value::Map{{"resources", Value::Map{{"slots_per_trial", slots}}}}));
  }

  std::uint64_t on(WorkerId worker) const { return cluster.engine.workers().at(worker).attempts.size(); }

  std::optional<Wait> wait_of(ExperimentId id) {
    return waits_for(*cluster.engine.find(id), cluster.engine.workers(), cluster.now);
  }

  TestCluster cluster;
};

TEST_F(Unslotted, AreAsManyAsTheirWorkersTake) {
  const WorkerId a = join("a", 1, 3);
  const WorkerId b = join("b", 1, 5);
  const ExperimentId id = create(10'000, 10'000);
  EXPECT_EQ(on(a), 3U);
  EXPECT_EQ(on(b), 5U);
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 8U);
  const AttemptKey first = cluster.attempts.begin()->first;
  cluster.report(first, 9, 0.5);
  cluster.exit(first);
  EXPECT_EQ(on(a) + on(b), 8U) << "the next one has the room";
  cluster.expect_replayable();
}

TEST_F(Unslotted, LeaveSlotsToTrialsThatNeedThem) {
  const WorkerId worker = join("w", 2, 1);
  create(100, 100);
  const ExperimentId other = create(2, 2, 1);
  EXPECT_EQ(cluster.engine.find(other)->running.size(), 2U);
  EXPECT_EQ(on(worker), 3U);
}

TEST_F(Unslotted, RunOnAWorkerWithoutSlots) {
  const WorkerId worker = join("w", 0, 4);
  const ExperimentId id = create(100, 100);
  EXPECT_EQ(on(worker), 4U);
  const ExperimentId other = create(1, 1);
  EXPECT_TRUE(std::holds_alternative<WaitForRoomWithoutSlots>(*wait_of(other)));
  EXPECT_FALSE(wait_of(id));
}

TEST_F(Unslotted, StayWhereTheyAreWhenTheirWorkerTakesFewer) {
  const WorkerId worker = join("w", 1, 4);
  const ExperimentId id = create(100, 100);
  ASSERT_EQ(on(worker), 4U);
  join("w", 1, 2);
  EXPECT_EQ(on(worker), 4U);
  cluster.exit(cluster.live(id, 0), 75);
  EXPECT_EQ(on(worker), 3U) << "and nothing new comes";
  join("w", 1, 5);
  EXPECT_EQ(on(worker), 5U);
  cluster.expect_replayable();
}

TEST_F(Unslotted, AreExplained) {
  join("w", 1, 2);
  create(100, 100);
  const ExperimentId waiting = create(1, 1);
  const auto wait = wait_of(waiting);
  ASSERT_TRUE(wait && std::holds_alternative<WaitForRoomWithoutSlots>(*wait));
  EXPECT_EQ(std::get<WaitForRoomWithoutSlots>(*wait).running, 2U);
  EXPECT_EQ(std::get<WaitForRoomWithoutSlots>(*wait).most, 2U);
}

TEST_F(Unslotted, TrialsWaitIfTheWorkerTakesNone) {
  const WorkerId worker = join("w", 1, 0);
  const ExperimentId id = create(100, 100);
  EXPECT_EQ(on(worker), 0U);
  EXPECT_TRUE(std::holds_alternative<WaitForRoomWithoutSlots>(*wait_of(id)));
  const WorkerId other = join("other", 1, std::nullopt);
  EXPECT_EQ(on(other), 100U) << "a worker that says nothing has no bound";
}

}  // namespace
}  // namespace hpsearch::engine
