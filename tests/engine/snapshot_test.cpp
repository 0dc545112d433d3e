#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "test_cluster.hpp"

namespace hpsearch::engine {
namespace {

/// Two experiments in the middle of everything: a restart, checkpoints, NaN, a trial at its rung, live
/// attempts with decisions, changed limits, an experiment that was killed.
void live_a_little(TestCluster& cluster) {
  cluster.join("a", 3);
  const ExperimentId id = cluster.create(asha_config(9, 3));
  cluster.exit(cluster.live(id, 0), 1);
  const AttemptKey again = cluster.live(id, 0);
  cluster.send(again, CheckpointReport{Units{1}, "/c/1", 1, 10});
  cluster.report(again, 1, 0.25);
  cluster.report(cluster.live(id, 1), 1, std::numeric_limits<double>::quiet_NaN());
  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_trials", 12}}}}});
  const ExperimentId other = cluster.create(random_config(5, 2));
  cluster.step(KillExperiment{other});
  cluster.step(PauseExperiment{id});
}

TEST(Snapshot, LoadsIntoAnEngineThatStandsExactlyThere) {
  TestCluster cluster;
  live_a_little(cluster);
  const Value saved = cluster.engine.save();
  Engine loaded(searchers::registry());
  const Status status = loaded.load(saved);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_TRUE(loaded.save() == saved);
  EXPECT_EQ(loaded.last_lsn(), cluster.engine.last_lsn());
  EXPECT_EQ(loaded.find(ExperimentId(1), TrialNumber(0))->restarts, 1U);
  EXPECT_EQ(loaded.find(ExperimentId(1), TrialNumber(0))->checkpoints->latest, "/c/1");

  // Both go the same way from here.
  Engine replayed(searchers::registry());
  for (const Event& event : cluster.log) {
    ASSERT_TRUE(replayed.replay(event));
  }
  const Command resume = ResumeExperiment{ExperimentId(1)};
  const Result<Effects> one = loaded.step(resume, cluster.now);
  const Result<Effects> other = replayed.step(resume, cluster.now);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->events.size(), other->events.size());
  EXPECT_TRUE(loaded.save() == replayed.save());
}

TEST(Snapshot, KnowsAZeroFromANegativeOne) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(2, 1));
  cluster.report(cluster.live(id, 0), 5, -0.0);
  cluster.report(cluster.live(id, 0), 5, 0.0);
  ASSERT_TRUE(std::signbit(cluster.engine.find(id, TrialNumber(0))->best->metric));
  Engine loaded(searchers::registry());
  ASSERT_TRUE(loaded.load(cluster.engine.save()));
  EXPECT_TRUE(std::signbit(loaded.find(id, TrialNumber(0))->best->metric));
  EXPECT_FALSE(std::signbit(loaded.find(id, TrialNumber(0))->latest->metric));
}

/// Calls `visit` with every text in the tree, and a way to put another in its place.
void each_text(Value& tree, const std::function<void(Value&)>& visit) {
  if (tree.as_text() != nullptr) {
    visit(tree);
  } else if (Value::List* list = tree.as_list()) {
    for (Value& item : *list) {
      each_text(item, visit);
    }
  } else if (Value::Map* map = tree.as_map()) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : *map) {
      keys.push_back(key);
    }
    for (const std::string& key : keys) {
      each_text((*map)[key], visit);
    }
  }
}

TEST(Snapshot, WhatIsDamagedIsRefusedAndLeavesTheEngineFresh) {
  TestCluster cluster;
  live_a_little(cluster);
  Value saved = cluster.engine.save();
  std::size_t refused = 0;
  std::size_t tried = 0;
  each_text(saved, [&](Value& place) {
    const std::string good = *place.as_text();
    for (const std::string& bad :
         {good.substr(0, good.size() / 2), good + "A", good + "*", std::string("zzzz")}) {
      place = bad;
      Engine engine(searchers::registry());
      ++tried;
      if (const Status status = engine.load(saved); !status) {
        ++refused;
        EXPECT_EQ(engine.last_lsn(), Lsn{});
        EXPECT_FALSE(status.error().message.empty());
      }
    }
    place = good;
  });
  EXPECT_GT(refused, tried / 3) << "names and reasons may say anything, numbers may not";
  Engine engine(searchers::registry());
  EXPECT_TRUE(engine.load(saved).has_value());
  EXPECT_EQ(Engine(searchers::registry()).load(Value()).error().code, Errc::corrupt);
  EXPECT_EQ(Engine(searchers::registry()).load(Value::Map{{"format", 99}}).error().code,
            Errc::version_mismatch);
}

}  // namespace
}  // namespace hpsearch::engine
