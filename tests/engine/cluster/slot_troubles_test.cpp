#include <gtest/gtest.h>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

// What is behind slots: devices that are broken, shared, or in another pool than the one an experiment asks
// for.

namespace hpsearch::engine {
namespace {

using Slots = std::vector<SlotIndex>;

JoinWorker offer(const std::string& uid, std::uint64_t slots) {
  JoinWorker join;
  join.uid = join.name = uid;
  join.incarnation = 1;
  join.slots = slots;
  join.slot_kind = "gpu";
  return join;
}

/// Slot i is on device `devices[i]`.
JoinWorker sharing(const std::string& uid, const std::string& devices) {
  JoinWorker join = offer(uid, devices.size());
  for (const char device : devices) {
    join.devices.push_back({std::string("GPU-") + device, "Fake GPU", 0, 0});
  }
  return join;
}

void expect_replay_stands_here(const TestCluster& cluster) {
  const Engine twin = cluster.replayed();
  EXPECT_EQ(state_text(twin), state_text(cluster.engine));
}

Wait why(const TestCluster& cluster, ExperimentId id, std::uint64_t trial) {
  return std::get<NextSlots>(
             explain(*cluster.engine.find(id), TrialNumber(trial), cluster.engine.workers(), cluster.now)
                 .next)
      .wait;
}

Value with_resources(int trials, Value::Map resources) {
  return random_config(trials, 0, Value::Map{{"resources", std::move(resources)}});
}

// --- slots in trouble ---

class SlotInTrouble : public testing::Test {
 protected:
  SlotInTrouble() { worker = *cluster.step(offer("a", 2)).joined; }
  [[nodiscard]] const WorkerRecord& record() const { return cluster.engine.workers().at(worker); }
  NoteTroubles note(std::vector<std::uint64_t> slots) const {
    NoteTroubles troubles{worker, {}};
    for (const std::uint64_t slot : slots) {
      troubles.troubles.push_back({SlotIndex(slot), "GPU " + std::to_string(slot) + " is lost"});
    }
    return troubles;
  }

  TestCluster cluster;
  WorkerId worker;
};

TEST_F(SlotInTrouble, GetsNoLeasesUntilItIsWell) {
  cluster.step(note({0}));
  const ExperimentId id = cluster.create(random_config(3, 0));
  ASSERT_EQ(cluster.attempts.size(), 1U);
  EXPECT_EQ(cluster.attempts.begin()->second.spec.slots, Slots{SlotIndex{1}});
  EXPECT_EQ(record().slots.free(), 0U);
  EXPECT_EQ(record().slots.held(), 1U);
  EXPECT_TRUE(cluster.step(note({0})).events.empty()) << "it is known";
  expect_replay_stands_here(cluster);
  cluster.step(note({}));
  EXPECT_EQ(cluster.trial(id, 1).live->slots, Slots{SlotIndex{0}});
  EXPECT_TRUE(record().withdrawn.empty());
  expect_replay_stands_here(cluster);
}

TEST_F(SlotInTrouble, IsNotLeasedAgainWhenItsHolderHasEnded) {
  const ExperimentId id = cluster.create(random_config(4, 0));
  cluster.step(note({0}));
  EXPECT_EQ(cluster.live(id, 0), cluster.live(id, 0)) << "what runs there is its worker's to end";
  ExitReport exit;
  exit.cause = ExitReport::Cause::lost;
  exit.message = "its node failed: GPU 0 is lost";
  const AttemptKey key = cluster.live(id, 0);
  cluster.send(key, exit);
  cluster.attempts.erase(key);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::pending);
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U) << "not the program's failure";
  EXPECT_EQ(record().slots.free(), 0U);
  const auto wait = std::get<WaitForFreeSlots>(why(cluster, id, 0));
  EXPECT_EQ(wait.free, 0U);
  EXPECT_EQ(wait.total, 2U);
  EXPECT_EQ(wait.out_of_use, 1U);
  EXPECT_EQ(wait.most_on_one_worker, 0U);
  EXPECT_EQ(wait.slots_per_trial, 1U);
  expect_replay_stands_here(cluster);
}

// --- slots that other searches of the machine have ---

class TakenSlot : public SlotInTrouble {
 protected:
  void take(const std::vector<std::uint64_t>& slots) {
    std::vector<SlotTrouble> taken;
    for (const std::uint64_t slot : slots) {
      taken.push_back({SlotIndex(slot), "in use by search lr (process 12)"});
    }
    cluster.engine.set_taken("a", taken);
    cluster.step(CheckTimers{});
  }
};

