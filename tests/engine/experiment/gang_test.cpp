#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/gangs.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

// Attempts on several workers: where they run, all of them or none, and what each receives.

namespace hpsearch::engine {
namespace {

TEST_F(Gangs, TakeEqualPartsOfTwoWorkersInOneEvent) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  experiment = cluster.create(gang_config(4, 1));
  step(CheckTimers{});
  const auto granted = std::find_if(cluster.log.begin(), cluster.log.end(), [](const Event& event) {
    return std::holds_alternative<LeaseGranted>(event.body);
  });
  ASSERT_NE(granted, cluster.log.end());
  const auto& lease = std::get<LeaseGranted>(granted->body);
  EXPECT_EQ(lease.worker, a);
  EXPECT_EQ(lease.slots.size(), 2U);
  EXPECT_EQ(lease.others, (std::vector<Place>{{b, {SlotIndex{0}, SlotIndex{1}}}}));
  EXPECT_EQ(free_slots(a) + free_slots(b), 0U);
  expect_replayable();
}

TEST_F(Gangs, HaveAsManyWorkersAsTheyNeedThoughFewerWouldDo) {
  std::vector<WorkerId> workers;
  for (const char* name : {"1", "2", "3"}) {
    workers.push_back(join(name, 2));
  }
  const Value resources = Value::Map{{"spans_workers", true}, {"least_workers", 4}};
  experiment = cluster.create(gang_config(4, 1, 1, {{"resources", resources}}));
  step(CheckTimers{});
  EXPECT_TRUE(launched.empty()) << "four are needed";
  workers.push_back(join("4", 2));
  step(CheckTimers{});
  for (std::uint64_t rank = 0; rank < workers.size(); ++rank) {
    EXPECT_EQ(launched.at(workers[rank]).slots.size(), 1U);
    EXPECT_EQ(launched.at(workers[rank]).rendezvous.addresses.size(), 4U);
  }
  expect_replayable();
}

TEST_F(Gangs, TellEachWorkerItsRankAndWhereTheOthersAre) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  CreateExperiment create;
  create.config = gang_config(4, 1);
  experiment = *step(create).created;
  EXPECT_EQ(launched.at(a).rendezvous.rank, 0U);
  EXPECT_EQ(launched.at(b).rendezvous.rank, 1U);
  EXPECT_EQ(launched.at(a).key, launched.at(b).key);
  EXPECT_EQ(launched.at(b).rendezvous.addresses, (std::vector<std::string>{"10.0.0.1", "10.0.0.2"}));
  EXPECT_EQ(launched.at(a).rendezvous.port, launched.at(b).rendezvous.port);
  EXPECT_GE(launched.at(a).rendezvous.port, 23'456U);
  EXPECT_LT(launched.at(a).rendezvous.port, 27'456U);
}

TEST_F(Gangs, AreRepeatedToAWorkerThatNeverHeardOfThem) {
  join("1", 2);
  const WorkerId b = join("2", 2);
  CreateExperiment create;
  create.config = gang_config(4, 1);
  experiment = *step(create).created;
  launched.clear();
  join("2", 2);
  EXPECT_EQ(launched.size(), 1U);
  EXPECT_EQ(launched.at(b).rendezvous.rank, 1U);
}

TEST_F(Gangs, TakeNothingWhileOneWorkerIsTooFull) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  CreateExperiment small;
  small.config = random_config(1, 1, Value::Map{{"name", "small"}});
  step(small);
  launched.clear();
  CreateExperiment create;
  create.config = gang_config(4, 1);
  experiment = *step(create).created;
  EXPECT_TRUE(launched.empty());
  EXPECT_EQ(free_slots(a) + free_slots(b), 3U);
}

TEST_F(Gangs, AreNotStarvedBySmallTrialsBehindThem) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  CreateExperiment small;
  small.config = random_config(100, 4, Value::Map{{"name", "small"}});
  const ExperimentId many = *step(small).created;
  CreateExperiment create;
  create.config = gang_config(4, 1);
  experiment = *step(create).created;
  // The small ones end one by one, and none takes their place: the gang, with no slot yet, is first in line.
  for (int ended = 0; ended < 4; ++ended) {
    EXPECT_EQ(cluster.engine.find(many)->running.size(), 4U - static_cast<std::size_t>(ended));
    const AttemptKey key = cluster.attempts.begin()->first;
    cluster.report(key, 9, 0.5);
    ExitReport exit;
    const TestAttempt attempt = cluster.attempts.at(key);
    cluster.attempts.erase(key);
    step(TakeReports{attempt.worker, key, attempt.next_seq, {exit}});
  }
  EXPECT_EQ(launched.at(a).rendezvous.addresses.size(), 2U);
  EXPECT_EQ(launched.at(b).rendezvous.addresses.size(), 2U);
  EXPECT_EQ(cluster.engine.find(many)->running.size(), 0U);
}

