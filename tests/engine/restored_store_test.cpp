#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/experiment/numbering.hpp"
#include "messages.hpp"

// A store that was brought back from an older copy. Workers remember what the lost part of its log decided.

namespace hpsearch::engine {
namespace {

using Fate = WelcomeWorker::Fate;

constexpr std::uint64_t from = std::uint64_t{217'000'000} << 20U;

TEST(Numbers, AreLsnsUntilTheStoreIsRestoredAndNoneIsGivenOutTwice) {
  Numbering numbering;
  EXPECT_EQ(numbering.of(Lsn(7)), 7U);
  EXPECT_TRUE(numbering.has_given(7, Lsn(7)));
  EXPECT_FALSE(numbering.has_given(8, Lsn(7)));
  EXPECT_FALSE(numbering.may_begin_anew(Lsn(8), Numbering::first_after_a_restore - 1));
  ASSERT_TRUE(numbering.may_begin_anew(Lsn(8), from));
  numbering.begin_anew(Lsn(8), from);
  EXPECT_EQ(numbering.of(Lsn(8)), 8U);
  EXPECT_EQ(numbering.of(Lsn(9)), from + 9);
  EXPECT_TRUE(numbering.has_given(8, Lsn(20)));
  EXPECT_FALSE(numbering.has_given(9, Lsn(20))) << "the lost part gave that out";
  EXPECT_FALSE(numbering.has_given(from + 8, Lsn(20)));
  EXPECT_TRUE(numbering.has_given(from + 20, Lsn(20)));
  EXPECT_FALSE(numbering.has_given(from + 21, Lsn(20)));
  EXPECT_FALSE(numbering.may_begin_anew(Lsn(21), from + 21)) << "given out already";
  ASSERT_TRUE(numbering.may_begin_anew(Lsn(21), 2 * from));
  numbering.begin_anew(Lsn(21), 2 * from);
  EXPECT_EQ(numbering.of(Lsn(22)), 2 * from + 22);
  EXPECT_EQ(numbering.of(Lsn(15)), from + 15);
  EXPECT_TRUE(numbering.has_given(from + 21, Lsn(30)));
  EXPECT_FALSE(numbering.has_given(from + 22, Lsn(30)));
}

TEST(AttemptLabels, NameTheLeaseOfWhatWasLeasedAfterARestoreOnly) {
  AttemptKey key{ExperimentId(2), TrialNumber(0), AttemptNumber(3), LeaseId(46)};
  EXPECT_EQ(label_of(key), "3");
  key.lease = LeaseId(from + 46);
  EXPECT_EQ(label_of(key), "3." + std::to_string(from + 46));
  const auto read = read_attempt_label(label_of(key));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, std::pair(key.attempt, key.lease));
  EXPECT_EQ(read_attempt_label("3"), std::pair(AttemptNumber(3), LeaseId(0)));
  for (const char* other : {"", ".", "3.", ".4", "x", "3.x", "-3", "3-1", "3.4.5", "18446744073709551616"}) {
    EXPECT_FALSE(read_attempt_label(other)) << other;
  }
}

/// The first `kept` events of a log, brought back, and the cluster that went on without knowing.
TestCluster restored(const TestCluster& old, std::size_t kept) {
  TestCluster copy;
  copy.now = old.now;
  copy.log.assign(old.log.begin(), old.log.begin() + static_cast<std::ptrdiff_t>(kept));
  const Duration since = old.now - copy.log.back().at;
  copy.log.push_back({Lsn(kept + 1), old.now, StoreRestored{from, since}});
  for (const Event& event : copy.log) {
    const Status replayed = copy.engine.replay(event);
    EXPECT_TRUE(replayed) << replayed.error().message;
  }
  return copy;
}

HeldAttempt held(const AttemptKey& key, std::uint64_t reports, Lsn last_decision = Lsn{}) {
  HeldAttempt attempt;
  attempt.key = key;
  attempt.last_seq = reports;
  attempt.first_seq = reports + 1;
  attempt.last_decision = last_decision;
  attempt.slots = {SlotIndex{0}};
  attempt.length = Units{9};
  return attempt;
}

const WelcomeWorker& welcome_in(const Effects& effects) {
  const auto found = std::find_if(effects.orders.begin(), effects.orders.end(), [](const Order& order) {
    return std::holds_alternative<WelcomeWorker>(order);
  });
  return found != effects.orders.end() ? std::get<WelcomeWorker>(*found)
                                       : throw std::logic_error("nobody was welcomed");
}

Fate fate_of(TestCluster& cluster, const std::string& uid, std::uint64_t slots, const HeldAttempt& attempt) {
  return welcome_in(cluster.step(JoinWorker{uid, uid, 1, slots, "cpu", {attempt}})).attempts.at(0).fate;
}

struct LostPart : testing::Test {
  LostPart() {
    experiment = old.create(random_config(3, 3));
    old.join("a", 1);
    lost = old.live(experiment, 0);
    kept = lost.lease.number() - 1;  // The trial is there, its first lease is not.
  }