TEST_F(TakenSlot, GetsNoLeasesUntilItIsFreeAndLeavesNoEvent) {
  take({0});
  const ExperimentId id = cluster.create(random_config(3, 0));
  ASSERT_EQ(cluster.attempts.size(), 1U);
  EXPECT_EQ(cluster.attempts.begin()->second.spec.slots, Slots{SlotIndex{1}});
  EXPECT_EQ(cluster.engine.slots_wanted_of(worker), 1U);
  const Lsn before = cluster.engine.last_lsn();
  take({});
  EXPECT_EQ(cluster.trial(id, 1).live->slots, Slots{SlotIndex{0}});
  EXPECT_EQ(cluster.engine.last_lsn().number(), before.number() + 2) << "the trial and its lease";
  EXPECT_TRUE(record().withdrawn.empty());
  expect_replay_stands_here(cluster);
}

TEST_F(TakenSlot, IsKeptByItsHolderAndNotLeasedAgain) {
  const ExperimentId id = cluster.create(random_config(4, 0));
  take({0, 1});
  EXPECT_EQ(record().slots.held(), 2U);
  ExitReport exit;
  exit.cause = ExitReport::Cause::lost;
  const AttemptKey key = cluster.live(id, 0);
  cluster.send(key, exit);
  cluster.attempts.erase(key);
  EXPECT_EQ(record().slots.free(), 0U);
  const auto wait = std::get<WaitForFreeSlots>(why(cluster, id, 0));
  EXPECT_EQ(wait.total, 2U);
  EXPECT_EQ(wait.out_of_use, 0U);
  ASSERT_EQ(wait.taken.size(), 1U);
  EXPECT_EQ(wait.taken[0].slots, 1U) << "its own trial has the other one";
  EXPECT_EQ(wait.taken[0].why, "in use by search lr (process 12)");
}

TEST_F(TakenSlot, IsKnownBeforeItsWorkerJoins) {
  cluster.create(random_config(8, 0));
  const std::size_t before = cluster.attempts.size();
  cluster.engine.set_taken("b",
                           {{SlotIndex{0}, "in use by search lr"}, {SlotIndex{1}, "in use by search lr"}});
  cluster.step(offer("b", 2));
  EXPECT_EQ(cluster.attempts.size(), before);
}

TEST_F(TakenSlot, WantsNothingWhenNoTrialWaits) {
  take({0, 1});
  EXPECT_EQ(cluster.engine.slots_wanted_of(worker), 0U);
  cluster.create(random_config(1, 0));
  EXPECT_EQ(cluster.engine.slots_wanted_of(worker), 1U);
  take({});
  EXPECT_EQ(cluster.engine.slots_wanted_of(worker), 0U);
}

TEST_F(SlotInTrouble, IsReportedOnJoiningBeforeAnythingIsLeased) {
  const ExperimentId id = cluster.create(random_config(8, 0));
  const std::size_t before = cluster.attempts.size();
  JoinWorker join = offer("b", 2);
  join.troubles = {
      {SlotIndex{0}, "GPU 0 is lost"}, {SlotIndex{1}, "GPU 1 is lost"}, {SlotIndex{9}, "no such slot"}};
  const WorkerId other = *cluster.step(join).joined;
  EXPECT_EQ(cluster.attempts.size(), before);
  EXPECT_EQ(cluster.engine.workers().at(other).withdrawn.size(), 2U);
  join.incarnation = 2;
  join.troubles = {};
  cluster.step(join);
  EXPECT_EQ(cluster.attempts.size(), before + 2);
  EXPECT_EQ(cluster.engine.find(id)->running.size(), before + 2);
  expect_replay_stands_here(cluster);
}

TEST_F(SlotInTrouble, MayBeUsedNeverthelessAtAnOperatorsWord) {
  cluster.step(note({0, 1}));
  const ExperimentId id = cluster.create(random_config(2, 0));
  ASSERT_TRUE(cluster.attempts.empty());
  cluster.step(ReleaseWorker{worker});
  ASSERT_EQ(cluster.attempts.size(), 2U);
  EXPECT_TRUE(cluster.attempts.at(cluster.live(id, 0)).spec.despite_leaked_processes)
      << "or its worker would refuse";
  EXPECT_TRUE(cluster.step(ReleaseWorker{worker}).events.empty()) << "asking twice leaves no trace";
  EXPECT_TRUE(cluster.step(note({0, 1})).events.empty())
      << "its worker still says so, and the operator has decided";
  expect_replay_stands_here(cluster);
  cluster.step(note({}));
  cluster.step(note({1}));
  EXPECT_FALSE(record().withdrawn.at(SlotIndex{1}).released) << "a new trouble";
  expect_replay_stands_here(cluster);
}

