#include "hpsearch/proto/views/history.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/test_cluster.hpp"
#include "hpsearch/proto/encoding/json.hpp"

// Tests what the engine keeps for views: improvements of the best metric, and the slots of attempts.

namespace hpsearch::views {
namespace {

using engine::AttemptEnd;
using engine::TestCluster;
using engine::TrialNumber;
using engine::Units;

std::vector<double> metrics_of(const TestCluster& cluster, engine::ExperimentId id) {
  std::vector<double> metrics;
  for (const engine::BestPoint& point : cluster.engine.find(id)->best_history) {
    metrics.push_back(point.metric);
  }
  return metrics;
}

std::vector<AttemptEnd> ends_of(const TestCluster& cluster, engine::ExperimentId id) {
  std::vector<AttemptEnd> ends;
  for (const engine::AttemptSpan& span : cluster.engine.find(id)->spans) {
    ends.push_back(span.end);
  }
  return ends;
}

TEST(BestHistory, HasOnlyImprovementsOfValidTrials) {
  TestCluster cluster;
  cluster.join("a", 1);
  const engine::ExperimentId id = cluster.create(engine::random_config(3, 1));
  const std::uint64_t length = engine::count(cluster.trial(id, 0).length);
  const auto train = [&](std::uint64_t trial, double metric) {
    const engine::AttemptKey key = cluster.live(id, trial);
    cluster.report(key, length, metric);
    cluster.exit(key);
  };
  train(0, 0.5);
  EXPECT_EQ(metrics_of(cluster, id), (std::vector<double>{0.5}));
  const engine::AttemptKey second = cluster.live(id, 1);
  cluster.send(second, engine::MetricsReport{Units(1), {{"score", 0.1}}});
  EXPECT_EQ(metrics_of(cluster, id), (std::vector<double>{0.5, 0.1}));
  cluster.send(second, engine::InvalidHparamsReport{"they cannot work"});
  EXPECT_EQ(metrics_of(cluster, id), (std::vector<double>{0.5})) << "what it measured counts no more";
  cluster.exit(second);
  const engine::BestPoint& point = cluster.engine.find(id)->best_history.front();
  EXPECT_EQ(point.trial, TrialNumber(0));
  EXPECT_EQ(point.trials, 1U);
  EXPECT_EQ(engine::state_text(cluster.replayed()), engine::state_text(cluster.engine));
  EXPECT_TRUE(proto::parse_json(history_json(*cluster.engine.find(id), cluster.now)));
}

TEST(BestHistory, EndsWithTheExperiment) {
  TestCluster cluster;
  cluster.join("a", 1);
  const engine::ExperimentId id = cluster.create(engine::random_config(1, 1));
  const engine::AttemptKey key = cluster.live(id, 0);
  const auto end_at = [&](engine::Instant now) {
    const auto json = proto::parse_json(history_json(*cluster.engine.find(id), now));
    return json ? json->at_path("end.time")->number_or(0) : -1;
  };
  const engine::Instant later = cluster.now + engine::Duration::seconds(60);
  EXPECT_DOUBLE_EQ(end_at(later), static_cast<double>(later.micros()) / 1e6) << "it runs";
  cluster.report(key, engine::count(cluster.trial(id, 0).length), 0.5);
  cluster.exit(key);
  const engine::ExperimentRecord& record = *cluster.engine.find(id);
  ASSERT_TRUE(engine::is_ended(record.state));
  const double ended = static_cast<double>(record.ended_at.micros()) / 1e6;
  EXPECT_DOUBLE_EQ(end_at(cluster.now + engine::Duration::seconds(3'600)), ended);
}

TEST(AttemptSpans, HaveTheOutcomeOfEachAttempt) {
  TestCluster cluster;
  const engine::WorkerId worker = cluster.join("a", 1);
  const engine::ExperimentId id = cluster.create(engine::asha_config(6, 1));
  const engine::AttemptKey first = cluster.live(id, 0);
  cluster.report(first, 1, 0.5);  // It is the only trial in its rung, so it waits.
  cluster.exit(first);
  cluster.exit(cluster.live(id, 1), 3);
  cluster.step(engine::LoseWorker{worker, "it went away"});
  cluster.attempts.clear();
  cluster.join("b", 1);
  cluster.now = cluster.now + engine::Duration::seconds(3'600);  // Trials wait after a failed attempt.
  cluster.step(engine::CheckTimers{});
  cluster.step(engine::CancelExperiment{id});
  ASSERT_EQ(cluster.attempts.size(), 1U);
  cluster.exit(cluster.attempts.begin()->first);
  EXPECT_EQ(ends_of(cluster, id), (std::vector<AttemptEnd>{AttemptEnd::paused, AttemptEnd::failed,
                                                           AttemptEnd::lost, AttemptEnd::canceled}));
  for (const engine::AttemptSpan& span : cluster.engine.find(id)->spans) {
    EXPECT_LT(span.from, span.to);
    EXPECT_EQ(span.slot, 0U);
  }
  EXPECT_EQ(engine::state_text(cluster.replayed()), engine::state_text(cluster.engine));
}

}  // namespace
}  // namespace hpsearch::views
