#include <gtest/gtest.h>

#include "engine/test_cluster.hpp"

// Programs that survive SIGKILL: their slots get no leases, their trials go on elsewhere.

namespace hpsearch::engine {
namespace {

class SlotQuarantineOf : public testing::Test {
 protected:
  SlotQuarantineOf() {
    worker = cluster.join("a", 2);
    id = cluster.create(random_config(10, 0));
    stuck = cluster.live(id, 0);
  }

  Effects exit_unkillable(const AttemptKey& key) {
    ExitReport report;
    report.cause = ExitReport::Cause::lost;
    report.message = "process 4711 survives SIGKILL";
    report.unkillable = true;
    const Effects effects = cluster.send(key, report);
    cluster.attempts.erase(key);
    return effects;
  }
  [[nodiscard]] HeldAttempt held() const {
    HeldAttempt attempt;
    attempt.key = stuck;
    attempt.exited = true;
    attempt.last_seq = 1;
    attempt.first_seq = 2;
    attempt.slots = {SlotIndex{0}};
    attempt.length = Units{9};
    attempt.unkillable = true;
    return attempt;
  }
  [[nodiscard]] const WorkerRecord& record() const { return cluster.engine.workers().at(worker); }
  /// Who has slot 0 by a lease.
  [[nodiscard]] std::optional<AttemptKey> on_slot_0() const {
    for (const AttemptKey& key : record().attempts) {
      const auto& slots = cluster.trial(key.experiment, key.trial.number()).live->slots;
      if (slots == std::vector{SlotIndex{0}}) {
        return key;
      }
    }
    return std::nullopt;
  }
  void expect_replay_stands_here() const {
    const Engine twin = cluster.replayed();
    EXPECT_EQ(state_text(twin), state_text(cluster.engine));
  }

  TestCluster cluster;
  WorkerId worker;
  ExperimentId id;
  AttemptKey stuck;
};

TEST_F(SlotQuarantineOf, TheUnkillableKeepsItsSlotAndItsTrialGoesOn) {
  exit_unkillable(stuck);
  EXPECT_FALSE(on_slot_0()) << "its slot is not leased";
  EXPECT_EQ(record().slots.free(), 0U);
  EXPECT_EQ(record().attempts.size(), 1U);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::pending) << "the trial waits for the other slot";
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U) << "not the program's failure";
  expect_replay_stands_here();
  cluster.report(cluster.live(id, 1), 9, 0.5);
  cluster.exit(cluster.live(id, 1));
  EXPECT_EQ(cluster.live(id, 0).attempt, AttemptNumber(2));
}

TEST_F(SlotQuarantineOf, ASlotIsFreeOnceItsProcessesHaveEnded) {
  exit_unkillable(stuck);
  EXPECT_TRUE(cluster.step(NoteLeakedProcesses{worker, {{stuck, {SlotIndex{0}}}}}).events.empty())
      << "it is known";
  cluster.step(NoteLeakedProcesses{worker, {}});
  EXPECT_TRUE(on_slot_0());
  EXPECT_TRUE(record().leaked_processes.empty());
  expect_replay_stands_here();
}

TEST_F(SlotQuarantineOf, AnOperatorMayUseTheSlotNevertheless) {
  exit_unkillable(stuck);
  cluster.step(ReleaseWorker{worker});
  ASSERT_TRUE(on_slot_0());
  EXPECT_TRUE(cluster.attempts.at(*on_slot_0()).spec.despite_leaked_processes) << "or its worker would wait";
  EXPECT_TRUE(cluster.step(ReleaseWorker{worker}).events.empty()) << "asking twice leaves no trace";
  EXPECT_TRUE(cluster.step(NoteLeakedProcesses{worker, {{stuck, {SlotIndex{0}}}}}).events.empty())
      << "its worker still says so, and the operator has decided";
  expect_replay_stands_here();
  cluster.step(NoteLeakedProcesses{worker, {}});
  EXPECT_TRUE(record().leaked_processes.empty());
  EXPECT_TRUE(on_slot_0());
}

TEST_F(SlotQuarantineOf, ItLastsWhileTheWorkerSaysSo) {
  exit_unkillable(stuck);
  HeldAttempt other;
  other.key = cluster.live(id, 1);
  other.slots = {SlotIndex{1}};
  other.first_seq = 1;
  cluster.join("a", 2, 2, {held(), other});
  EXPECT_FALSE(on_slot_0());
  expect_replay_stands_here();
  cluster.join("a", 2, 3, {other});
  EXPECT_TRUE(on_slot_0()) << "the machine was restarted, say";
}