TEST_F(SlotInTrouble, LastsOverAWorkersReturn) {
  cluster.step(note({1}));
  JoinWorker again = offer("a", 3);
  again.incarnation = 2;
  again.troubles = {{SlotIndex{1}, "GPU 1 is lost"}};
  cluster.step(again);
  EXPECT_EQ(record().slots.free(), 2U);
  EXPECT_EQ(cluster.refused(NoteTroubles{WorkerId(9), {}}).code, Errc::not_found);
  Event event{Lsn(cluster.engine.last_lsn().number() + 1), cluster.now,
              SlotRestored{worker, SlotIndex{0}, true}};
  EXPECT_EQ(cluster.engine.replay(event).error().code, Errc::corrupt);
  expect_replay_stands_here(cluster);
}

// --- shared devices ---

TEST(SharedDevices, AreFilledEvenly) {
  SlotLedger ledger(6, {0, 1, 0, 1, 0, 1});
  ledger.take({SlotIndex(0), SlotIndex(2)}, LeaseId(1));
  EXPECT_EQ(ledger.find_free(1), Slots{SlotIndex(1)});
  ledger.take({SlotIndex(1)}, LeaseId(2));
  EXPECT_EQ(ledger.find_free(1), Slots{SlotIndex(3)}) << "device 0 has two, device 1 one";
}

TEST(SharedDevices, GiveATrialOfSeveralSlotsDifferentOnes) {
  SlotLedger ledger(4, {0, 0, 1, 1});
  EXPECT_EQ(ledger.find_free(2), (Slots{SlotIndex(0), SlotIndex(2)}));
  ledger.take({SlotIndex(2), SlotIndex(3)}, LeaseId(1));
  EXPECT_EQ(ledger.free(), 2U);
  EXPECT_EQ(ledger.find_free(2), std::nullopt) << "it waits for the other device";
  EXPECT_EQ(ledger.find_free(1), Slots{SlotIndex(0)});
}

TEST(SharedDevices, AreShareByShareWhereThereAreFewerThanSlotsAreWanted) {
  SlotLedger ledger(4, {0, 0, 1, 1});
  EXPECT_EQ(ledger.find_free(3), (Slots{SlotIndex(0), SlotIndex(1), SlotIndex(2)}));
  EXPECT_EQ(ledger.find_free(5), std::nullopt);
  ledger.withdraw(SlotIndex(0));
  EXPECT_EQ(ledger.find_free(4), std::nullopt);
  EXPECT_EQ(ledger.find_free(3), (Slots{SlotIndex(1), SlotIndex(2), SlotIndex(3)}));
}

TEST(SharedDevices, AWithdrawnSlotComesBackWhenItIsBothRestoredAndFree) {
  SlotLedger ledger(2);
  ledger.take({SlotIndex(0)}, LeaseId(1));
  ledger.withdraw(SlotIndex(0));
  ledger.withdraw(SlotIndex(7));
  ledger.release({SlotIndex(0)}, LeaseId(1));
  EXPECT_EQ(ledger.free(), 1U);
  EXPECT_EQ(ledger.held(), 0U);
  EXPECT_TRUE(ledger.is_free(SlotIndex(0))) << "nobody holds it";
  EXPECT_EQ(ledger.find_free(1), Slots{SlotIndex(1)});
  ledger.restore(SlotIndex(0));
  EXPECT_EQ(ledger.find_free(2), (Slots{SlotIndex(0), SlotIndex(1)}));
}

TEST(SharedDevices, AreLeasedSo) {
  TestCluster cluster;
  cluster.step(sharing("a", "xyxy"));
  const ExperimentId one = cluster.create(random_config(1, 1));
  EXPECT_EQ(cluster.trial(one, 0).live->slots, Slots{SlotIndex{0}});
  const ExperimentId pair = cluster.create(with_resources(3, Value::Map{{"slots_per_trial", 2}}));
  EXPECT_EQ(cluster.trial(pair, 0).live->slots, (Slots{SlotIndex{1}, SlotIndex{2}}));
  expect_replay_stands_here(cluster);
  cluster.exit(cluster.live(pair, 0));
  const ExperimentId four =
      cluster.create(with_resources(1, Value::Map{{"slots_per_trial", 4}, {"priority", 1}}));
  cluster.step(PauseExperiment{pair});
  EXPECT_TRUE(cluster.engine.find(four)->trials.empty() ||
              cluster.trial(four, 0).state == TrialState::pending);
  EXPECT_EQ(cluster
                .refused([] {
                  JoinWorker wrong = sharing("b", "xy");
                  wrong.slots = 3;
                  return wrong;
                }())
                .code,
            Errc::bad_request);
}