  TestCluster old;
  ExperimentId experiment;
  std::size_t kept = 0;
  AttemptKey lost;
};

TEST_F(LostPart, IsNotTakenForALeaseOfTheSameNumber) {
  TestCluster copy = restored(old, kept);
  copy.join("b", 3);
  const AttemptKey again = copy.live(experiment, 0);
  EXPECT_EQ(again.attempt, lost.attempt);
  EXPECT_NE(again, lost);
  EXPECT_GT(again.lease.number(), from);
}

TEST_F(LostPart, StaysOnHoldHoweverLongTheLogGrows) {
  TestCluster copy = restored(old, kept);
  EXPECT_EQ(fate_of(copy, "a", 1, held(lost, 4)), Fate::hold);
  copy.join("b", 3);
  copy.run_all([](TrialNumber trial) { return static_cast<double>(trial.number()); });
  ASSERT_GT(copy.engine.last_lsn().number(), lost.lease.number() + 5);
  EXPECT_EQ(fate_of(copy, "a", 1, held(lost, 4)), Fate::hold) << "its lease looks like one of this log now";
  const WorkerId worker = copy.engine.workers().begin()->first;
  const Effects answered = copy.step(TakeReports{worker, lost, 5, {MetricsReport{Units{5}, {{"score", 1}}}}});
  EXPECT_TRUE(std::any_of(answered.orders.begin(), answered.orders.end(),
                          [](const Order& order) { return std::holds_alternative<HoldAttempt>(order); }));
}

TEST(Restored, DecisionsOverrideThoseOfTheLostPart) {
  TestCluster old;
  old.join("a", 1);
  const ExperimentId experiment = old.create(random_config(1, 1));
  const AttemptKey key = old.live(experiment, 0);
  const std::size_t kept = old.log.size();
  for (std::uint64_t length = 1; length < 9; ++length) {
    old.report(key, length, 1);
  }
  old.step(PauseExperiment{experiment});
  ASSERT_TRUE(old.trial(experiment, 0).live->decision);
  const Lsn heard = old.trial(experiment, 0).live->decision->id;

  TestCluster copy = restored(old, kept);
  copy.join("a", 1, 1, {held(key, 8, heard)});
  copy.step(CancelExperiment{experiment});
  ASSERT_TRUE(copy.trial(experiment, 0).live && copy.trial(experiment, 0).live->decision);
  EXPECT_GT(copy.trial(experiment, 0).live->decision->id, heard) << "its worker would not listen";
}

TEST(Restored, AnEndThatTheLostPartTookBackIsDecidedAgain) {
  TestCluster old;
  old.join("a", 1);
  const ExperimentId experiment = old.create(random_config(1, 1));
  const AttemptKey key = old.live(experiment, 0);
  old.report(key, 1, 1);
  old.step(PauseExperiment{experiment});
  const Lsn paused = old.trial(experiment, 0).live->decision->id;
  const std::size_t kept = old.log.size();
  const auto repeated = [](const Effects& joined) -> const DecideAttempt* {
    for (const Order& order : joined.orders) {
      if (const auto* decide = std::get_if<DecideAttempt>(&order)) {
        return decide;
      }
    }
    return nullptr;
  };

  TestCluster copy = restored(old, kept);
  const Lsn lost(kept + 7);
  const Effects joined = copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {held(key, 1, lost)}});
  const DecideAttempt* decide = repeated(joined);
  ASSERT_NE(decide, nullptr) << "it was answered to train on, and nobody else would ever tell it anything";
  EXPECT_EQ(decide->decision.directive, Directive::pause);
  EXPECT_GT(decide->decision.id, lost) << "its worker would not listen";
  EXPECT_LT(decide->decision.id, Lsn(from)) << "what is decided from now on overrides it";

  const Effects heard = restored(old, kept).step(JoinWorker{"a", "a", 1, 1, "cpu", {held(key, 1, paused)}});
  EXPECT_EQ(repeated(heard), nullptr) << "it has heard what this log says";
}

