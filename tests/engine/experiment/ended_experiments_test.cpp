#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "engine/test_cluster.hpp"

// What users do with experiments that have ended: they archive and delete them.

namespace hpsearch::engine {
namespace {

class EndedExperiment : public testing::Test {
 protected:
  /// Its one trial has measured something and kept a checkpoint.
  ExperimentId run_one(const std::string& name = "test") {
    Value config = random_config(1, 0, Value::Map{{"name", name}});
    const ExperimentId id = cluster.create(std::move(config));
    const AttemptKey key = cluster.live(id, 0);
    cluster.send(key, CheckpointReport{Units{1}, path_of(id), 1, 10});
    cluster.run_all([](TrialNumber) { return 0.5; });
    EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
    return id;
  }
  static std::string path_of(ExperimentId id) {
    return "/checkpoints/" + std::to_string(id.number()) + "/0/1-1";
  }
  template <class Wanted>
  static std::vector<Wanted> orders(const Effects& effects) {
    std::vector<Wanted> found;
    for (const Order& order : effects.orders) {
      if (const auto* wanted = std::get_if<Wanted>(&order)) {
        found.push_back(*wanted);
      }
    }
    return found;
  }

  TestCluster cluster;
  WorkerId worker = cluster.join("w", 1);
};

TEST_F(EndedExperiment, IsArchivedAndShownAgain) {
  const ExperimentId id = run_one();
  EXPECT_EQ(all<ExperimentArchived>(cluster.step(ArchiveExperiment{id}).events).size(), 1U);
  EXPECT_TRUE(cluster.engine.find(id)->archived);
  EXPECT_TRUE(cluster.step(ArchiveExperiment{id}).events.empty()) << "asking twice leaves no trace";
  cluster.expect_replayable();
  cluster.step(UnarchiveExperiment{id});
  EXPECT_FALSE(cluster.engine.find(id)->archived);
  EXPECT_TRUE(cluster.step(UnarchiveExperiment{id}).events.empty());
  cluster.expect_replayable();
}

TEST_F(EndedExperiment, IsNotArchivedAnyMoreOnceItContinues) {
  const ExperimentId id = run_one();
  cluster.step(ArchiveExperiment{id});
  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_trials", 2}}}}});
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  EXPECT_FALSE(cluster.engine.find(id)->archived);
  cluster.expect_replayable();
}

TEST_F(EndedExperiment, IsTheOnlyOneThatIsArchivedOrDeleted) {
  const ExperimentId id = cluster.create(random_config(1, 0));
  EXPECT_EQ(cluster.refused(ArchiveExperiment{id}).message,
            "experiment 1 is ACTIVE and cannot be archived; only an experiment that has ended can");
  EXPECT_EQ(cluster.refused(DeleteExperiment{id}).message,
            "experiment 1 is ACTIVE and cannot be deleted; end it first");
  EXPECT_EQ(cluster.refused(ArchiveExperiment{ExperimentId(9)}).code, Errc::not_found);
  EXPECT_EQ(cluster.refused(DeleteExperiment{ExperimentId(9)}).message, "there is no experiment 9");
}

TEST_F(EndedExperiment, IsForgottenWhenItIsDeleted) {
  const ExperimentId id = run_one("digits");
  const Duration used = cluster.engine.find(id)->slot_time.until(cluster.now);
  ASSERT_GT(used, Duration{});
  const Effects effects = cluster.step(DeleteExperiment{id});
  EXPECT_EQ(cluster.engine.find(id), nullptr);
  EXPECT_EQ(cluster.engine.find(id, TrialNumber(0)), nullptr);
  const DeletedExperiment& deleted = cluster.engine.deleted().at(id);
  EXPECT_EQ(deleted.name, "digits");
  EXPECT_EQ(deleted.trials, 1U);
  EXPECT_EQ(deleted.slot_time.until(cluster.now), used) << "accounts count it still";
  const auto checkpoints = orders<DiscardCheckpoints>(effects);
  ASSERT_EQ(checkpoints.size(), 1U);
  EXPECT_EQ(checkpoints[0].paths, std::vector<std::string>{path_of(id)});
  EXPECT_EQ(orders<DiscardExperiment>(effects).size(), 1U);
  EXPECT_EQ(cluster.refused(DeleteExperiment{id}).message, "experiment 1 was deleted");
  EXPECT_EQ(cluster.refused(KillExperiment{id}).message, "experiment 1 was deleted");
  EXPECT_EQ(cluster.refused(EndTrial{id, TrialNumber(0)}).message, "experiment 1 was deleted");
  EXPECT_EQ(cluster.refused(DeleteCheckpoints{id, TrialNumber(0), {}}).message, "experiment 1 was deleted");
  cluster.expect_replayable();
}

TEST_F(EndedExperiment, SaysWhenTheRetentionHasRemovedIt) {
  const ExperimentId id = run_one();
  cluster.now = Instant::from_micros(1'924'992'000'000'000);  // 2031-01-01.
  cluster.step(DeleteExperiment{id, Duration::seconds(365 * 86'400)});
  EXPECT_EQ(cluster.refused(KillExperiment{id}).message,
            "experiment 1 was removed on 2031-01-01 by the retention of the daemon, which keeps experiments "
            "for 365 days after their end");
  cluster.expect_replayable();
}

TEST_F(EndedExperiment, LosesReportsOfACurveOnce) {
  const ExperimentId id = run_one();
  const ThinCurve command{id, TrialNumber(0), 1, {1, 1, 1}};
  EXPECT_EQ(all<CurveThinned>(cluster.step(command).events).size(), 1U);
  EXPECT_TRUE(cluster.engine.find(id, TrialNumber(0))->curve_thinned);
  EXPECT_EQ(cluster.refused(command).message,
            "trial 0 of experiment 1 has lost reports of its curve already");
  EXPECT_EQ(cluster.refused(ThinCurve{id, TrialNumber(9), 1, {1, 1, 1}}).message,
            "there is no trial 9 of experiment 1");
  cluster.expect_replayable();
}

TEST_F(EndedExperiment, LosesKeptLogsOfItsTrials) {
  const ExperimentId id = run_one();
  const Effects effects = cluster.step(NoteLogsRemoved{id, {TrialNumber(0), TrialNumber(9)}});
  EXPECT_EQ(all<LogsRemoved>(effects.events).size(), 1U) << "there is no trial 9";
  cluster.expect_replayable();
}

TEST_F(EndedExperiment, LosesItsRowsOnceItIsDeleted) {
  const ExperimentId id = run_one();
  EXPECT_EQ(cluster.refused(RemoveRows{id, 32}).message, "experiment 1 is not deleted");
  cluster.step(DeleteExperiment{id});
  const auto removed = all<RowsRemoved>(cluster.step(RemoveRows{id, 32}).events);
  ASSERT_EQ(removed.size(), 1U);
  EXPECT_EQ(removed[0].first, TrialNumber(0));
  EXPECT_EQ(removed[0].last, TrialNumber(0));
  EXPECT_EQ(cluster.refused(RemoveRows{id, 32}).message, "no rows of experiment 1 are left beside the log");
  cluster.expect_replayable();
}

TEST(ThinnedCurve, IsThatOfATrialThatHasEnded) {
  TestCluster cluster;
  cluster.join("w", 1);
  const ExperimentId id = cluster.create(random_config(1, 0));
  EXPECT_EQ(cluster.refused(ThinCurve{id, TrialNumber(0), 0, {1, 1, 1}}).message,
            "trial 0 of experiment 1 has not ended");
}

TEST(KeptForText, NamesTheLargestWholeUnit) {
  EXPECT_EQ(kept_for_text(Duration::seconds(86'400)), "1 day");
  EXPECT_EQ(kept_for_text(Duration::seconds(36 * 3'600)), "36 hours");
  EXPECT_EQ(kept_for_text(Duration::seconds(120)), "2 minutes");
  EXPECT_EQ(kept_for_text(Duration::seconds(1)), "1 second");
}

TEST_F(EndedExperiment, KeepsThePlaceOfItsCheckpointsUntilTheyAreRemoved) {
  const ExperimentId id = run_one();
  cluster.step(DeleteExperiment{id});
  EXPECT_FALSE(cluster.engine.deleted().at(id).effective.is_null());
  cluster.expect_replayable();
  cluster.step(ConfirmDeleted{id, {path_of(id), "/checkpoints/another"}});
  EXPECT_TRUE(cluster.engine.deleted().at(id).condemned.empty());
  EXPECT_TRUE(cluster.engine.deleted().at(id).effective.is_null());
  EXPECT_TRUE(cluster.step(ConfirmDeleted{id, {path_of(id)}}).events.empty());
  cluster.expect_replayable();
}

TEST_F(EndedExperiment, LeavesItsNumberUnused) {
  run_one();
  const ExperimentId second = run_one();
  cluster.step(DeleteExperiment{second});
  EXPECT_EQ(cluster.create(random_config(1, 0)), ExperimentId(3));
  cluster.expect_replayable();
}

TEST_F(EndedExperiment, IsNotSubmittedAgainUnderItsKeyAfterItWasDeleted) {
  CreateExperiment command;
  command.config = random_config(1, 0);
  command.fallback_name = "test";
  command.seed = 7;
  command.idempotency_key = "once";
  const ExperimentId id = *cluster.step(command).created;
  cluster.run_all([](TrialNumber) { return 0.5; });
  cluster.step(DeleteExperiment{id});
  const Error error = cluster.refused(command);
  EXPECT_EQ(error.code, Errc::conflict);
  EXPECT_EQ(error.message,
            "the idempotency key \"once\" stands for experiment 1, which was deleted; use another key");
}

TEST_F(EndedExperiment, IsNotDeletedWhileAnotherStartsFromItsCheckpoint) {
  const ExperimentId id = run_one();
  const std::string source = "1/0/1-1";
  Value config = random_config(1, 0);
  (*(*config.as_map())["searcher"].as_map())["source_checkpoint_uuid"] = source;
  const ExperimentId user = cluster.create(config);
  EXPECT_EQ(cluster.refused(DeleteExperiment{id}).message,
            "experiment 2 starts its trials from a checkpoint of experiment 1; end that experiment first");
  cluster.run_all([](TrialNumber) { return 0.5; });
  cluster.step(DeleteExperiment{id});
  EXPECT_EQ(cluster.refused(ChangeExperiment{user, Value::Map{{"searcher", Value::Map{{"max_trials", 3}}}}})
                .message,
            "experiment 2 is COMPLETED: the checkpoint that its trials start from was deleted");
  cluster.expect_replayable();
}

TEST_F(EndedExperiment, IsNotHeldByAWorkerThatComesBackWithAnAttemptOfIt) {
  const ExperimentId id = cluster.create(random_config(1, 0));
  const AttemptKey key = cluster.live(id, 0);
  cluster.step(LoseWorker{worker, "gone"});
  cluster.step(KillExperiment{id});
  cluster.step(DeleteExperiment{id});
  HeldAttempt held;
  held.key = key;
  held.last_seq = 1;
  const Effects back = cluster.step(JoinWorker{"w", "w", 1, 1, "cpu", {held}});
  const auto welcome = orders<WelcomeWorker>(back);
  ASSERT_EQ(welcome.size(), 1U);
  ASSERT_EQ(welcome[0].attempts.size(), 1U);
  EXPECT_EQ(welcome[0].attempts[0].fate, WelcomeWorker::Fate::fenced);
  const Effects late = cluster.step(TakeReports{worker, key, 1, {MetricsReport{Units{1}, {{"score", 0.5}}}}});
  EXPECT_EQ(orders<FenceAttempt>(late).size(), 1U);
  EXPECT_TRUE(late.events.empty());
}

TEST_F(EndedExperiment, IsForgottenByWorkersOnWhichItsTrialsFailed) {
  const WorkerId other = cluster.join("other", 1);
  const ExperimentId id = cluster.create(random_config(2, 0, Value::Map{{"max_restarts", 0}}));
  cluster.exit(cluster.live(id, 0), 1);
  cluster.exit(cluster.live(id, 1), 1);
  ASSERT_TRUE(is_ended(cluster.engine.find(id)->state));
  cluster.step(DeleteExperiment{id});
  for (const WorkerId each : {worker, other}) {
    EXPECT_TRUE(cluster.engine.workers().at(each).marks.empty());
    cluster.step(QuarantineWorker{each, "test"});
  }
  cluster.expect_replayable();
}

}  // namespace
}  // namespace hpsearch::engine
