#include <gtest/gtest.h>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {
namespace {

TEST(Reports, CountOnceInOrderWithoutGaps) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey key = cluster.live(id, 0);
  const MetricsReport report{Units{1}, {{"score", 0.5}}};
  Effects effects = cluster.step(TakeReports{worker, key, 2, {report}});
  ASSERT_NE(find_order<ResendReports>(effects), nullptr);
  EXPECT_EQ(find_order<ResendReports>(effects)->expect, 1U);
  EXPECT_TRUE(effects.events.empty());
  effects = cluster.step(TakeReports{worker, key, 1, {report, report}});
  EXPECT_EQ(all<ReportTaken>(effects.events).size(), 2U);
  effects = cluster.step(TakeReports{worker, key, 1, {report, report, report}});
  EXPECT_EQ(all<ReportTaken>(effects.events).size(), 1U);
  EXPECT_EQ(find_order<AckReports>(effects)->upto, 3U);
}

TEST(Reports, ExitIsAcknowledgedAgainAndOldLeasesAreFenced) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.exit(first, 75);
  const Report exit = ExitReport{};
  Effects effects = cluster.step(TakeReports{worker, first, 1, {exit}});
  EXPECT_NE(find_order<FenceAttempt>(effects), nullptr) << "a newer lease is out";
  const AttemptKey second = cluster.live(id, 0);
  cluster.report(second, 9, 0.1);
  cluster.exit(second);
  effects = cluster.step(TakeReports{worker, second, 2, {exit}});
  ASSERT_NE(find_order<AckReports>(effects), nullptr);
  EXPECT_EQ(find_order<AckReports>(effects)->upto, 2U);
  EXPECT_TRUE(effects.events.empty());
}

TEST(Reports, UnknownAttemptIsHeldNotKilled) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const AttemptKey unknown{ExperimentId(9), TrialNumber(0), AttemptNumber(1), LeaseId(5)};
  const Effects effects = cluster.step(TakeReports{worker, unknown, 1, {ExitReport{}}});
  EXPECT_NE(find_order<HoldAttempt>(effects), nullptr);
}

TEST(Reports, ReportsOfAnotherWorkerAreFenced) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const WorkerId thief = cluster.join("b", 0);
  const Effects effects = cluster.step(TakeReports{thief, cluster.live(id, 0), 1, {ExitReport{}}});
  EXPECT_NE(find_order<FenceAttempt>(effects), nullptr);
  EXPECT_TRUE(effects.events.empty());
}

}  // namespace
}  // namespace hpsearch::engine
