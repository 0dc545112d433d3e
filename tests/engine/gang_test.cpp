#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

// Attempts on several workers: all of them or none, and whatever ends one ends all.

namespace hpsearch::engine {
namespace {

Value gang_config(int slots, int trials, int concurrent = 1, Value::Map others = {}) {
  others["resources"] = Value::Map{{"slots_per_trial", slots}};
  if (!others.contains("launch")) {
    others["launch"] = Value::Map{{"kind", "pytorch"}};
  }
  return random_config(trials, concurrent, std::move(others));
}

/// Workers with addresses, and what each of them was told of each attempt.
class Gangs : public testing::Test {
 protected:
  WorkerId join(const std::string& name, std::uint64_t slots, std::vector<HeldAttempt> held = {},
                std::uint64_t incarnation = 1) {
    JoinWorker worker = offer(name, slots);
    worker.incarnation = incarnation;
    worker.held = std::move(held);
    return *step(worker).joined;
  }

  static CreateExperiment submit(Value config) {
    CreateExperiment create;
    create.config = std::move(config);
    return create;
  }

  static JoinWorker offer(const std::string& name, std::uint64_t slots) {
    JoinWorker worker{name, name, 1, slots, "cpu", {}};
    worker.address = "10.0.0." + name;
    return worker;
  }

  Effects step(const Command& command) {
    Effects effects = cluster.step(command);
    for (const Order& order : effects.orders) {
      if (const auto* launch = std::get_if<LaunchAttempt>(&order)) {
        launched[launch->worker] = launch->spec;
      } else if (const auto* decide = std::get_if<DecideAttempt>(&order)) {
        told[decide->worker] = decide->decision.directive;
      } else if (const auto* ack = std::get_if<AckReports>(&order)) {
        acked[ack->worker] = ack->upto;
      }
    }
    return effects;
  }

  Effects exits(WorkerId worker, int code, std::uint64_t seq = 1) {
    ExitReport exit;
    exit.code = code;
    exit.message = code == 0 ? "" : "exit status " + std::to_string(code);
    return step(TakeReports{worker, launched.at(worker).key, seq, {exit}});
  }
  Effects ends_as_told(WorkerId worker, std::uint64_t seq = 1) {
    ExitReport exit;
    exit.cause = ExitReport::Cause::ended_by_agent;
    return step(TakeReports{worker, launched.at(worker).key, seq, {exit}});
  }
  void starts(WorkerId worker) { step(ConfirmStart{worker, launched.at(worker).key}); }

  /// Three slots on two devices: two on x, one on y.
  static JoinWorker sharing(const std::string& name, std::vector<SlotTrouble> troubles) {
    JoinWorker worker = offer(name, 3);
    for (const char* device : {"GPU-x", "GPU-x", "GPU-y"}) {
      worker.devices.push_back({device, "Fake GPU", 0, 0});
    }
    worker.troubles = std::move(troubles);
    return worker;
  }

  const TrialRecord& trial(std::uint64_t number = 0) const { return cluster.trial(experiment, number); }
  std::uint64_t free_slots(WorkerId worker) const { return cluster.engine.workers().at(worker).slots.free(); }

  /// The log folds to what lives, also through a snapshot.
  void expect_replayable() const {
    Engine folded(searchers::registry());
    for (const Event& event : cluster.log) {
      ASSERT_TRUE(folded.replay(event)) << event.lsn.number();
    }
    EXPECT_EQ(compact_json(folded.save()), compact_json(cluster.engine.save()));
    Engine loaded(searchers::registry());
    const Status done = loaded.load(cluster.engine.save());
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(compact_json(loaded.save()), compact_json(cluster.engine.save()));
  }

