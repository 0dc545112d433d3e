#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/test_cluster.hpp"
#include "messages.hpp"

// Workers on which everything fails, and trials that fail everywhere. A worker is judged by what is the
// worker's.

namespace hpsearch::engine {
namespace {

/// Workers of one slot each, and experiments of which every worker gets trials.
class Quarantines : public testing::Test {
 protected:
  void begin(std::size_t workers, int experiments = 2, std::uint64_t max_restarts = 5) {
    for (std::size_t i = 0; i < workers; ++i) {
      ids.push_back(cluster.join("w" + std::to_string(i), 1));
    }
    for (int i = 0; i < experiments; ++i) {
      searches.push_back(cluster.create(
          random_config(200, 0, Value::Map{{"max_restarts", static_cast<int>(max_restarts)}})));
    }
  }

  const WorkerRecord& worker(std::size_t number) const { return cluster.engine.workers().at(ids.at(number)); }
  bool in_quarantine(std::size_t number) const { return !worker(number).quarantined.empty(); }
  std::size_t in_quarantine() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      count += in_quarantine(i) ? 1U : 0U;
    }
    return count;
  }
  std::optional<AttemptKey> on(std::size_t number) const {
    const auto& attempts = worker(number).attempts;
    return attempts.empty() ? std::nullopt : std::optional(*attempts.begin());
  }

  /// Each worker in turn: what it runs crashes there if `fails` says so, else it reports and ends well.
  template <class Fails>
  void turn(Fails fails) {
    cluster.now = cluster.now + Duration::seconds(2);
    cluster.step(CheckTimers{});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::set<AttemptKey> running = worker(i).attempts;
      for (const AttemptKey& key : running) {
        if (fails(i, key)) {
          cluster.exit(key, 1);
        } else {
          cluster.report(key, 1, 0.5);
          cluster.exit(key);
        }
      }
    }
  }
  template <class Fails>
  void turns(int count, Fails fails) {
    for (int i = 0; i < count; ++i) {
      turn(fails);
    }
  }

  /// No search paused itself early: then nothing would be shown about workers.
  void expect_searched() const {
    for (const ExperimentId id : searches) {
      EXPECT_NE(cluster.engine.find(id)->state, ExperimentState::paused);
      EXPECT_GT(cluster.engine.find(id)->trials.size(), 100U);
    }
  }

  /// Everything fails on the first worker, until it is in quarantine.
  void break_first() {
    for (int i = 0; i < 60 && !in_quarantine(0); ++i) {
      turn([](std::size_t number, const AttemptKey&) { return number == 0; });
    }
    ASSERT_TRUE(in_quarantine(0));
    while (on(0)) {  // What it had got before.
      cluster.exit(*on(0), 1);
    }
  }
  void wait_until_probation() {
    cluster.now = worker(0).rests_until;
    cluster.step(CheckTimers{});
  }

  TestCluster cluster;
  std::vector<WorkerId> ids;
  std::vector<ExperimentId> searches;
};

TEST_F(Quarantines, AWorkerOnWhichTrialsFailThatWorkElsewhere) {
  begin(4);
  break_first();
  EXPECT_EQ(in_quarantine(), 1U);
  EXPECT_MESSAGE(worker(0).quarantined);
  EXPECT_FALSE(on(0)) << "no new leases";
  for (const ExperimentId id : searches) {
    for (const TrialRecord& trial : cluster.engine.find(id)->trials) {
      EXPECT_NE(trial.state, TrialState::failed) << "it was not the trial's failure";
    }
  }
  Engine twin = cluster.replayed();
  EXPECT_EQ(state_text(twin), state_text(cluster.engine));
}

