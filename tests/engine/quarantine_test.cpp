#include <gtest/gtest.h>

#include <vector>

#include "engine/test_cluster.hpp"

// Workers on which everything fails, and trials that fail everywhere.

namespace hpsearch::engine {
namespace {

/// Two workers of one slot each; trial 0 trains on the good one and has measured something.
class TwoWorkers : public testing::Test {
 protected:
  void begin(int max_trials, std::uint64_t max_restarts, bool program_works = true) {
    good = cluster.join("good", 1);
    id = cluster.create(
        random_config(max_trials, 0, Value::Map{{"max_restarts", static_cast<int>(max_restarts)}}));
    if (program_works) {
      cluster.report(cluster.live(id, 0), 1, 0.5);
    }
    bad = cluster.join("bad", 1);
  }

  /// The attempt that holds the bad worker's slot, if any.
  std::optional<AttemptKey> on_bad() const {
    const auto& attempts = cluster.engine.workers().at(bad).attempts;
    return attempts.empty() ? std::nullopt : std::optional(*attempts.begin());
  }
  void fail_on_bad() {
    const auto key = on_bad();
    ASSERT_TRUE(key.has_value());
    cluster.exit(*key, 1);
  }
  bool in_quarantine() const { return !cluster.engine.workers().at(bad).quarantined.empty(); }

  TestCluster cluster;
  WorkerId good;
  WorkerId bad;
  ExperimentId id;
};

TEST_F(TwoWorkers, ThirdQuickFailureOfAnotherTrialQuarantinesTheWorker) {
  begin(10, 0);
  fail_on_bad();
  fail_on_bad();
  EXPECT_FALSE(in_quarantine());
  const std::uint64_t third = on_bad()->trial.number();
  fail_on_bad();
  EXPECT_TRUE(in_quarantine());
  EXPECT_FALSE(on_bad()) << "no new leases";
  EXPECT_EQ(cluster.trial(id, third).state, TrialState::pending) << "it was not the trial's failure";
  EXPECT_EQ(cluster.trial(id, third).restarts, 0U);
}

TEST_F(TwoWorkers, FailuresThereAreGivenBack) {
  begin(10, 5);
  fail_on_bad();
  EXPECT_EQ(cluster.trial(id, 1).restarts, 1U);
  EXPECT_NE(on_bad()->trial, TrialNumber(1)) << "while others wait, it is not tried again where it failed";
  fail_on_bad();
  fail_on_bad();
  ASSERT_TRUE(in_quarantine());
  for (std::uint64_t trial = 1; trial <= 3; ++trial) {
    EXPECT_EQ(cluster.trial(id, trial).restarts, 0U) << trial;
  }
}

TEST_F(TwoWorkers, AReportInBetweenSpeaksForTheWorker) {
  begin(10, 0);
  fail_on_bad();
  fail_on_bad();
  cluster.report(*on_bad(), 1, 0.5);
  fail_on_bad();
  fail_on_bad();
  EXPECT_FALSE(in_quarantine());
}

TEST_F(TwoWorkers, LateFailuresAreTheProgramsOwn) {
  begin(10, 0);
  for (int i = 0; i < 4; ++i) {
    cluster.now = cluster.now + Duration::seconds(61);
    fail_on_bad();
  }
  EXPECT_FALSE(in_quarantine());
}

TEST_F(TwoWorkers, AProgramThatNeverWorkedIsItselfToBlame) {
  begin(10, 0, false);
  for (int i = 0; i < 5; ++i) {
    fail_on_bad();
  }
  EXPECT_FALSE(in_quarantine());
}

TEST_F(TwoWorkers, TheLastWorkerIsNeverQuarantinedByItself) {
  begin(10, 0);
  cluster.step(QuarantineWorker{good, "a fan is broken"});
  for (int i = 0; i < 5; ++i) {
    fail_on_bad();
  }
  EXPECT_FALSE(in_quarantine());
}

TEST_F(TwoWorkers, ReleaseUndoesIt) {
  begin(10, 0);
  cluster.step(QuarantineWorker{bad, "a fan is broken"});
  EXPECT_TRUE(on_bad()) << "what runs there runs on";
  fail_on_bad();
  EXPECT_FALSE(on_bad());
  EXPECT_EQ(cluster.engine.workers().at(bad).quarantined, "a fan is broken");
  const std::vector<Quarantine>& quarantines = cluster.engine.workers().at(bad).quarantines;
  ASSERT_EQ(quarantines.size(), 1U);
  EXPECT_FALSE(quarantines.front().to);
  cluster.step(ReleaseWorker{bad});
  EXPECT_EQ(quarantines.front().to, cluster.now);
  EXPECT_LT(quarantines.front().from, cluster.now);
  EXPECT_TRUE(on_bad());
  EXPECT_TRUE(cluster.step(ReleaseWorker{bad}).events.empty()) << "asking twice leaves no trace";
  EXPECT_EQ(cluster.refused(ReleaseWorker{WorkerId(9)}).code, Errc::not_found);
  Engine twin = cluster.replayed();
  EXPECT_EQ(state_text(twin), state_text(cluster.engine));
}

TEST_F(TwoWorkers, QuarantineOutlivesARestart) {
  begin(10, 5);
  fail_on_bad();
  cluster.step(QuarantineWorker{good, "a fan is broken"});
  Engine loaded = cluster.replayed();
  EXPECT_EQ(loaded.workers().at(good).quarantined, "a fan is broken");
  EXPECT_EQ(loaded.workers().at(bad).quick_failures, cluster.engine.workers().at(bad).quick_failures);
  EXPECT_EQ(state_text(loaded), state_text(cluster.engine));
}

}  // namespace
}  // namespace hpsearch::engine