TEST(Restored, AnAttemptThatTheLostPartEndedIsNotJudgedByItsExit) {
  TestCluster old;
  old.join("a", 1);
  const ExperimentId experiment = old.create(random_config(1, 1));
  const AttemptKey key = old.live(experiment, 0);
  old.report(key, 3, 1);
  const std::size_t kept = old.log.size();
  old.step(PauseExperiment{experiment});
  const Lsn heard = old.trial(experiment, 0).live->decision->id;

  TestCluster copy = restored(old, kept);
  EXPECT_EQ(fate_of(copy, "a", 1, held(key, 1, heard)), Fate::go_on) << "all of its reports are known";
  const AttemptKey now = copy.live(experiment, 0);
  const std::size_t events = copy.log.size();
  EXPECT_EQ(fate_of(copy, "a", 1, held(key, 1, heard)), Fate::go_on);
  EXPECT_EQ(copy.log.size(), events) << "it is known once";
  Engine twin = copy.replayed();
  copy.engine = std::move(twin);
  copy.step(TakeReports{copy.trial(experiment, 0).live->worker, now, 2, {ExitReport{}}});
  EXPECT_EQ(copy.trial(experiment, 0).state, TrialState::running) << "nobody here wanted it to end";
  EXPECT_EQ(copy.trial(experiment, 0).restarts, 0U);
  EXPECT_GT(copy.live(experiment, 0).attempt, key.attempt);
}

/// It may be saving what it has, and its exit counts as asked for whichever word it obeys.
TEST(Restored, EndingAttemptIsNotKilledTwice) {
  TestCluster old;
  old.join("a", 1);
  const ExperimentId experiment = old.create(random_config(1, 1));
  const AttemptKey key = old.live(experiment, 0);
  old.report(key, 3, 1);
  old.step(PauseExperiment{experiment});
  const Lsn paused = old.trial(experiment, 0).live->decision->id;
  const std::size_t kept = old.log.size();
  old.step(CancelExperiment{experiment});
  const Lsn canceled = old.trial(experiment, 0).live->decision->id;
  ASSERT_GT(canceled, paused);

  TestCluster copy = restored(old, kept);
  ASSERT_EQ(fate_of(copy, "a", 1, held(key, 1, canceled)), Fate::go_on);
  EXPECT_EQ(copy.live(experiment, 0), key);
  copy.step(TakeReports{copy.trial(experiment, 0).live->worker,
                        key,
                        2,
                        {CheckpointReport{Units{3}, "/c/1/0/1-3", 2, 100}, ExitReport{}}});
  EXPECT_EQ(copy.trial(experiment, 0).state, TrialState::paused);
  EXPECT_EQ(copy.trial(experiment, 0).checkpoints->latest, "/c/1/0/1-3");
}