// A machine without a user is as good as others for everybody else.
TEST_F(Quarantines, NoWorkerThatRefusesSubmitters) {
  begin(4);
  ExitReport refused;
  refused.cause = ExitReport::Cause::could_not_start;
  refused.code = 77;
  refused.message = "this machine has no user anna";
  for (int i = 0; i < 60; ++i) {
    cluster.now = cluster.now + Duration::seconds(2);
    cluster.step(CheckTimers{});
    for (std::size_t number = 0; number < ids.size(); ++number) {
      const std::set<AttemptKey> running = worker(number).attempts;
      for (const AttemptKey& key : running) {
        if (number == 0) {
          cluster.send(key, refused);
          cluster.attempts.erase(key);
        } else {
          cluster.report(key, 1, 0.5);
          cluster.exit(key);
        }
      }
    }
    ASSERT_EQ(in_quarantine(), 0U) << i;
  }
}

TEST_F(Quarantines, NoWorkerBecauseOfConfigurationsThatFail) {
  begin(4, 3);
  turns(200, [](std::size_t, const AttemptKey& key) { return key.trial.number() % 10 >= 7; });
  expect_searched();
  EXPECT_EQ(in_quarantine(), 0U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(worker(i).quarantines.empty());
  }
}

TEST_F(Quarantines, NoWorkerBecauseOfConfigurationsThatFailOnce) {
  begin(4, 3, 0);
  turns(200, [](std::size_t, const AttemptKey& key) { return key.trial.number() % 10 >= 4; });
  expect_searched();
  EXPECT_EQ(in_quarantine(), 0U);
}

TEST_F(Quarantines, NoWorkerBecauseOfProgramsThatFailNowAndThen) {
  begin(4, 3);
  std::uint64_t state = 1;
  turns(300, [&](std::size_t, const AttemptKey&) {
    state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    return (state >> 33U) % 10 < 2;
  });
  std::size_t quarantines = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    quarantines += worker(i).quarantines.size();
  }
  EXPECT_EQ(quarantines, 0U);
}

// Each trial fails once, wherever that is: a worker on which several do so in a row is like the others.
TEST_F(Quarantines, NoWorkerBecauseOfProgramsThatFailAsOftenElsewhere) {
  for (int i = 0; i < 4; ++i) {
    ids.push_back(cluster.join("w" + std::to_string(i), 2));
  }
  for (int i = 0; i < 2; ++i) {
    searches.push_back(cluster.create(random_config(400, 5, Value::Map{{"max_restarts", 5}})));
  }
  std::size_t most_marks = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    cluster.now = cluster.now + Duration::seconds(2);
    cluster.step(CheckTimers{});
    bool has_failed = false;  // On the first worker, in this turn.
    for (std::size_t number = 0; number < ids.size(); ++number) {
      const std::set<AttemptKey> running = worker(number).attempts;
      for (const AttemptKey& key : running) {
        if (key.attempt != AttemptNumber(1)) {
          if (number > 0 || i % 6 == 5) {  // On the first worker good starts are seldom.
            cluster.report(key, 1, 0.5);
            cluster.exit(key);
          }
        } else if (number > 0 || (!has_failed && key.experiment == searches[i % 2])) {
          has_failed = has_failed || number == 0;
          cluster.exit(key, 1);
        }
      }
    }
    const auto& marks = worker(0).marks;
    const auto known = std::count_if(marks.begin(), marks.end(),
                                     [](const WorkerMark& mark) { return mark.worked_elsewhere; });
    most_marks = std::max(most_marks, static_cast<std::size_t>(known));
    ASSERT_EQ(in_quarantine(), 0U) << i;
  }
  EXPECT_GE(most_marks, 3U) << "or this test shows nothing";
}

TEST_F(Quarantines, NoWorkerBecauseOfOneExperiment) {
  begin(4, 1);
  turns(60, [](std::size_t number, const AttemptKey&) { return number == 0; });
  EXPECT_EQ(in_quarantine(), 0U);
}