  TestCluster cluster;
  ExperimentId experiment;
  std::map<WorkerId, LaunchSpec> launched;
  std::map<WorkerId, Directive> told;
  std::map<WorkerId, std::uint64_t> acked;
};

TEST_F(Gangs, TakeEqualPartsOfTwoWorkersInOneEvent) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  experiment = cluster.create(gang_config(4, 1));
  step(LookAtClock{});
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

TEST_F(Gangs, HaveAWorkerForEachRoleThoughFewerWouldDo) {
  std::vector<WorkerId> workers;
  for (const char* name : {"1", "2", "3"}) {
    workers.push_back(join(name, 2));
  }
  const Value launch = Value::Map{{"kind", "tensorflow"}, {"roles", Value::Map{{"ps", 1}, {"evaluator", 2}}}};
  experiment = cluster.create(gang_config(4, 1, 1, {{"launch", launch}}));
  step(LookAtClock{});
  EXPECT_TRUE(launched.empty()) << "four are needed";
  EXPECT_NE(explain(*cluster.engine.find(experiment), TrialNumber(0), cluster.engine.workers()).now.find("in equal parts (on 4 at least, for each of launch.roles)"), std::string::npos);
  workers.push_back(join("4", 2));
  step(LookAtClock{});
  for (std::uint64_t rank = 0; rank < workers.size(); ++rank) {
    EXPECT_EQ(launched.at(workers[rank]).slots.size(), 1U);
    EXPECT_EQ(launched.at(workers[rank]).rendezvous.addresses.size(), 4U);
    EXPECT_EQ(launched.at(workers[rank]).launch.roles, (LaunchRoles{1, 2}));
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

/// One trial of four slots on two workers, started on both.
class RunningGang : public Gangs {
 protected:
  void SetUp() override {
    a = join("1", 2);
    b = join("2", 2);
    CreateExperiment create;
    create.config = gang_config(4, 1);
    experiment = *step(create).created;
    starts(a);
    starts(b);
  }
  WorkerId a;
  WorkerId b;
};

TEST_F(RunningGang, EndsWhenItsLastMemberIsGone) {
  step(TakeReports{a, launched.at(a).key, 1, {MetricsReport{Units{9}, {{"score", 0.5}}}}});
  exits(a, 0, 2);
  EXPECT_TRUE(trial().live.has_value());
  EXPECT_EQ(free_slots(a), 2U);
  EXPECT_EQ(free_slots(b), 0U);
  EXPECT_EQ(told.at(b), Directive::stop);
  expect_replayable();
  exits(b, 0);
  EXPECT_EQ(acked.at(b), 1U);
  EXPECT_FALSE(trial().live.has_value());
  EXPECT_EQ(free_slots(b), 2U);
  EXPECT_EQ(trial().state, TrialState::completed);
  EXPECT_EQ(trial().restarts, 0U);
  expect_replayable();
}

TEST_F(RunningGang, WaitsForRank0WhenAnotherEndsWellFirst) {
  exits(b, 0);
  EXPECT_FALSE(told.contains(a));
  EXPECT_TRUE(trial().live.has_value());
  EXPECT_EQ(free_slots(b), 2U);
}

TEST_F(RunningGang, CountsAFailureOnceWhoeverHasIt) {
  exits(b, 1);
  EXPECT_EQ(told.at(a), Directive::kill);
  EXPECT_EQ(trial().restarts, 1U);
  EXPECT_TRUE(trial().live.has_value());
  expect_replayable();
  exits(a, 1);
  EXPECT_EQ(trial().restarts, 1U);
  EXPECT_EQ(trial().attempts, 2U);
  EXPECT_TRUE(trial().live.has_value());  // It runs again, on both.
  EXPECT_NE(trial().last_failure->find("rank 1"), std::string::npos);
  expect_replayable();
}

TEST_F(RunningGang, EndsEverywhereUncountedWhenAWorkerIsGone) {
  step(LoseWorker{b, "it says goodbye"});
  EXPECT_EQ(told.at(a), Directive::kill);
  EXPECT_TRUE(trial().live.has_value());
  EXPECT_EQ(free_slots(a), 0U);  // Until its processes are gone.
  expect_replayable();
  ends_as_told(a);
  EXPECT_EQ(free_slots(a), 2U);
  EXPECT_EQ(trial().restarts, 0U);
  EXPECT_EQ(trial().state, TrialState::pending);
  EXPECT_FALSE(trial().live.has_value());
  launched.clear();
  join("2", 2, {}, 2);
  EXPECT_EQ(trial().attempts, 2U);
  EXPECT_EQ(launched.size(), 2U);
  expect_replayable();
}

TEST_F(RunningGang, IsKilledUncountedWhenADeviceOfAnyMemberBreaks) {
  ExitReport broken;
  broken.cause = ExitReport::Cause::lost;
  broken.code = 9;
  broken.message = "its node failed: GPU 1 is lost";
  step(TakeReports{b, launched.at(b).key, 1, {broken}});
  EXPECT_EQ(told.at(a), Directive::kill) << "without the other it can only wait";
  ends_as_told(a);
  EXPECT_EQ(trial().restarts, 0U);
  EXPECT_EQ(trial().attempts, 2U);
  told.clear();
  step(TakeReports{a, launched.at(a).key, 1, {broken}});
  EXPECT_EQ(told.at(b), Directive::kill);
  ends_as_told(b);
  EXPECT_EQ(trial().restarts, 0U);
  EXPECT_EQ(trial().attempts, 3U);
  expect_replayable();
}

TEST_F(RunningGang, GoesOnFromTheCheckpointOfRank0) {
  const AttemptKey key = launched.at(a).key;
  step(TakeReports{a, key, 1, {MetricsReport{Units{4}, {{"score", 0.5}}}, CheckpointReport{Units{4}, "/c/4", 1, 1}}});
  step(LoseWorker{b, "its machine burns"});
  ends_as_told(a, 3);
  join("2", 2, {}, 2);
  EXPECT_EQ(launched.at(a).latest_checkpoint, "/c/4");
  EXPECT_EQ(launched.at(b).latest_checkpoint, "/c/4");
}

TEST_F(RunningGang, FencesAMemberThatComesBackTooLate) {
  const AttemptKey key = launched.at(b).key;
  cluster.now = cluster.now + Duration::seconds(4'000);
  step(ExpireLeases{b, Instant::from_micros(1'000'000), Duration::seconds(300), Duration{}});
  EXPECT_EQ(told.at(a), Directive::kill);
  HeldAttempt held;
  held.key = key;
  held.first_seq = 1;
  held.slots = {SlotIndex{0}, SlotIndex{1}};
  JoinWorker again = offer("2", 2);
  again.held = {held};
  const Effects effects = step(again);
  const auto welcome = std::find_if(effects.orders.begin(), effects.orders.end(), [](const Order& order) {
    return std::holds_alternative<WelcomeWorker>(order);
  });
  ASSERT_NE(welcome, effects.orders.end());
  EXPECT_EQ(std::get<WelcomeWorker>(*welcome).attempts.at(0).fate, WelcomeWorker::Fate::fenced);
  EXPECT_TRUE(trial().live.has_value());
  ends_as_told(a);
  EXPECT_EQ(trial().attempts, 2U);
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

TEST_F(RunningGang, IsPausedAndEndedEverywhere) {
  step(PauseExperiment{experiment});
  EXPECT_EQ(told.at(a), Directive::pause);
  EXPECT_EQ(told.at(b), Directive::pause);
  exits(b, 0);
  exits(a, 0);
  EXPECT_EQ(trial().state, TrialState::paused);
  EXPECT_EQ(trial().restarts, 0U);
  step(ResumeExperiment{experiment});
  EXPECT_EQ(trial().attempts, 2U);
  told.clear();
  step(KillExperiment{experiment});
  EXPECT_EQ(told.at(a), Directive::kill);
  EXPECT_EQ(told.at(b), Directive::kill);
  ends_as_told(a);
  EXPECT_FALSE(is_ended(cluster.engine.find(experiment)->state));
  ends_as_told(b);
  EXPECT_TRUE(is_ended(cluster.engine.find(experiment)->state));
  expect_replayable();
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

TEST_F(Gangs, OfTwoTheFirstTakesAllAndTheOtherNothing) {
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
  create.config = gang_config(4, 1, 1, Value::Map{{"launch", Value::Map{{"kind", "process"}}}});
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

TEST_F(Gangs, SayWhatTheyWaitFor) {
  const WorkerId a = join("1", 2);
  join("2", 2);
  CreateExperiment create;
  create.config = gang_config(4, 2, 2);
  experiment = *step(create).created;
  starts(a);
  const auto explain_trial = [&](std::uint64_t number) {
    return explain(*cluster.engine.find(experiment), TrialNumber(number), cluster.engine.workers());
  };
  EXPECT_NE(explain_trial(0).now.find("trains on workers \"1\", \"2\""), std::string::npos) << explain_trial(0).now;
  step(PauseExperiment{experiment});
  exits(launched.begin()->first, 0);
  exits(launched.rbegin()->first, 0);
  CreateExperiment small;
  small.config = random_config(1, 1, Value::Map{{"name", "small"}});
  step(small);
  step(ResumeExperiment{experiment});
  const std::string next = explain_trial(0).next;
  EXPECT_NE(next.find("it waits for 2 workers with 2 free slots each at the same time, and 1 has them now"),
            std::string::npos)
      << next;
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
  Value wants_big = random_config(
      1, 1,
      Value::Map{{"launch", Value::Map{{"kind", "pytorch"}}},
                 {"resources", Value::Map{{"slots_per_trial", 6},
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
  const std::string next = waits_for(*cluster.engine.find(experiment), cluster.engine.workers());
  EXPECT_NE(next.find("there are no workers on which it can be spread"), std::string::npos) << next;
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

TEST_F(Gangs, AreToldOfEachMachineByItselfWhatIsKnownToAilIt) {
  const WorkerId a = join("1", 2);
  const WorkerId b = join("2", 2);
  step(NoteTroubles{b, {{SlotIndex{1}, "GPU 1 is lost"}}});
  step(ReleaseWorker{b});
  experiment = *step(submit(gang_config(4, 1))).created;
  ASSERT_EQ(launched.size(), 2U) << "an operator wants them used";
  EXPECT_FALSE(launched.at(a).despite_remains);
  EXPECT_TRUE(launched.at(b).despite_remains);
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
