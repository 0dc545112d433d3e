#include <gtest/gtest.h>

#include <utility>

#include "engine/test_cluster.hpp"

// What a context installs before its programs start is the same for every trial: when it fails, the search
// does.

namespace hpsearch::engine {
namespace {

ExitReport setup_failure() {
  ExitReport report;
  report.cause = ExitReport::Cause::could_not_start;
  report.code = 78;
  report.message = "requirements.txt could not be installed: No matching distribution found for x==9";
  return report;
}

class SetupFailure : public testing::Test {
 protected:
  void fail(const AttemptKey& key) {
    cluster.send(key, setup_failure());
    cluster.attempts.erase(key);
  }

  TestCluster cluster;
};

TEST_F(SetupFailure, EndsTheSearchAtOnce) {
  cluster.join("w", 2);
  const ExperimentId id = cluster.create(random_config(6, 3));
  const AttemptKey other = cluster.live(id, 1);
  fail(cluster.live(id, 0));
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::failed);
  EXPECT_EQ(cluster.trial(id, 0).restarts, 1U) << "it is not tried again";
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
  ExitReport killed;
  killed.cause = ExitReport::Cause::ended_by_agent;
  cluster.send(other, killed);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::failed);
  EXPECT_EQ(cluster.engine.find(id)->reason, setup_failure().message);
  cluster.expect_replayable();
}

TEST_F(SetupFailure, OneMoreWorkerEndsNoSearchThatHasResults) {
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(6, 3));
  const AttemptKey first = cluster.live(id, 0);
  cluster.report(first, 3, 0.5);
  cluster.exit(first);
  fail(cluster.live(id, 1));
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  EXPECT_NE(cluster.trial(id, 1).state, TrialState::failed) << "it is tried again";
  cluster.expect_replayable();
}

}  // namespace
}  // namespace hpsearch::engine