/// The attempt before it may be what could still come back; it is not, once this one has begun.
TEST(Restored, AttemptsOfTheLostPartComeBackBeforeEarlierLostOnes) {
  TestCluster old;
  const WorkerId silent = old.join("b", 1);
  const ExperimentId experiment = old.create(random_config(1, 1));
  const AttemptKey first = old.live(experiment, 0);
  old.step(ConfirmStart{silent, first});
  const Instant heard = old.now;
  old.now = old.now + Duration::seconds(4'000);
  old.step(ExpireLeases{silent, heard, Duration::seconds(300), Duration{}});
  old.join("a", 1);
  const AttemptKey second = old.live(experiment, 0);
  ASSERT_NE(first, second);
  TestCluster copy = restored(old, old.log.size());
  EXPECT_EQ(fate_of(copy, "a", 1, held(second, 4)), Fate::go_on) << "what it reported is gone; it is not";
}

bool fences(const Effects& effects, const AttemptKey& key) {
  return std::any_of(effects.orders.begin(), effects.orders.end(), [&key](const Order& order) {
    const auto* fence = std::get_if<FenceAttempt>(&order);
    return fence != nullptr && fence->key == key;
  });
}

TEST_F(LostPart, StaysDisownedOverRestartsOfAll) {
  TestCluster copy = restored(old, kept);
  EXPECT_EQ(fate_of(copy, "a", 1, held(lost, 4)), Fate::hold);
  const WorkerId worker = copy.engine.workers().begin()->first;
  EXPECT_TRUE(fences(copy.step(DisownAttempt{worker, lost}), lost));
  const Effects again = copy.step(DisownAttempt{worker, lost});
  EXPECT_TRUE(fences(again, lost)) << "it may not have been heard";
  EXPECT_TRUE(again.events.empty()) << "asking twice leaves no trace";
  copy.engine = Engine(searchers::registry());
  for (const Event& event : copy.log) {
    ASSERT_TRUE(copy.engine.replay(event));
  }
  Engine twin = copy.replayed();
  EXPECT_EQ(state_text(twin), state_text(copy.engine));
  EXPECT_EQ(twin.workers().at(worker).disowned, std::set{lost});
  copy.engine = std::move(twin);
  EXPECT_TRUE(
      fences(copy.step(TakeReports{worker, lost, 5, {MetricsReport{Units{5}, {{"score", 1}}}}}), lost));
  EXPECT_TRUE(fences(copy.step(ConfirmStart{worker, lost}), lost));
  EXPECT_EQ(copy.refused(AdoptAttempt{worker, held(lost, 4)}).code, Errc::wrong_state);
  EXPECT_EQ(fate_of(copy, "a", 1, held(lost, 4)), Fate::fenced);
}

TEST_F(LostPart, AdoptedComesBackLikeAnyOther) {
  TestCluster copy = restored(old, kept);
  copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {held(lost, 4)}});
  const WorkerId worker = copy.engine.workers().begin()->first;
  copy.step(AdoptAttempt{worker, held(lost, 4)});
  const Instant heard = copy.now;
  copy.now = copy.now + Duration::seconds(4'000);
  copy.step(ExpireLeases{worker, heard, Duration::seconds(300), Duration{}});
  ASSERT_FALSE(copy.trial(experiment, 0).live.has_value()) << "its worker went silent with it";
  EXPECT_EQ(copy.refused(DisownAttempt{worker, lost}).code, Errc::wrong_state);
  EXPECT_EQ(fate_of(copy, "a", 1, held(lost, 4)), Fate::go_on);
  EXPECT_EQ(copy.live(experiment, 0).attempt, lost.attempt);
}