// While the others are busy, a worker on which everything fails must not use up all tries of all trials.
TEST_F(Quarantines, OneBrokenWorkerFailsNoTrialOfTheOnlySearch) {
  begin(2, 0);
  const ExperimentId id = cluster.create(random_config(6, 0, Value::Map{{"max_restarts", 2}}));
  const AttemptKey long_one = *on(1);
  cluster.report(long_one, 1, 0.5);
  for (int i = 0; i < 400; ++i) {
    cluster.now = cluster.now + Duration::seconds(5);
    cluster.step(CheckTimers{});
    if (on(0)) {
      cluster.exit(*on(0), 1);
    }
  }
  for (const TrialRecord& trial : cluster.engine.find(id)->trials) {
    EXPECT_FALSE(is_closed(trial.state));
    EXPECT_LE(trial.restarts, 1U);
  }
  cluster.exit(long_one);
  for (int i = 0; i < 100 && !is_ended(cluster.engine.find(id)->state); ++i) {
    turn([](std::size_t number, const AttemptKey&) { return number == 0; });
  }
  for (const TrialRecord& trial : cluster.engine.find(id)->trials) {
    EXPECT_NE(trial.state, TrialState::failed);
  }
  EXPECT_TRUE(is_ended(cluster.engine.find(id)->state));
  cluster.expect_replayable();
}

TEST_F(Quarantines, AMarkIsTakenBackWhenTheTrialFailsElsewhereToo) {
  begin(2);
  const AttemptKey key = *on(0);
  cluster.exit(key, 1);
  ASSERT_EQ(worker(0).marks.size(), 1U);
  cluster.report(*on(1), 1, 0.5);
  cluster.exit(*on(1));
  ASSERT_EQ(on(1)->trial, key.trial) << "it is tried elsewhere";
  cluster.exit(*on(1), 1);
  EXPECT_TRUE(worker(0).marks.empty());
  EXPECT_TRUE(worker(1).marks.empty());
}

TEST_F(Quarantines, ATrialThatFailedOnTwoWorkersMarksNoneAnyMore) {
  begin(3);
  const AttemptKey failing = *on(0);
  const auto trial = [&]() -> const TrialRecord& {
    return cluster.trial(failing.experiment, failing.trial.number());
  };
  const std::vector<std::string> messages{"one way", "another way", "a third way"};
  std::size_t times = 0;
  for (int i = 0; i < 100 && times < messages.size(); ++i) {
    cluster.now = cluster.now + Duration::seconds(2);
    cluster.step(CheckTimers{});
    if (trial().live) {
      ExitReport exit;
      exit.code = 1;
      exit.message = messages[times++];
      cluster.send(trial().live->key, exit);
      EXPECT_EQ(worker(0).marks.size() + worker(1).marks.size() + worker(2).marks.size(),
                times == 1 ? 1U : 0U);
      continue;
    }
    for (std::size_t number = 0; number < ids.size() && !trial().live; ++number) {
      cluster.report(*on(number), 1, 0.5);
      cluster.exit(*on(number));
    }
  }
  EXPECT_EQ(times, messages.size());
}

TEST_F(Quarantines, AGoodStartSpeaksForTheWorker) {
  begin(4);
  int turn_number = 0;
  for (int i = 0; i < 120; ++i) {
    ++turn_number;
    turn([&](std::size_t number, const AttemptKey&) { return number == 0 && turn_number % 3 != 0; });
  }
  EXPECT_FALSE(in_quarantine(0));
}

TEST_F(Quarantines, LateFailuresAreTheProgramsOwn) {
  begin(4);
  for (int i = 0; i < 60; ++i) {
    cluster.now = cluster.now + Duration::seconds(61);
    turn([](std::size_t number, const AttemptKey&) { return number == 0; });
  }
  EXPECT_FALSE(in_quarantine(0));
}

TEST_F(Quarantines, OneWorkerOfAPoolAtATime) {
  begin(6);
  turns(100, [](std::size_t number, const AttemptKey&) { return number < 2; });
  EXPECT_EQ(in_quarantine(), 1U);
}