TEST(SharedDevices, AnExperimentSaysThatItWaitsForAnotherDevice) {
  TestCluster cluster;
  cluster.step(sharing("a", "xxyy"));
  const ExperimentId single = cluster.create(random_config(2, 2));
  ASSERT_EQ(cluster.trial(single, 1).live->slots, Slots{SlotIndex{2}});
  cluster.step(NoteTroubles{WorkerId(1), {{SlotIndex{3}, "GPU 1 is lost"}}});
  cluster.exit(cluster.live(single, 0));
  const ExperimentId pair = cluster.create(with_resources(1, Value::Map{{"slots_per_trial", 2}}));
  EXPECT_TRUE(cluster.engine.find(pair)->running.empty()) << "slots 0 and 1 are free, of one device";
  const auto wait = waits_for(*cluster.engine.find(pair), cluster.engine.workers(), cluster.now);
  ASSERT_TRUE(wait && std::holds_alternative<WaitForDevices>(*wait));
  EXPECT_EQ(std::get<WaitForDevices>(*wait).free, 2U);
  EXPECT_EQ(std::get<WaitForDevices>(*wait).total, 4U);
  EXPECT_EQ(std::get<WaitForDevices>(*wait).slots_per_trial, 2U);
}

// --- pools and labels ---

TEST(Pools, AnExperimentRunsInItsOwnOnly) {
  TestCluster cluster;
  JoinWorker big = offer("big", 2);
  big.pool = "big";
  big.labels = {{"zone", "b"}};
  const WorkerId there = *cluster.step(big).joined;
  const ExperimentId plain = cluster.create(random_config(1, 1));
  EXPECT_TRUE(cluster.attempts.empty()) << "it names no pool";
  const ExperimentId id = cluster.create(with_resources(8, Value::Map{{"resource_pool", "big"}}));
  EXPECT_EQ(cluster.attempts.size(), 2U) << "max_concurrent_trials 0: as many as its pool has slots";
  const WorkerId here = cluster.join("a", 4);
  EXPECT_EQ(cluster.trial(plain, 0).live->worker, here);
  EXPECT_EQ(cluster.engine.find(id)->running.size(), 2U);
  for (const TrialNumber number : cluster.engine.find(id)->running) {
    EXPECT_EQ(cluster.trial(id, number.number()).live->worker, there);
  }
  expect_replay_stands_here(cluster);
}

TEST(Pools, DefaultIsTheNameOfTheNameless) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(with_resources(1, Value::Map{{"resource_pool", "default"}}));
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running);
}

TEST(Labels, AreAllNeededWithTheirValues) {
  TestCluster cluster;
  JoinWorker join = offer("a", 4);
  join.labels = {{"zone", "b"}, {"disk", "fast"}};
  cluster.step(join);
  const auto runs = [&cluster](Value::Map labels) {
    const ExperimentId id = cluster.create(with_resources(1, Value::Map{{"labels", std::move(labels)}}));
    return !cluster.engine.find(id)->running.empty();
  };
  EXPECT_TRUE(runs({{"zone", "b"}}));
  EXPECT_TRUE(runs({{"zone", "b"}, {"disk", "fast"}}));
  EXPECT_FALSE(runs({{"zone", "a"}}));
  EXPECT_FALSE(runs({{"zone", "b"}, {"net", "fast"}}));
  expect_replay_stands_here(cluster);
}

TEST(Labels, ThatAWorkerChangesCountFromItsReturnOn) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(with_resources(1, Value::Map{{"resource_pool", "big"}}));
  JoinWorker moved = offer("a", 1);
  moved.incarnation = 2;
  moved.pool = "big";
  cluster.step(moved);
  EXPECT_EQ(cluster.engine.find(id)->running.size(), 1U);
  expect_replay_stands_here(cluster);
}

TEST(Pools, ATrialSaysWhichPoolItWaitsFor) {
  TestCluster cluster;
  JoinWorker big = offer("big", 1);
  big.pool = "big";
  const WorkerId there = *cluster.step(big).joined;
  const ExperimentId id =
      cluster.create(with_resources(1, Value::Map{{"resource_pool", "big"}, {"labels", Value::Map{}}}));
  cluster.join("a", 4);
  cluster.step(LoseWorker{there, "told to end"});
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::pending);
  const auto wanted = std::get<WaitForWorker>(why(cluster, id, 0)).wanted;
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->pool, "big");
  EXPECT_TRUE(wanted->labels.empty());
}

}  // namespace
}  // namespace hpsearch::engine