/// What an operator pays for is how long programs held their slots, also where the store has forgotten it.
TEST(Restored, SlotTimeIsThatOfTheAttemptsThatRan) {
  TestCluster old;
  old.join("a", 2);
  const ExperimentId experiment = old.create(random_config(2, 2));
  const AttemptKey first = old.live(experiment, 0);
  const AttemptKey second = old.live(experiment, 1);
  old.report(first, 1, 1);
  old.report(second, 1, 1);
  const Instant leased = old.trial(experiment, 0).live->leased_at;
  const std::size_t kept = old.log.size();
  old.now = old.now + Duration::seconds(1'000);

  TestCluster copy = restored(old, kept);
  const auto slot_time = [&copy, experiment] {
    return copy.engine.find(experiment)->slot_time.until(copy.now).in_seconds();
  };
  EXPECT_LT(slot_time(), 1) << "whether anything ran between backup and restore is not known";
  EXPECT_TRUE(copy.engine.find(experiment)->ran_unlogged);
  EXPECT_TRUE(copy.trial(experiment, 0).ran_unlogged);

  HeldAttempt there = held(first, 1);
  there.held_for = copy.now - leased;
  HeldAttempt silent = held(second, 1);  // An attempt of which its worker does not know it.
  silent.slots = {SlotIndex{1}};
  copy.join("a", 2, 1, {there, silent});
  EXPECT_NEAR(slot_time(), 1'000, 1);
  EXPECT_NEAR((copy.now - copy.trial(experiment, 0).live->leased_at).in_seconds(), 1'000, 1);
  EXPECT_LT((copy.now - copy.trial(experiment, 1).live->leased_at).in_seconds(), 1);

  // What is known now is not added twice, and time without a daemon does not count from here on.
  copy.now = copy.now + Duration::seconds(50);
  copy.step(ContinueTime{});
  there.held_for = copy.now - leased;
  copy.join("a", 2, 1, {there, silent});
  EXPECT_NEAR(slot_time(), 1'000, 1);
  copy.expect_replayable();
  const WorkerId worker = copy.engine.workers().begin()->first;
  copy.step(TakeReports{worker, first, 2, {MetricsReport{Units{9}, {{"score", 1}}}, ExitReport{}}});
  EXPECT_NEAR(copy.trial(experiment, 0).busy.in_seconds(), 1'000, 1);
  copy.expect_replayable();
}

TEST_F(LostPart, AdoptedCountsSinceItBegan) {
  old.now = old.now + Duration::seconds(700);
  TestCluster copy = restored(old, kept);
  HeldAttempt there = held(lost, 4);
  there.held_for = Duration::seconds(700);
  copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {there}});
  const WorkerId worker = copy.engine.workers().begin()->first;
  copy.step(AdoptAttempt{worker, there});
  there.held_for = Duration::seconds(100'000'000);  // A clock that was set.
  copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {there}});
  const Instant created = copy.engine.find(experiment)->created_at;
  EXPECT_EQ(copy.trial(experiment, 0).live->leased_at, created) << "it is not older than its experiment";
  EXPECT_NEAR(copy.engine.find(experiment)->slot_time.until(copy.now).in_seconds(), 700, 1);
  copy.expect_replayable();
}

/// It was lost in the log that is left, and came back in the part that is lost.
TEST(Restored, TimeBeforeALossCountsOnce) {
  TestCluster old;
  const WorkerId silent = old.join("a", 1);
  const ExperimentId experiment = old.create(random_config(1, 1));
  const AttemptKey key = old.live(experiment, 0);
  old.step(ConfirmStart{silent, key});
  const Instant leased = old.trial(experiment, 0).live->leased_at;
  const Instant heard = old.now;
  old.now = old.now + Duration::seconds(4'000);
  old.step(ExpireLeases{silent, heard, Duration::seconds(300), Duration{}});
  const std::size_t kept = old.log.size();
  old.now = old.now + Duration::seconds(500);
  TestCluster copy = restored(old, kept);
  HeldAttempt there = held(key, 0);
  there.held_for = copy.now - leased;
  copy.join("a", 1, 1, {there});
  ASSERT_TRUE(copy.trial(experiment, 0).live);
  EXPECT_NEAR(copy.engine.find(experiment)->slot_time.until(copy.now).in_seconds(), 4'500, 1);
  copy.expect_replayable();
}

TEST_F(LostPart, AdoptedAttemptKeepsTheDecisionOfTheLostPart) {
  TestCluster copy = restored(old, kept);
  copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {held(lost, 0, Lsn(lost.lease.number() + 1))}});
  const WorkerId worker = copy.engine.workers().begin()->first;
  copy.step(AdoptAttempt{worker, held(lost, 0, Lsn(lost.lease.number() + 1))});
  copy.step(TakeReports{worker, copy.live(experiment, 0), 1, {ExitReport{}}});
  EXPECT_EQ(copy.trial(experiment, 0).state, TrialState::running);
  EXPECT_EQ(copy.trial(experiment, 0).restarts, 0U);
}

TEST_F(LostPart, AdoptedAttemptIsKnownAfterItsTrialContinuedWithoutIt) {
  TestCluster copy = restored(old, kept);
  copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {held(lost, 4)}});
  const WorkerId worker = copy.engine.workers().begin()->first;
  copy.step(AdoptAttempt{worker, held(lost, 4)});
  const AttemptKey adopted = copy.live(experiment, 0);
  copy.step(TakeReports{worker, adopted, 5, {MetricsReport{Units{9}, {{"score", 1}}}, ExitReport{}}});
  ASSERT_FALSE(copy.trial(experiment, 0).live.has_value());
  Engine twin = copy.replayed();
  EXPECT_EQ(state_text(twin), state_text(copy.engine));
  copy.engine = std::move(twin);
  HeldAttempt over = held(lost, 6);
  over.exited = true;
  EXPECT_EQ(fate_of(copy, "a", 1, over), Fate::fenced) << "nobody has to be asked again";
  EXPECT_EQ(copy.refused(DisownAttempt{worker, lost}).code, Errc::wrong_state);
  EXPECT_TRUE(fences(copy.step(ConfirmStart{worker, lost}), lost));
  EXPECT_EQ(fate_of(copy, "b", 1, held(lost, 4)), Fate::hold) << "what is another worker's was not adopted";
}