TEST_F(Quarantines, ATenthOfALargePool) {
  begin(20);
  turns(100, [](std::size_t number, const AttemptKey&) { return number < 3; });
  EXPECT_EQ(in_quarantine(), 2U);
}

TEST_F(Quarantines, NotTheLastWorkerOfItsKindOfSlots) {
  begin(0);
  JoinWorker gpu{"gpu", "gpu", 1, 1, "gpu", {}};
  ids.push_back(*cluster.step(gpu).joined);
  for (int i = 0; i < 4; ++i) {
    ids.push_back(cluster.join("cpu" + std::to_string(i), 1));
  }
  turns(60, [](std::size_t number, const AttemptKey&) { return number == 0; });
  EXPECT_FALSE(in_quarantine(0));
}

// The other worker of the pool is drained: those of other pools don't take its place.
TEST_F(Quarantines, NotTheLastWorkerOfItsPool) {
  std::size_t spared = 0;
  for (int before = 0; before < 30; ++before) {
    SCOPED_TRACE(before);
    cluster = TestCluster();
    ids.clear();
    for (const char* name : {"bad", "good"}) {
      JoinWorker apart{name, name, 1, name == std::string("bad") ? 1U : 4U, "cpu", {}};
      apart.pool = "apart";
      ids.push_back(*cluster.step(apart).joined);
    }
    cluster.join("other", 1);
    for (int i = 0; i < 2; ++i) {
      cluster.create(random_config(
          200, 0, Value::Map{{"max_restarts", 5}, {"resources", Value::Map{{"resource_pool", "apart"}}}}));
    }
    const auto bad_fails = [](std::size_t number, const AttemptKey&) { return number == 0; };
    turns(before, bad_fails);
    if (in_quarantine(0)) {
      break;
    }
    ++spared;
    cluster.step(DrainWorker{ids[1]});
    turns(30, bad_fails);
    EXPECT_FALSE(in_quarantine(0));
  }
  EXPECT_GT(spared, 2U);
  EXPECT_TRUE(in_quarantine(0)) << "or this test shows nothing";
}

// Old: a worker of another pool was waited for, which can never have the trial.
TEST_F(Quarantines, WorkersOfOtherPoolsAreNoSecondOpinion) {
  JoinWorker apart{"apart", "apart", 1, 1, "cpu", {}};
  apart.pool = "apart";
  ids.push_back(*cluster.step(apart).joined);
  ids.push_back(cluster.join("other", 1));
  const ExperimentId id =
      cluster.create(random_config(1, 0, Value::Map{{"resources", Value::Map{{"resource_pool", "apart"}}}}));
  ExitReport exit;
  exit.code = 1;
  exit.log_tail = "ValueError: lr";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(on(0));
    cluster.send(*on(0), exit);
  }
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::failed) << "it failed twice in the same way";
}

TEST_F(Quarantines, EndWithATrialOnProbation) {
  begin(4);
  break_first();
  const Instant from = worker(0).quarantines.back().from;
  EXPECT_EQ(worker(0).rests_until, from + Duration::seconds(300));
  cluster.now = from + Duration::seconds(299);
  cluster.step(CheckTimers{});
  EXPECT_FALSE(on(0));
  wait_until_probation();
  ASSERT_TRUE(on(0));
  EXPECT_TRUE(in_quarantine(0));
  cluster.report(*on(0), 1, 0.5);
  EXPECT_FALSE(in_quarantine(0));
  EXPECT_TRUE(worker(0).quarantines.back().to);
  cluster.exit(*on(0));
  EXPECT_TRUE(on(0));
  cluster.expect_replayable();
}

TEST_F(Quarantines, GetLongerWhenTheTrialOnProbationFails) {
  begin(4);
  break_first();
  for (const std::int64_t wait : {600, 1'200, 2'400, 3'600, 3'600}) {
    wait_until_probation();
    ASSERT_TRUE(on(0));
    const AttemptKey key = *on(0);
    cluster.exit(key, 1);
    EXPECT_TRUE(in_quarantine(0));
    EXPECT_FALSE(on(0));
    EXPECT_EQ(worker(0).rests_until, cluster.now + Duration::seconds(wait));
    EXPECT_EQ(cluster.trial(key.experiment, key.trial.number()).restarts, 0U)
        << "it was the worker's failure";
  }
  EXPECT_EQ(worker(0).quarantines.size(), 1U);
  cluster.expect_replayable();
}