TEST_F(Gangs, TheFirstOfTwoTakesAllAndTheOtherNothing) {
  const WorkerId a = join("1", 3);
  const WorkerId b = join("2", 3);
  CreateExperiment create;
  create.config = gang_config(4, 2, 2);
  experiment = *step(create).created;
  EXPECT_EQ(free_slots(a), 1U);
  EXPECT_EQ(free_slots(b), 1U);
  EXPECT_EQ(cluster.engine.find(experiment)->running.size(), 1U);
}

TEST_F(Gangs, DoNotSplitWhatFitsOnOneWorker) {
  const WorkerId a = join("1", 2);
  join("2", 2);
  const WorkerId large = join("3", 4);
  CreateExperiment small;
  small.config = random_config(1, 1, Value::Map{{"resources", Value::Map{{"slots_per_trial", 3}}}});
  step(small);
  launched.clear();
  CreateExperiment create;
  create.config = gang_config(4, 1);
  experiment = *step(create).created;
  EXPECT_TRUE(launched.empty()) << "it waits for the worker that has four";
  EXPECT_EQ(free_slots(a), 2U);
  EXPECT_EQ(free_slots(large), 1U);
}

TEST_F(Gangs, AreNotMadeOfProgramsThatKnowNothingOfOthers) {
  join("1", 2);
  join("2", 2);
  CreateExperiment create;
  create.config = gang_config(4, 1, 1, Value::Map{{"resources", Value::Map{}}});
  experiment = *step(create).created;
  EXPECT_TRUE(launched.empty());
}

TEST_F(Gangs, NeedWorkersThatSayTheirAddress) {
  join("1", 2);
  cluster.join("old", 2);
  CreateExperiment create;
  create.config = gang_config(4, 1);
  experiment = *step(create).created;
  EXPECT_TRUE(launched.empty());
}

TEST_F(Gangs, AreNotMadeOfAddressesThatNoOtherMachineReaches) {
  JoinWorker beside_the_daemon = offer("1", 2);
  beside_the_daemon.address = "127.0.0.1";
  const WorkerId a = *step(beside_the_daemon).joined;
  const WorkerId b = join("2", 2);
  experiment = *step(submit(gang_config(4, 1))).created;
  EXPECT_TRUE(launched.empty());
  join("3", 2);
  EXPECT_FALSE(launched.contains(a));
  EXPECT_EQ(launched.at(b).rendezvous.addresses, (std::vector<std::string>{"10.0.0.2", "10.0.0.3"}));
}

TEST_F(Gangs, AreMadeOfWorkersOfOneMachine) {
  for (const char* name : {"1", "2"}) {
    JoinWorker local = offer(name, 2);
    local.address = "127.0.0.1";
    step(local);
  }
  experiment = *step(submit(gang_config(4, 1))).created;
  EXPECT_EQ(launched.size(), 2U);
}

TEST_F(Gangs, ThatRunAtTheSameTimeMeetAtDifferentPorts) {
  constexpr std::uint64_t ports = 4'000;
  const WorkerId a = join("1", 3);
  join("2", 3);
  const WorkerId c = join("3", 3);
  join("4", 3);
  experiment = *step(submit(gang_config(6, 1))).created;
  const std::uint64_t first = launched.at(a).rendezvous.port;
  const std::uint64_t lease = launched.at(a).key.lease.number();
  const ExperimentId other = *step(submit(gang_config(99, 1, 1, Value::Map{{"name", "idle"}}))).created;
  step(PauseExperiment{other});
  step(CheckTimers{});
  // As many events later as there are ports, a lease would have the same.
  for (bool paused = true; (cluster.log.back().lsn.number() + 3 - lease) % ports != 0; paused = !paused) {
    if (paused) {
      step(ResumeExperiment{other});
    } else {
      step(PauseExperiment{other});
    }
  }
  step(submit(gang_config(6, 1, 1, Value::Map{{"name", "second"}})));
  ASSERT_EQ((launched.at(c).key.lease.number() - lease) % ports, 0U);
  EXPECT_EQ(launched.at(c).rendezvous.port, first + 1);
}