TEST_F(LostPart, IsAllThatCanBeDisowned) {
  TestCluster copy = restored(old, kept);
  copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {held(lost, 4)}});
  const WorkerId worker = copy.engine.workers().begin()->first;
  EXPECT_EQ(copy.refused(DisownAttempt{WorkerId(9), lost}).code, Errc::not_found);
  const AttemptKey known = copy.live(experiment, 0);
  EXPECT_EQ(copy.refused(DisownAttempt{worker, known}).code, Errc::wrong_state)
      << "its worker is answered what the log says";
  TestCluster other = restored(old, kept);
  other.step(JoinWorker{"a", "a", 1, 1, "cpu", {}});
  const AttemptKey over = other.live(experiment, 0);
  other.exit(over, 1);
  EXPECT_EQ(other.refused(DisownAttempt{worker, over}).code, Errc::wrong_state)
      << "the log knows what became of it";
  copy.step(AdoptAttempt{worker, held(lost, 4)});
  EXPECT_EQ(copy.refused(DisownAttempt{worker, lost}).code, Errc::wrong_state) << "its trial has it";
}

TEST_F(LostPart, IsNotAdoptedWhenAnotherAttemptOfItsNumberHasRun) {
  TestCluster copy = restored(old, kept);
  copy.step(JoinWorker{"a", "a", 1, 2, "cpu", {held(lost, 4)}});
  const WorkerId worker = copy.engine.workers().begin()->first;
  const AttemptKey again = copy.live(experiment, 0);
  ASSERT_EQ(again.attempt, lost.attempt);
  copy.step(ConfirmStart{copy.attempts.at(again).worker, again});
  copy.report(again, 3, 1);
  copy.exit(again, 1);  // The trial is to run again, and could be given to what is on hold.
  copy.step(LoseWorker{worker, "away"});
  copy.step(JoinWorker{"a", "a", 2, 2, "cpu", {held(lost, 4)}});
  const Error refusal = copy.refused(AdoptAttempt{worker, held(lost, 4)});
  EXPECT_EQ(refusal.code, Errc::wrong_state) << refusal.message;
  EXPECT_MESSAGE(refusal.message);
}

