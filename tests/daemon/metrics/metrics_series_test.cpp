#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>

#include "daemon/daemon_fixture.hpp"
#include "daemon/metrics/daemon_metrics.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::uint64_t many_experiments = 10'000;
constexpr std::uint64_t active_experiments = 100;
constexpr std::uint64_t many_workers = 1'000;
constexpr std::uint64_t most_series = 2'000;  // docs/metrics.md: what a scrape has by default, at most.

engine::Value search_in(const std::string& workspace, const std::string& pool) {
  engine::Value config = small_search(2);
  (*config.as_map())["workspace"] = workspace;
  (*config.as_map())["project"] = "all";
  (*config.as_map())["resources"] = engine::Value::Map{{"resource_pool", pool}};
  return config;
}

/// A cluster in which every worker has its own pool, and experiments name as many more.
class MetricsSeries : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint64_t i = 0; i < many_workers; ++i) {
      engine::JoinWorker join;
      join.uid = "uid-" + std::to_string(i);
      join.name = "node" + std::to_string(i);
      join.incarnation = 1;
      join.slots = 2;
      join.slot_kind = i % 2 == 0 ? "gpu" : "cpu";
      join.pool = "pool-" + std::to_string(i);
      static_cast<void>(daemon_.runtime->perform(std::move(join)));
    }
    for (std::uint64_t i = 0; i < many_experiments; ++i) {
      engine::CreateExperiment command;
      command.config = search_in("space-" + std::to_string(i % 500), "other-" + std::to_string(i));
      const auto created = daemon_.runtime->perform(std::move(command));
      ASSERT_TRUE(created) << created.error().message;
      // Each trial that waits for a slot makes every step longer.
      if (i + active_experiments < many_experiments) {
        static_cast<void>(daemon_.runtime->perform(engine::KillExperiment{*created->created}));
      }
    }
    daemon_.pump_until([this] { return daemon_.runtime->idle(); });
  }
  [[nodiscard]] proto::PrometheusText scrape(std::size_t named) const {
    return daemon_metrics({.version = "0",
                           .runtime = daemon_.runtime.get(),
                           .sessions = daemon_.sessions.get(),
                           .named_experiments = named});
  }

  DaemonFixture daemon_;
};

TEST_F(MetricsSeries, AreLimitedForManyExperimentsWorkersPoolsAndWorkspaces) {
  const auto began = std::chrono::steady_clock::now();
  proto::PrometheusText text = scrape(50);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  EXPECT_LE(text.samples(), most_series);
  const std::string page = text.take();
  std::cout << text.samples() << " series, " << page.size() << " bytes, " << took.count() << " ms\n";
  // Nothing is lost: values without a name of their own are in "other".
  EXPECT_NE(page.find("hpsearch_experiments{state=\"ACTIVE\",workspace=\"other\"} "), std::string::npos);
  // The workers are not connected: their slots are not idle.
  EXPECT_NE(page.find("hpsearch_slots{state=\"idle\",kind=\"gpu\",pool=\"other\"} 0\n"), std::string::npos);
  EXPECT_EQ(page.find("hpsearch_slots{state=\"withdrawn\",kind=\"gpu\",pool=\"other\"} 0\n"),
            std::string::npos);
  EXPECT_NE(page.find("hpsearch_experiment_slots{experiment=\"other\"} 0\n"), std::string::npos);
  EXPECT_NE(page.find("hpsearch_experiment_slots{experiment=\"10000\"} 0\n"), std::string::npos);
  EXPECT_EQ(page.find("{experiment=\"9950\"}"), std::string::npos);
  proto::PrometheusText none = scrape(0);
  EXPECT_EQ(none.take().find("hpsearch_experiment_progress_ratio{"), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::daemon