TEST_F(SlotQuarantineOf, FewerSlotsThanBeforeAreNoTrouble) {
  exit_unkillable(stuck);
  cluster.exit(cluster.live(id, 1));
  const AttemptKey second = *record().attempts.begin();
  exit_unkillable(second);
  ASSERT_EQ(record().slots.free(), 0U);
  HeldAttempt other = held();
  other.key = second;
  other.slots = {SlotIndex{1}};
  cluster.join("a", 1, 2, {held(), other});
  EXPECT_EQ(record().slots.free(), 0U);
  expect_replay_stands_here();
  cluster.now =
      cluster.now + Duration::seconds(1);  // Twice in a row something was over as soon as it was leased.
  cluster.step(NoteLeakedProcesses{worker, {{second, {SlotIndex{1}}}}});
  EXPECT_TRUE(on_slot_0());
  expect_replay_stands_here();
}

TEST_F(SlotQuarantineOf, AFencedAttemptSendsElsewhereWhoWaitsForItsSlot) {
  cluster.step(EndTrial{id, TrialNumber(0), ExitReason::user_stopped});
  ExpireLeases silence;
  silence.worker = worker;
  silence.heard = Instant::from_micros(cluster.now.micros() - 400'000'000);
  silence.lost_after = Duration::seconds(300);
  cluster.step(silence);
  cluster.join("a", 2);  // Without an attempt that its log would know: the stuck one was fenced before.
  ASSERT_TRUE(on_slot_0());
  const AttemptKey waiting = *on_slot_0();
  const Effects effects = cluster.step(NoteLeakedProcesses{worker, {{stuck, {SlotIndex{0}}}}});
  EXPECT_FALSE(on_slot_0());
  EXPECT_EQ(cluster.trial(waiting.experiment, waiting.trial.number()).state, TrialState::pending);
  EXPECT_TRUE(record().leaked_processes.contains(stuck));
  expect_replay_stands_here();
}

TEST_F(SlotQuarantineOf, AWaitingAttemptIsMovedAlthoughItsWorkerNamesIt) {
  cluster.step(EndTrial{id, TrialNumber(0), ExitReason::user_stopped});
  ExpireLeases silence;
  silence.worker = worker;
  silence.heard = Instant::from_micros(cluster.now.micros() - 400'000'000);
  silence.lost_after = Duration::seconds(300);
  cluster.step(silence);
  cluster.join("a", 2);
  ASSERT_TRUE(on_slot_0());
  HeldAttempt waiting;
  waiting.key = *on_slot_0();
  waiting.slots = {SlotIndex{0}};
  waiting.first_seq = 1;
  waiting.waits = true;
  cluster.join("a", 2, 1, {held(), waiting});
  EXPECT_FALSE(on_slot_0()) << "there it would wait for ever";
  EXPECT_TRUE(record().leaked_processes.contains(stuck));
  expect_replay_stands_here();
}

TEST_F(SlotQuarantineOf, ARunningAttemptKeepsItsSlot) {
  EXPECT_TRUE(cluster.step(NoteLeakedProcesses{worker, {{stuck, {SlotIndex{0}}}}}).events.empty());
  EXPECT_EQ(cluster.refused(NoteLeakedProcesses{WorkerId(9), {}}).code, Errc::not_found);
}

TEST_F(SlotQuarantineOf, ARepeatedReportCountsOnce) {
  cluster.exit(stuck);
  const AttemptKey other{id, TrialNumber(0), AttemptNumber(1), LeaseId(1)};
  cluster.step(NoteLeakedProcesses{
      worker, {{other, {SlotIndex{0}, SlotIndex{7}, SlotIndex{0}}}, {other, {SlotIndex{0}}}}});
  EXPECT_FALSE(on_slot_0());
  EXPECT_EQ(record().leaked_processes.size(), 1U);
  expect_replay_stands_here();
}

TEST_F(SlotQuarantineOf, ASlotThatIsHeldCannotBeReplayed) {
  Event event{Lsn(cluster.engine.last_lsn().number() + 1), cluster.now,
              SlotsQuarantined{worker, {id, TrialNumber(7), AttemptNumber(1), LeaseId(1)}, {SlotIndex{0}}}};
  EXPECT_EQ(cluster.engine.replay(event).error().code, Errc::corrupt);
  event.body = SlotsReleased{worker, stuck, true};
  EXPECT_EQ(cluster.engine.replay(event).error().code, Errc::corrupt);
}

// --- programs that say nothing ---

TEST(NoProgress, CountsAsTheProgramsFailure) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id =
      cluster.create(random_config(1, 1, Value::Map{{"max_restarts", 1}, {"progress_timeout", "10m"}}));
  EXPECT_EQ(cluster.engine.find(id)->config.progress_timeout, Duration::seconds(600));
  for (int attempt = 0; attempt < 2; ++attempt) {
    ExitReport report;
    report.cause = ExitReport::Cause::no_progress;
    report.message = "no report from it for 600 s";
    const AttemptKey key = cluster.live(id, 0);
    cluster.send(key, report);
    cluster.attempts.erase(key);
  }
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::failed);
  EXPECT_EQ(cluster.trial(id, 0).restarts, 2U);
}

}  // namespace
}  // namespace hpsearch::engine