/// Leased before the copy was made, begun and ended behind it: its worker has acknowledged that and knows it
/// no more.
TEST(Restored, ALeaseThatWasOverInTheLostPartIsNotWaitedFor) {
  TestCluster old;
  old.join("a", 1);
  const ExperimentId experiment = old.create(random_config(1, 1));
  const AttemptKey key = old.live(experiment, 0);
  TestCluster copy = restored(old, old.log.size());
  const WorkerId worker = copy.engine.workers().begin()->first;
  const Effects joined = copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {}});
  EXPECT_EQ(welcome_in(joined).in_doubt, std::vector{key}) << "leased again, its worker would not listen";
  EXPECT_TRUE(std::none_of(joined.orders.begin(), joined.orders.end(),
                           [](const Order& order) { return std::holds_alternative<LaunchAttempt>(order); }));
  copy.step(DisclaimAttempts{worker, {key}});
  const AttemptKey again = copy.live(experiment, 0);
  EXPECT_GT(again.lease.number(), from) << "another lease, in a directory of its own";
  copy.step(ConfirmStart{worker, again});
  const Effects rejoined = copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {held(again, 0)}});
  EXPECT_TRUE(welcome_in(rejoined).in_doubt.empty());
}

/// A trial that has saved at 3 and at 6, in a store that is then brought back, and whose worker has nothing
/// of it.
struct SavedBefore : testing::Test {
  SavedBefore() {
    old.join("a", 1);
    experiment = old.create(random_config(
        1, 1, Value::Map{{"max_restarts", 0}, {"checkpoint_storage", Value::Map{{"save_trial_latest", 2}}}}));
    const AttemptKey key = old.live(experiment, 0);
    for (const std::uint64_t step : {3U, 6U}) {
      old.report(key, step, 1);
      old.send(key, CheckpointReport{Units{step}, "/c/1/0/1-" + std::to_string(step), 2, 100});
    }
  }
  static Effects exit_without_checkpoint(TestCluster& cluster, const AttemptKey& key) {
    ExitReport report;
    report.cause = ExitReport::Cause::checkpoint_gone;
    report.message = "its latest checkpoint is not on this worker's machine";
    Effects effects = cluster.send(key, report);
    cluster.attempts.erase(key);
    return effects;
  }
  const AttemptSpec& spec(const TestCluster& cluster) const {
    return cluster.attempts.at(cluster.live(experiment, 0)).spec;
  }

  TestCluster old;
  ExperimentId experiment;
};

TEST_F(SavedBefore, ACheckpointThatTheLostPartDeletedIsNotUsed) {
  TestCluster copy = restored(old, old.log.size());
  const WorkerId worker = copy.join("a", 1, 2);
  for (const char* latest : {"/c/1/0/1-6", "/c/1/0/1-3"}) {
    EXPECT_EQ(spec(copy).latest_checkpoint, latest);
    EXPECT_TRUE(spec(copy).checkpoint_may_be_gone);
    const Effects exited = exit_without_checkpoint(copy, copy.live(experiment, 0));
    EXPECT_TRUE(std::none_of(exited.orders.begin(), exited.orders.end(), [](const Order& order) {
      return std::holds_alternative<DiscardCheckpoints>(order);
    })) << "its worker may be mistaken";
    copy.now = copy.now + Duration::seconds(10);  // What came to nothing is put off a little.
    copy.step(CheckTimers{});
    EXPECT_EQ(copy.trial(experiment, 0).restarts, 0U);
  }
  EXPECT_EQ(spec(copy).latest_checkpoint, "") << "it begins afresh";
  EXPECT_EQ(copy.engine.workers().at(worker).start_failures, 0U);
  EXPECT_TRUE(copy.engine.find(experiment)->condemned.empty()) << "nothing is left to delete";
  Engine twin = copy.replayed();
  EXPECT_EQ(state_text(twin), state_text(copy.engine));
  copy.run_all([](TrialNumber) { return 1.0; });
  EXPECT_EQ(copy.trial(experiment, 0).state, TrialState::completed);
}