TEST_F(Gangs, KeepNoWorkerWhileAnotherIsSilent) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  cluster.engine.set_suspect(b, true);
  experiment = *step(submit(gang_config(4, 1))).created;
  EXPECT_TRUE(launched.empty());
  step(submit(random_config(2, 2, Value::Map{{"name", "small"}})));
  EXPECT_EQ(free_slots(a), 0U) << "what cannot start now keeps nothing from others";
}

TEST_F(Gangs, SayWhatTheyWaitFor) {
  const WorkerId a = join("1", 2);
  join("2", 2);
  CreateExperiment create;
  create.config = gang_config(4, 2, 2);
  experiment = *step(create).created;
  starts(a);
  const auto explain_trial = [&](std::uint64_t number) {
    return explain(*cluster.engine.find(experiment), TrialNumber(number), cluster.engine.workers(),
                   cluster.now);
  };
  const auto places = std::get<NowTrains>(explain_trial(0).now).places;
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].worker, "1");
  EXPECT_EQ(places[1].worker, "2");
  EXPECT_FALSE(places[0].gone);
  step(PauseExperiment{experiment});
  exits(launched.begin()->first, 0);
  exits(launched.rbegin()->first, 0);
  CreateExperiment small;
  small.config = random_config(1, 1, Value::Map{{"name", "small"}});
  step(small);
  step(ResumeExperiment{experiment});
  const auto gang = std::get<WaitForGang>(std::get<NextSlots>(explain_trial(0).next).wait);
  EXPECT_EQ(gang.trial.slots_per_trial, 4U);
  EXPECT_EQ(gang.trial.largest, 2U);
  EXPECT_EQ(gang.workers, 2U);
  EXPECT_EQ(gang.slots_each, 2U);
  EXPECT_EQ(gang.ready, 1U);
}

// --- what is behind the slots ---

TEST_F(Gangs, StayInTheirPool) {
  const WorkerId a = join("1", 3);
  const WorkerId b = join("2", 3);
  for (const auto& [name, slots] : std::map<std::string, std::uint64_t>{{"3", 2}, {"4", 2}, {"5", 4}}) {
    JoinWorker big = offer(name, slots);
    big.pool = "big";
    big.labels = {{"net", "ib"}};
    step(big);
  }
  experiment = *step(submit(gang_config(4, 1))).created;
  EXPECT_EQ(launched.size(), 2U) << "that one of another pool has four slots is nothing to it";
  EXPECT_TRUE(launched.contains(a) && launched.contains(b));
  launched.clear();
  Value wants_big =
      random_config(1, 1,
                    Value::Map{{"resources", Value::Map{{"slots_per_trial", 6},
                                                        {"spans_workers", true},
                                                        {"resource_pool", "big"},
                                                        {"labels", Value::Map{{"net", "ib"}}}}}});
  step(submit(std::move(wants_big)));
  EXPECT_EQ(launched.size(), 3U);
  EXPECT_FALSE(launched.contains(a) || launched.contains(b));
  expect_replayable();
}

