#include <gtest/gtest.h>

#include <cmath>

#include "hpsearch/engine/scheduler/explain.hpp"
#include "test_cluster.hpp"

namespace hpsearch::engine {
namespace {

Explanation why(const TestCluster& cluster, ExperimentId id, std::uint64_t trial) {
  return explain(*cluster.engine.find(id), TrialNumber(trial), cluster.engine.workers(), cluster.now);
}

TEST(Explain, NeedsTheFewestResultsThatKeepARank) {
  for (const double divisor : {1.5, 2.0, 2.5, 3.0, 4.0, 10.0}) {
    for (std::uint64_t size = 1; size < 60; ++size) {
      for (std::uint64_t rank = 0; rank < size; ++rank) {
        std::uint64_t fewest = 0;
        while (std::floor(static_cast<double>(size + fewest) / divisor) <= static_cast<double>(rank)) {
          ++fewest;
        }
        ASSERT_EQ(results_needed(rank, size, divisor), fewest) << divisor << " " << size << " " << rank;
      }
    }
  }
}

TEST(Explain, ATrialAtItsRungIsPromotedAfterExactlySoManyResultsBehindIt) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(30, 1));
  const auto next_reports = [&](double metric) {
    const AttemptKey key = cluster.attempts.begin()->first;
    cluster.report(key, 1, metric);
    if (cluster.attempts.contains(key) && cluster.attempts.at(key).decision->directive == Directive::pause) {
      cluster.exit(key);
    }
  };
  next_reports(0.5);
  const Explanation at_first = why(cluster, id, 0);
  ASSERT_EQ(at_first.results_needed, 2U);  // floor(3/3) = 1 > rank 0.
  EXPECT_NE(at_first.now.find("rank 1 of 1"), std::string::npos) << at_first.now;
  EXPECT_NE(at_first.next.find("after 2 more results"), std::string::npos) << at_first.next;
  next_reports(0.6);
  EXPECT_EQ(why(cluster, id, 0).results_needed, 1U);
  EXPECT_EQ(why(cluster, id, 1).results_needed, 4U);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  next_reports(0.7);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running) << "as was said";
  const Explanation running = why(cluster, id, 0);
  EXPECT_EQ(running.results_needed, std::nullopt);
  EXPECT_NE(running.now.find("worker \"a\""), std::string::npos) << running.now;
}

TEST(Explain, APendingTrialNamesWhatItLacks) {
  TestCluster cluster;
  cluster.join("a", 2);
  const ExperimentId id = cluster.create(random_config(3, 2));
  cluster.step(PauseExperiment{id});
  cluster.exit(cluster.live(id, 0));
  EXPECT_NE(why(cluster, id, 0).next.find("when the experiment is resumed"), std::string::npos);
  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 1}}}}});
  cluster.step(ResumeExperiment{id});
  const Explanation pending = why(cluster, id, 0);
  EXPECT_NE(pending.now.find("waits for 1 slot"), std::string::npos) << pending.now;
  EXPECT_NE(pending.next.find("max_concurrent_trials is 1"), std::string::npos) << pending.next;
  cluster.step(LoseWorker{WorkerId(1), "gone"});
  EXPECT_EQ(why(cluster, id, 0).next, "no worker is connected");
}

TEST(Explain, AnEndedTrialSaysHow) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  cluster.run_all([](TrialNumber) { return 0.5; });
  EXPECT_NE(why(cluster, id, 0).now.find("has ended as COMPLETED at 9 epochs"), std::string::npos);
  EXPECT_EQ(why(cluster, id, 0).next, "");
}

}  // namespace
}  // namespace hpsearch::engine
