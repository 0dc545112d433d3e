#include <gtest/gtest.h>

#include "engine/test_cluster.hpp"

// Workers that do not come back.

namespace hpsearch::engine {
namespace {

class ForgottenWorkers : public testing::Test {
 protected:
  TestCluster cluster;
};

TEST_F(ForgottenWorkers, AreThoseThatAreLost) {
  const WorkerId a = cluster.join("a", 1);
  EXPECT_EQ(cluster.refused(ForgetWorker{a, ""}).code, Errc::wrong_state);
  EXPECT_EQ(cluster.refused(ForgetWorker{WorkerId(9), ""}).code, Errc::not_found);
  cluster.step(QuarantineWorker{a, "a fan is broken"});
  cluster.step(LoseWorker{a, "asked to stop"});
  EXPECT_EQ(cluster.engine.workers().at(a).lost_at, cluster.now);
  cluster.step(ForgetWorker{a, "requested by an operator"});
  EXPECT_TRUE(cluster.engine.workers().empty());
  const ForgottenWorker& left = cluster.engine.forgotten_workers().at(a);
  EXPECT_EQ(left.name, "a");
  ASSERT_EQ(left.quarantines.size(), 1U);
  EXPECT_TRUE(left.quarantines.front().to);
  EXPECT_TRUE(cluster.step(ForgetWorker{a, ""}).events.empty()) << "asking twice leaves no trace";
  cluster.expect_replayable();
}

TEST_F(ForgottenWorkers, NumbersAreNotUsedAgain) {
  const WorkerId a = cluster.join("a", 1);
  cluster.step(LoseWorker{a, ""});
  cluster.step(ForgetWorker{a, ""});
  const WorkerId again = cluster.join("a", 1);
  EXPECT_NE(again, a);
  EXPECT_EQ(cluster.engine.forgotten_workers().size(), 1U);
  const ExperimentId id = cluster.create(random_config(1, 1));
  EXPECT_EQ(cluster.trial(id, 0).live->worker, again);
  cluster.expect_replayable();
}

TEST_F(ForgottenWorkers, LeaveTheirTrialsAsTheyAre) {
  const WorkerId a = cluster.join("a", 1);
  const WorkerId b = cluster.join("b", 1);
  const ExperimentId id = cluster.create(random_config(4, 2, Value::Map{{"max_restarts", 5}}));
  const AttemptKey failed = cluster.live(id, 0);
  cluster.exit(failed, 1);  // Its record says where it crashed, and the worker's has a mark.
  cluster.step(LoseWorker{a, "asked to stop"});
  cluster.step(ForgetWorker{a, ""});
  for (int i = 0; i < 20; ++i) {
    cluster.now = cluster.now + Duration::seconds(10);
    cluster.step(CheckTimers{});
    const auto attempts = cluster.engine.workers().at(b).attempts;
    for (const AttemptKey& key : attempts) {
      cluster.report(key, 9, 0.5);
      cluster.exit(key);
    }
  }
  EXPECT_TRUE(is_ended(cluster.engine.find(id)->state));
  cluster.step(DeleteExperiment{id});
  cluster.expect_replayable();
}

TEST_F(ForgottenWorkers, MayHaveLeftWhatTheyCouldBringBack) {
  const WorkerId a = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  cluster.step(ConfirmStart{a, cluster.live(id, 0)});
  const Instant heard = cluster.now;
  cluster.now = cluster.now + Duration::seconds(1'000);
  cluster.step(ExpireLeases{a, heard, Duration::seconds(60), Duration{}});
  ASSERT_FALSE(cluster.engine.workers().at(a).present);
  EXPECT_EQ(cluster.engine.workers().at(a).may_return.size(), 1U);
  const WorkerId b = cluster.join("b", 1);
  cluster.step(ConfirmStart{b, cluster.live(id, 0)});
  EXPECT_TRUE(cluster.engine.workers().at(a).may_return.empty()) << "another attempt has its place";
  cluster.expect_replayable();
}

}  // namespace
}  // namespace hpsearch::engine