TEST_F(Gangs, TakeNoSlotThatIsOutOfUse) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  step(NoteTroubles{a, {{SlotIndex{1}, "GPU 1 is lost"}}});
  experiment = *step(submit(gang_config(4, 2))).created;
  EXPECT_TRUE(launched.empty());
  const auto wait = waits_for(*cluster.engine.find(experiment), cluster.engine.workers(), cluster.now);
  ASSERT_TRUE(wait);
  EXPECT_TRUE(std::holds_alternative<WaitForReachableWorkers>(*wait));
  // Nothing is kept for what cannot be: small trials behind it run.
  CreateExperiment small;
  small.config = random_config(3, 3, Value::Map{{"name", "small"}});
  const ExperimentId many = *step(small).created;
  EXPECT_EQ(cluster.engine.find(many)->running.size(), 3U);
  step(KillExperiment{many});
  while (!cluster.attempts.empty()) {
    const AttemptKey key = cluster.attempts.begin()->first;
    const TestAttempt attempt = cluster.attempts.at(key);
    cluster.attempts.erase(key);
    step(TakeReports{attempt.worker, key, attempt.next_seq, {ExitReport{}}});
  }
  launched.clear();
  const WorkerId c = join("3", 2);
  EXPECT_EQ(launched.size(), 2U);
  EXPECT_TRUE(launched.contains(b) && launched.contains(c)) << "not on the one with a broken device";
  expect_replayable();
}

TEST_F(Gangs, AreMadeWhereTheOneLargeWorkerIsPartlyOutOfUse) {
  const WorkerId large = join("1", 4);
  const WorkerId b = join("2", 2);
  const WorkerId c = join("3", 2);
  step(NoteTroubles{large, {{SlotIndex{0}, "GPU 0 is lost"}}});
  experiment = *step(submit(gang_config(4, 1))).created;
  EXPECT_EQ(launched.size(), 2U);
  EXPECT_TRUE(launched.contains(b) && launched.contains(c)) << "the fullest that suffice";
}

TEST_F(Gangs, ReceiveTheKnownTroublesOfEachMachine) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  step(NoteTroubles{b, {{SlotIndex{1}, "GPU 1 is lost"}}});
  step(ReleaseWorker{b});
  experiment = *step(submit(gang_config(4, 1))).created;
  ASSERT_EQ(launched.size(), 2U) << "an operator wants them used";
  EXPECT_FALSE(launched.at(a).despite_leaked_processes);
  EXPECT_TRUE(launched.at(b).despite_leaked_processes);
}

TEST_F(Gangs, HaveDifferentDevicesOnEveryWorker) {
  step(sharing("1", {}));
  step(sharing("2", {}));
  experiment = *step(submit(gang_config(4, 1))).created;
  ASSERT_EQ(launched.size(), 2U);
  for (const auto& [worker, spec] : launched) {
    EXPECT_EQ(spec.slots, (std::vector<SlotIndex>{SlotIndex{0}, SlotIndex{2}}));
  }
}

TEST_F(Gangs, WaitForDifferentDevicesAlthoughEnoughSlotsAreFree) {
  step(sharing("1", {}));
  step(sharing("2", {}));
  step(submit(random_config(6, 6, Value::Map{{"name", "small"}})));
  const auto end_those_on_y = [this](bool on_y) {
    const std::map<AttemptKey, TestAttempt> attempts = cluster.attempts;
    for (const auto& [key, attempt] : attempts) {
      if ((attempt.spec.slots.front() == SlotIndex{2}) == on_y) {
        cluster.report(key, 9, 0.5);
        cluster.attempts.erase(key);
        step(TakeReports{attempt.worker, key, attempt.next_seq + 1, {ExitReport{}}});
      }
    }
  };
  ASSERT_EQ(cluster.attempts.size(), 6U);
  end_those_on_y(false);
  launched.clear();
  experiment = *step(submit(gang_config(4, 1))).created;
  EXPECT_EQ(free_slots(WorkerId(1)) + free_slots(WorkerId(2)), 4U);
  EXPECT_TRUE(launched.empty()) << "two slots are free on each, of one device";
  end_those_on_y(true);
  EXPECT_EQ(launched.size(), 2U);
}

TEST_F(Gangs, CountNoWorkerWhoseDevicesAreTooFewThatWork) {
  const std::vector<SlotTrouble> lost = {{SlotIndex{2}, "GPU y is lost"}};
  step(sharing("1", lost));
  step(sharing("2", lost));
  experiment = *step(submit(gang_config(4, 1))).created;
  EXPECT_TRUE(launched.empty()) << "two slots are free on each, of one device";
  step(NoteTroubles{WorkerId(1), {}});
  EXPECT_TRUE(launched.empty());
  step(NoteTroubles{WorkerId(2), {}});
  EXPECT_EQ(launched.size(), 2U);
}

}  // namespace
}  // namespace hpsearch::engine
