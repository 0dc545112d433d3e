#include "daemon/retention/retention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "daemon/daemon_fixture.hpp"
#include "daemon/retention/retention_rules.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::ExperimentId;
using engine::Instant;
using Experiments = std::vector<ExperimentId>;

constexpr std::int64_t days = 86'400;

/// Experiments 1, 2 and 3 ended on the days 10, 11 and 12.
class RetentionRulesTest : public testing::Test {
 protected:
  RetentionRulesTest() {
    for (std::int64_t day = 10; day <= 12; ++day) {
      const ExperimentId id = create(day);
      step(engine::KillExperiment{id}, day);
      EXPECT_TRUE(engine::is_ended(engine_.find(id)->state));
    }
  }

  static Instant on(std::int64_t day) { return Instant::from_micros(day * days * 1'000'000); }

  ExperimentId create(std::int64_t day) {
    engine::CreateExperiment command;
    command.config = small_search(1);
    return *step(command, day).created;
  }
  engine::Effects step(const engine::Command& command, std::int64_t day) {
    auto effects = engine_.step(command, on(day));
    EXPECT_TRUE(effects) << (effects ? "" : effects.error().message);
    return effects ? std::move(effects).value() : engine::Effects{};
  }
  [[nodiscard]] Experiments removed(std::int64_t keep_days, std::int64_t day, std::size_t most = 10) const {
    return experiments_to_remove(engine_, {.ended_experiments = Duration::seconds(keep_days * days)}, on(day),
                                 most);
  }

  engine::Engine engine_{searchers::registry()};
};