TEST_F(SavedBefore, ADamagedCheckpointOfTheNewPartIsNotUsed) {
  TestCluster copy = restored(old, old.log.size());
  copy.join("a", 1, 2);
  const AttemptKey key = copy.live(experiment, 0);
  copy.send(key, CheckpointReport{Units{7}, "/c/1/0/" + label_of(key) + "-7", 2, 100});
  copy.join("a", 1, 3);
  EXPECT_EQ(spec(copy).latest_step, Units{7});
  EXPECT_TRUE(spec(copy).checkpoint_may_be_gone);
  exit_without_checkpoint(copy, copy.live(experiment, 0));
  EXPECT_EQ(copy.trial(experiment, 0).restarts, 0U);
  EXPECT_EQ(copy.trial(experiment, 0).checkpoints->latest_step, Units{6});
}

// Its disk lost it, or somebody removed it: storage's fault, not the trial's (max_restarts is 0 here).
TEST_F(SavedBefore, ADamagedOneIsDoneWithoutAsWell) {
  const WorkerId worker = old.join("a", 1, 2);
  for (const std::uint64_t step : {6U, 3U}) {
    EXPECT_EQ(spec(old).latest_step, Units{step});
    EXPECT_TRUE(spec(old).checkpoint_may_be_gone);
    exit_without_checkpoint(old, old.live(experiment, 0));
    old.now = old.now + Duration::seconds(10);
    old.step(CheckTimers{});
    EXPECT_EQ(old.trial(experiment, 0).restarts, 0U);
  }
  EXPECT_EQ(spec(old).latest_checkpoint, "") << "it begins afresh";
  EXPECT_FALSE(spec(old).checkpoint_may_be_gone);
  EXPECT_EQ(old.engine.workers().at(worker).start_failures, 0U);
  Engine twin = old.replayed();
  EXPECT_EQ(state_text(twin), state_text(old.engine));
}

// A worker may be mistaken, or a liar.
TEST_F(SavedBefore, WithoutOneThereIsNoneToMiss) {
  old.join("a", 1, 2);
  for (int i = 0; i < 2; ++i) {
    exit_without_checkpoint(old, old.live(experiment, 0));
    old.now = old.now + Duration::seconds(10);
    old.step(CheckTimers{});
  }
  exit_without_checkpoint(old, old.live(experiment, 0));
  EXPECT_EQ(old.trial(experiment, 0).state, TrialState::failed) << "as any start that fails";
}

TEST(Restored, ALeaseOfTheNewPartIsRepeatedAsEver) {
  TestCluster old;
  old.join("a", 1);
  TestCluster copy = restored(old, old.log.size());
  const ExperimentId experiment = copy.create(random_config(1, 1));
  const Effects joined = copy.step(JoinWorker{"a", "a", 1, 1, "cpu", {}});
  EXPECT_TRUE(welcome_in(joined).in_doubt.empty());
  EXPECT_TRUE(std::any_of(joined.orders.begin(), joined.orders.end(),
                          [](const Order& order) { return std::holds_alternative<LaunchAttempt>(order); }));
  EXPECT_TRUE(copy.trial(experiment, 0).live);
}

TEST_F(LostPart, NumbersAreKeptByReplay) {
  TestCluster copy = restored(old, kept);
  copy.join("b", 3);
  Engine twin = copy.replayed();
  EXPECT_EQ(twin.numbering().of(Lsn(kept + 5)), from + kept + 5);
  EXPECT_EQ(state_text(twin), state_text(copy.engine));
}

TEST_F(LostPart, NumbersThatWereGivenOutAreRefused) {
  TestCluster copy = restored(old, kept);
  const Lsn next(copy.engine.last_lsn().number() + 1);
  const Status again = copy.engine.replay({next, copy.now, StoreRestored{from}});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::corrupt);
}

}  // namespace
}  // namespace hpsearch::engine