TEST_F(Quarantines, OneTrialRunsOnProbation) {
  begin(0);
  ids.push_back(cluster.join("bad", 4));
  for (int i = 0; i < 4; ++i) {
    ids.push_back(cluster.join("good" + std::to_string(i), 1));
  }
  for (int i = 0; i < 2; ++i) {
    searches.push_back(cluster.create(random_config(200, 0)));
  }
  break_first();
  wait_until_probation();
  EXPECT_EQ(worker(0).attempts.size(), 1U);
  const AttemptKey key = *on(0);
  cluster.step(ConfirmStart{ids[0], key});
  ExitReport evicted;
  evicted.cause = ExitReport::Cause::ended_by_agent;
  cluster.send(key, evicted);
  cluster.attempts.erase(key);
  EXPECT_EQ(worker(0).attempts.size(), 1U) << "nothing was shown: another one";
  EXPECT_TRUE(in_quarantine(0));
}

TEST_F(Quarantines, AnOperatorsEndsWithTheRelease) {
  begin(2);
  cluster.step(QuarantineWorker{ids[1], "a fan is broken"});
  EXPECT_TRUE(on(1)) << "what runs there runs on";
  cluster.exit(*on(1), 1);
  EXPECT_FALSE(on(1));
  cluster.now = cluster.now + Duration::seconds(100'000);
  cluster.step(CheckTimers{});
  EXPECT_FALSE(on(1)) << "there is no probation";
  EXPECT_EQ(worker(1).quarantined, "a fan is broken");
  ASSERT_EQ(worker(1).quarantines.size(), 1U);
  EXPECT_FALSE(worker(1).quarantines.front().to);
  cluster.step(ReleaseWorker{ids[1]});
  EXPECT_EQ(worker(1).quarantines.front().to, cluster.now);
  EXPECT_TRUE(on(1));
  EXPECT_TRUE(cluster.step(ReleaseWorker{ids[1]}).events.empty()) << "asking twice leaves no trace";
  EXPECT_EQ(cluster.refused(ReleaseWorker{WorkerId(9)}).code, Errc::not_found);
  cluster.expect_replayable();
}

TEST_F(Quarantines, AnOperatorsReplacesProbation) {
  begin(4);
  break_first();
  cluster.step(QuarantineWorker{ids[0], "a fan is broken"});
  wait_until_probation();
  EXPECT_FALSE(on(0));
  EXPECT_EQ(worker(0).quarantined, "a fan is broken");
}

TEST_F(Quarantines, DrainingIsNotEndedByProbation) {
  begin(4);
  break_first();
  wait_until_probation();
  ASSERT_TRUE(on(0));
  cluster.step(DrainWorker{ids[0]});
  cluster.report(*on(0), 1, 0.5);
  EXPECT_FALSE(in_quarantine(0));
  EXPECT_TRUE(worker(0).draining);
}

TEST_F(Quarantines, OutliveARestart) {
  begin(4);
  break_first();
  Engine loaded = cluster.replayed();
  EXPECT_EQ(loaded.workers().at(ids[0]).quarantined, worker(0).quarantined);
  EXPECT_EQ(state_text(loaded), state_text(cluster.engine));
  for (const WorkerId id : ids) {
    loaded.set_suspect(id, false);
  }
  const auto later = loaded.step(CheckTimers{}, worker(0).rests_until);
  ASSERT_TRUE(later);
  EXPECT_EQ(loaded.workers().at(ids[0]).attempts.size(), 1U) << "it is tried when its time has come";
}

}  // namespace
}  // namespace hpsearch::engine