TEST_F(RetentionRulesTest, RemoveNothingUnlessTheyAreGiven) {
  EXPECT_EQ(removed(0, 10'000), Experiments{});
}

TEST_F(RetentionRulesTest, RemoveWhatEndedFirst) {
  EXPECT_EQ(removed(5, 14), Experiments{});
  EXPECT_EQ(removed(5, 15), Experiments{ExperimentId(1)});
  EXPECT_EQ(removed(5, 17), (Experiments{ExperimentId(1), ExperimentId(2), ExperimentId(3)}));
  EXPECT_EQ(removed(5, 17, 2), (Experiments{ExperimentId(1), ExperimentId(2)}));
}

TEST_F(RetentionRulesTest, KeepStarredExperiments) {
  step(engine::Annotate{.experiment = ExperimentId(1), .starred = true}, 13);
  step(engine::ArchiveExperiment{ExperimentId(2)}, 13);
  EXPECT_EQ(removed(1, 20, 1), Experiments{ExperimentId(2)}) << "archived is not starred";
}

TEST_F(RetentionRulesTest, KeepExperimentsThatGoOn) {
  create(13);
  EXPECT_EQ(removed(1, 100), (Experiments{ExperimentId(1), ExperimentId(2), ExperimentId(3)}));
}

MetricPoint report(std::uint64_t attempt, std::uint64_t seq, std::uint64_t step) {
  return {engine::AttemptNumber(attempt), seq, engine::Units{step}, {}, {}};
}

TEST(CurveLoss, KeepsTheStepsThatDecided) {
  std::vector<MetricPoint> reports;
  for (std::uint64_t step = 1; step <= 10; ++step) {
    reports.push_back(report(1, step + 1, step));
  }
  const CurveLoss none = curve_loss(reports, {engine::Units{3}, engine::Units{9}}, 0);
  EXPECT_EQ(none.left, 2U);
  EXPECT_EQ(none.removed, (std::vector<std::uint64_t>{1, 2, 3, 1, 5, 9, 1, 11, 11}));
  const CurveLoss thin = curve_loss(reports, {engine::Units{3}, engine::Units{9}}, 2);
  EXPECT_EQ(thin.left, 4U) << "1, 3, 6 and 9";
  EXPECT_EQ(thin.removed, (std::vector<std::uint64_t>{1, 3, 3, 1, 5, 6, 1, 8, 9, 1, 11, 11}));
  EXPECT_TRUE(curve_loss(reports, {engine::Units{3}}, 9).removed.empty());
  EXPECT_EQ(curve_loss({}, {}, 0).left, 0U);
}

TEST(CurveLoss, RowsOfRemovedReportsAreOfOneAttempt) {
  const std::vector<MetricPoint> reports{report(1, 2, 1), report(1, 4, 2), report(2, 1, 2), report(2, 2, 3)};
  EXPECT_EQ(curve_loss(reports, {engine::Units{3}}, 0).removed,
            (std::vector<std::uint64_t>{1, 2, 4, 2, 1, 1}));
}

TEST(Retention, ThinsCurvesOfStoppedTrialsOnce) {
  engine::TrialRecord trial;
  trial.state = engine::TrialState::stopped;
  trial.ended_at = Instant::from_micros(0);
  const Instant later = trial.ended_at + Duration::seconds(3'600);
  const RetentionRules rules{.most_reports = 2};
  EXPECT_TRUE(may_lose_reports(trial, rules, later));
  EXPECT_FALSE(may_lose_reports(trial, {}, later));
  EXPECT_FALSE(may_lose_reports(trial, rules, trial.ended_at + Duration::seconds(3'599)));
  trial.curve_thinned = true;
  EXPECT_FALSE(may_lose_reports(trial, rules, later));
  trial.curve_thinned = false;
  trial.state = engine::TrialState::completed;
  EXPECT_FALSE(may_lose_reports(trial, rules, later));
}

TEST(Retention, RecordsRemovedLogsOfKnownExperiments) {
  DaemonFixture fixture;
  const ExperimentId id = fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  static_cast<void>(worker.wait_for<proto::Lease>(1));
  Retention retention(*fixture.runtime, {});
  retention.note_removed_logs({{id, engine::TrialNumber(0)},
                               {id, engine::TrialNumber(7)},
                               {ExperimentId(9), engine::TrialNumber(0)}});
  EXPECT_EQ(fixture.runtime->event_counts().logs_removed, 1U);
}

TEST(Retention, RemovesTheRowsOfDeletedExperiments) {
  DaemonFixture fixture;
  const ExperimentId id = fixture.submit(small_search(1));
  ScriptedWorker worker(fixture);
  worker.join();
  const auto key = worker.wait_for<proto::Lease>(1).spec.key;
  worker.send(proto::Started{key});
  worker.send(proto::Reports{key, 1, {metrics_report(1, 0.5)}});
  fixture.pump_until([&] { return fixture.runtime->event_counts().reports > 0; });
  static_cast<void>(fixture.runtime->perform(engine::KillExperiment{id}));
  worker.send(proto::Reports{key, 2, {exit_report(engine::ExitReport::Cause::exited, 0)}});
  fixture.pump_until([&] { return engine::is_ended(fixture.runtime->engine().find(id)->state); });
  ASSERT_TRUE(fixture.runtime->perform(engine::DeleteExperiment{id}));
  Retention retention(*fixture.runtime, {});
  retention.look();
  EXPECT_EQ(fixture.runtime->engine().deleted().at(id).rows_removed, 1U);
  const engine::Lsn end = fixture.runtime->engine().last_lsn();
  retention.look();
  EXPECT_EQ(fixture.runtime->engine().last_lsn(), end) << "it removes them once";
  fixture.pump_until([&] { return fixture.runtime->idle(); });
  const auto reports = fixture.store->metrics(id, engine::TrialNumber(0), {}, 100);
  ASSERT_TRUE(reports);
  EXPECT_TRUE(reports->empty());
}

TEST(Retention, RemovesByAnEvent) {
  DaemonFixture fixture;
  const ExperimentId id = fixture.submit(small_search(1));
  static_cast<void>(fixture.runtime->perform(engine::KillExperiment{id}));
  fixture.pump_until([&] { return engine::is_ended(fixture.runtime->engine().find(id)->state); });
  Retention retention(*fixture.runtime, {});
  retention.look();
  ASSERT_NE(fixture.runtime->engine().find(id), nullptr);
  fixture.pump_until([&] {
    retention.follow({.ended_experiments = Duration::millis(1)});
    retention.look();
    return fixture.runtime->engine().find(id) == nullptr;
  });
  EXPECT_EQ(fixture.runtime->engine().deleted().at(id).kept_for, Duration::millis(1));
  EXPECT_EQ(fixture.runtime->event_counts().experiments_removed, 1U);
  fixture.pump_until([&] { return fixture.runtime->idle(); });
  const auto events = fixture.store->read({}, 100);
  ASSERT_TRUE(events);
  const auto is_removal = [](const engine::Event& event) {
    const auto* deleted = std::get_if<engine::ExperimentDeleted>(&event.body);
    return deleted != nullptr && deleted->kept_for == Duration::millis(1);
  };
  EXPECT_EQ(std::count_if(events->begin(), events->end(), is_removal), 1);
}

}  // namespace
}  // namespace hpsearch::daemon
