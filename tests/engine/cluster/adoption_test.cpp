#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/cluster/liveness.hpp"

// A lease that ends while its worker is silent, and the worker's return.

namespace hpsearch::engine {
namespace {

using Fate = WelcomeWorker::Fate;

const WelcomeWorker& welcome_in(const Effects& effects) {
  for (const Order& order : effects.orders) {
    if (const auto* found = std::get_if<WelcomeWorker>(&order)) {
      return *found;
    }
  }
  throw std::logic_error("nobody was welcomed");
}

template <class Kind>
std::size_t count_of(const Effects& effects) {
  std::size_t found = 0;
  for (const Order& order : effects.orders) {
    found += std::holds_alternative<Kind>(order) ? 1U : 0U;
  }
  return found;
}

/// Reports up to `acknowledged` are not kept any more; one that has exited has two more, the last one its
/// exit.
HeldAttempt held(const AttemptKey& key, std::uint64_t acknowledged, bool exited = false) {
  HeldAttempt attempt;
  attempt.key = key;
  attempt.exited = exited;
  attempt.last_seq = acknowledged + (exited ? 2 : 0);
  attempt.first_seq = acknowledged + 1;
  attempt.slots = {SlotIndex{0}};
  attempt.length = Units{9};
  return attempt;
}

/// Silent for so long, by the daemon's default patience.
ExpireLeases silence(const TestCluster& cluster, WorkerId worker, std::int64_t seconds) {
  ExpireLeases command;
  command.worker = worker;
  command.heard = Instant::from_micros(cluster.now.micros() - seconds * 1'000'000);
  command.lost_after = Duration::seconds(300);
  return command;
}

void expect_replay_stands_where_the_writer_stands(const TestCluster& cluster) {
  const Engine twin = cluster.replayed();
  EXPECT_EQ(state_text(twin), state_text(cluster.engine));
}

// --- how long a silent worker's attempts are waited for ---

TEST(LeasePatience, IsATenthOfWhatWouldBeTrainedAgainWithinBounds) {
  const Duration floor = Duration::seconds(300);
  EXPECT_EQ(lease_patience(floor, std::nullopt, Duration::seconds(10)), floor);
  EXPECT_EQ(lease_patience(floor, std::nullopt, Duration::seconds(3'000)), floor);
  EXPECT_EQ(lease_patience(floor, std::nullopt, Duration::seconds(10'000)), Duration::seconds(1'000));
  EXPECT_EQ(lease_patience(floor, std::nullopt, Duration::seconds(1'000'000)), Duration::seconds(3'600));
  EXPECT_EQ(lease_patience(floor, Duration::seconds(20), Duration::seconds(10'000)), Duration::seconds(20));
  EXPECT_EQ(lease_patience(Duration::seconds(7'200), std::nullopt, Duration()), Duration::seconds(7'200));
}

TEST(Liveness, AfterAStartEverybodyHasTimeToComeBack) {
  Liveness liveness({Duration::seconds(45), Duration::seconds(2), Duration::seconds(300)});
  const Instant start = Instant::from_micros(1'000'000);
  liveness.restored(WorkerId(1), start);
  liveness.heard(WorkerId(2), start);
  const auto silent = liveness.silent(start + Duration::seconds(50));
  ASSERT_EQ(silent.size(), 2U);
  EXPECT_EQ(silent[0].at_least, Duration::seconds(300));
  EXPECT_EQ(silent[1].at_least, Duration());
  liveness.heard(WorkerId(1), start + Duration::seconds(50));
  EXPECT_TRUE(liveness.silent(start + Duration::seconds(50)).size() == 1U);
}

TEST(ExpireLeases, WaitsForWhatTheExperimentSaysAndLosesTheWorkerLast) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 2);
  const ExperimentId hasty = cluster.create(random_config(1, 1, Value::Map{{"lost_after", 60}}));
  const ExperimentId patient = cluster.create(random_config(1, 1, Value::Map{{"lost_after", "20m"}}));
  cluster.step(silence(cluster, worker, 59));
  EXPECT_TRUE(cluster.trial(hasty, 0).live);
  cluster.engine.set_suspect(worker, true);
  const Effects first = cluster.step(silence(cluster, worker, 60));
  EXPECT_FALSE(cluster.trial(hasty, 0).live);
  EXPECT_EQ(count_of<GreetAgain>(first), 1U) << "whoever is still there has to say what it holds";
  EXPECT_EQ(cluster.trial(hasty, 0).restarts, 0U);
  cluster.step(silence(cluster, worker, 1'199));
  EXPECT_TRUE(cluster.trial(patient, 0).live);
  EXPECT_TRUE(cluster.engine.workers().at(worker).present) << "it still has an attempt";
  const Effects last = cluster.step(silence(cluster, worker, 1'200));
  EXPECT_FALSE(cluster.trial(patient, 0).live);
  EXPECT_FALSE(cluster.engine.workers().at(worker).present);
  const std::vector<WorkerLost> lost = all<WorkerLost>(last.events);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_TRUE(lost.front().silent);
}

TEST(ExpireLeases, WaitsLongerTheLongerTheLastCheckpointLiesBack) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  cluster.now = cluster.now + Duration::seconds(9'000);
  cluster.step(silence(cluster, worker, 301));
  EXPECT_TRUE(cluster.trial(id, 0).live) << "900 s are a tenth of what was trained";
  cluster.send(cluster.live(id, 0), CheckpointReport{Units{3}, "/c/3", 1, 1});
  cluster.step(silence(cluster, worker, 301));
  EXPECT_FALSE(cluster.trial(id, 0).live);
}

TEST(ExpireLeases, NothingIsLostBeforeTheGraceAfterAStart) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1, Value::Map{{"lost_after", 1}}));
  ExpireLeases command = silence(cluster, worker, 299);
  command.at_least = Duration::seconds(300);
  EXPECT_TRUE(cluster.step(command).events.empty());
  command = silence(cluster, worker, 300);
  command.at_least = Duration::seconds(300);
  cluster.step(command);
  EXPECT_FALSE(cluster.trial(id, 0).live);
}

TEST(Liveness, AWorkerThatIsSilentFor45SecondsIsSuspectUntilItReports) {
  Liveness liveness{Patience{}};
  const Instant start = Instant::from_micros(1'000'000);
  liveness.heard(WorkerId(1), start);
  EXPECT_FALSE(liveness.suspect(WorkerId(1), start + Duration::millis(44'999)));
  EXPECT_TRUE(liveness.silent(start + Duration::millis(44'999)).empty());
  EXPECT_TRUE(liveness.suspect(WorkerId(1), start + Duration::seconds(45)));
  EXPECT_EQ(liveness.silent(start + Duration::seconds(45)).size(), 1U);
  liveness.heard(WorkerId(1), start + Duration::seconds(46));
  EXPECT_FALSE(liveness.suspect(WorkerId(1), start + Duration::seconds(90)));
}

TEST(Liveness, OurOwnStandstillTakesNoPromiseBack) {
  Liveness liveness({Duration::seconds(45), Duration::seconds(2), Duration::seconds(300)});
  const Instant start = Instant::from_micros(1'000'000);
  liveness.restored(WorkerId(1), start);
  liveness.heard(WorkerId(2), start);
  liveness.did_not_listen(start + Duration::seconds(50));
  EXPECT_TRUE(liveness.silent(start + Duration::seconds(94)).empty());
  const auto silent = liveness.silent(start + Duration::seconds(95));
  ASSERT_EQ(silent.size(), 2U);
  EXPECT_EQ(silent[0].at_least, Duration::seconds(300))
      << "it was promised at the start and has not come yet";
  EXPECT_EQ(silent[1].at_least, Duration());
}

/// The trial of a worker that went silent, which got a pause and goes on: its experiment was resumed.
struct AskedToPause {
  AskedToPause() {
    cluster.step(ConfirmStart{silent, first});
    cluster.step(PauseExperiment{id});
    sent = cluster.trial(id, 0).live->decision->id;
    cluster.engine.set_suspect(silent, true);
    cluster.step(silence(cluster, silent, 300));
    cluster.step(ResumeExperiment{id});
  }
  TestCluster cluster;
  WorkerId silent = cluster.join("silent", 1);
  ExperimentId id = cluster.create(random_config(1, 1));
  AttemptKey first = cluster.live(id, 0);
  Lsn sent;
};

TEST(Adoption, AnUndeliveredDecisionIsVoid) {
  AskedToPause it;
  const Effects back = it.cluster.step(JoinWorker{"silent", "silent", 1, 1, "cpu", {held(it.first, 0)}});
  const auto& live = it.cluster.trial(it.id, 0).live;
  ASSERT_TRUE(live && live->decision);
  EXPECT_EQ(live->decision->directive, Directive::train_on);
  EXPECT_EQ(live->decision->length, it.cluster.trial(it.id, 0).length);
  EXPECT_GT(live->decision->id, it.sent);
  EXPECT_EQ(count_of<DecideAttempt>(back), 1U);
  expect_replay_stands_where_the_writer_stands(it.cluster);
}

TEST(Adoption, ADeliveredDecisionStaysAsItIs) {
  for (const bool exited : {false, true}) {
    AskedToPause it;
    HeldAttempt attempt = held(it.first, 0, exited);
    attempt.last_decision = exited ? Lsn{} : it.sent;
    it.cluster.step(JoinWorker{"silent", "silent", 1, 1, "cpu", {attempt}});
    const auto& live = it.cluster.trial(it.id, 0).live;
    ASSERT_TRUE(live && live->decision) << "it may exit because of it";
    EXPECT_EQ(live->decision->id, it.sent);
    expect_replay_stands_where_the_writer_stands(it.cluster);
  }
}

TEST(Adoption, IsNotRefusedBecauseAnotherTrialGotItsPlace) {
  TestCluster cluster;
  const WorkerId silent = cluster.join("silent", 1);
  const ExperimentId id = cluster.create(random_config(3, 2));
  const AttemptKey first = cluster.live(id, 0);
  cluster.step(ConfirmStart{silent, first});
  cluster.join("other", 1);
  ASSERT_TRUE(cluster.trial(id, 1).live);
  cluster.engine.set_suspect(silent, true);
  cluster.step(silence(cluster, silent, 300));
  cluster.step(
      ChangeExperiment{id, Value(Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 1}}}})});
  ASSERT_FALSE(cluster.trial(id, 0).live);
  const Effects back = cluster.step(JoinWorker{"silent", "silent", 1, 1, "cpu", {held(first, 0)}});
  EXPECT_EQ(welcome_in(back).attempts[0].fate, Fate::go_on) << "it runs anyway";
  EXPECT_TRUE(cluster.trial(id, 0).live && cluster.trial(id, 1).live);
  cluster.join("third", 1);
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 2U) << "nothing new begins above the limit";
  expect_replay_stands_where_the_writer_stands(cluster);
}

TEST(Adoption, AnAttemptOnAnUnreachableGpuIsAdopted) {
  TestCluster cluster;
  const WorkerId silent = cluster.join("silent", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.step(ConfirmStart{silent, first});
  cluster.engine.set_suspect(silent, true);
  cluster.step(silence(cluster, silent, 300));
  JoinWorker join{"silent", "silent", 1, 1, "cpu", {held(first, 0)}};
  join.troubles = {{SlotIndex{0}, "nvidia-smi does not answer"}};
  const Effects back = cluster.step(join);
  EXPECT_EQ(welcome_in(back).attempts[0].fate, Fate::go_on) << "what trains, trains on";
  ASSERT_TRUE(cluster.trial(id, 0).live);
  EXPECT_EQ(cluster.trial(id, 0).live->key.attempt, first.attempt);
  expect_replay_stands_where_the_writer_stands(cluster);
}

// --- the return: {queued, waiting, starting, running, finished} replacement × {running, exited} attempt ---

struct ReturnCase {
  const char* name;
  enum class Replacement {
    queued,
    waiting,  ///< For its slots, on a worker that has introduced itself since.
    starting,
    running,
    finished
  } replacement;
  [[nodiscard]] bool gives_way() const {
    return replacement == Replacement::waiting || replacement == Replacement::starting;
  }
  bool exited;  ///< The returning attempt ended meanwhile, and its reports wait.
  Fate fate;
};

class Return : public testing::TestWithParam<ReturnCase> {};

TEST_P(Return, GivesTheTrialBackUnlessAnotherAttemptHasStarted) {
  using Replacement = ReturnCase::Replacement;
  const ReturnCase& wanted = GetParam();
  TestCluster cluster;
  const WorkerId silent = cluster.join("silent", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.report(first, 3, 0.5);
  cluster.engine.set_suspect(silent, true);
  std::optional<WorkerId> other;
  if (wanted.replacement != Replacement::queued) {
    other = cluster.join("other", 1);
  }
  cluster.step(silence(cluster, silent, 300));
  ASSERT_FALSE(cluster.engine.workers().at(silent).present);
  if (other) {
    const AttemptKey second = cluster.live(id, 0);
    ASSERT_EQ(second.attempt, AttemptNumber(2));
    if (wanted.replacement == Replacement::waiting) {
      HeldAttempt waiting = held(second, 0);
      waiting.waits = true;
      const Effects effects = cluster.step(JoinWorker{"other", "other", 1, 1, "cpu", {waiting}});
      EXPECT_EQ(count_of<LaunchAttempt>(effects), 1U) << "sent until it says that it has begun";
    } else if (!wanted.gives_way()) {
      cluster.step(ConfirmStart{*other, second});
    }
    if (wanted.replacement == Replacement::finished) {
      cluster.report(second, 9, 0.25);
      cluster.exit(second);
      ASSERT_EQ(cluster.trial(id, 0).state, TrialState::completed);
    }
  }
  cluster.engine.set_suspect(silent, false);
  const Effects back =
      cluster.step(JoinWorker{"silent", "silent", 1, 1, "cpu", {held(first, 1, wanted.exited)}});
  ASSERT_EQ(welcome_in(back).attempts.size(), 1U);
  const WelcomeWorker::Attempt& sent = welcome_in(back).attempts[0];
  EXPECT_EQ(sent.key, first);
  EXPECT_EQ(sent.fate, wanted.fate);
  if (wanted.fate == Fate::go_on) {
    EXPECT_EQ(sent.upto, 1U) << "what it reported before counts, and only once";
    const AttemptKey now = cluster.live(id, 0);
    EXPECT_EQ(now.attempt, first.attempt);
    EXPECT_GT(now.lease, first.lease) << "a new lease: the fencing token never goes back";
    EXPECT_EQ(sent.lease, now.lease);
    EXPECT_EQ(count_of<FenceAttempt>(back), wanted.gives_way() ? 1U : 0U);
    // Under its old lease it reports for no trial.
    const Effects stale =
        cluster.step(TakeReports{silent, first, 2, {MetricsReport{Units{9}, {{"score", 9.0}}}}});
    EXPECT_TRUE(stale.events.empty());
    EXPECT_EQ(count_of<FenceAttempt>(stale), 1U);
    cluster.step(TakeReports{silent, now, 2, {MetricsReport{Units{9}, {{"score", 0.125}}}, ExitReport{}}});
    EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
    EXPECT_EQ(cluster.trial(id, 0).latest->metric, 0.125);
    EXPECT_EQ(cluster.trial(id, 0).attempts, wanted.gives_way() ? 2U : 1U);
  } else {
    const double before = cluster.trial(id, 0).latest->metric;
    const Effects late = cluster.step(
        TakeReports{silent, first, 2, {MetricsReport{Units{9}, {{"score", 9.0}}}, ExitReport{}}});
    EXPECT_TRUE(late.events.empty()) << "late reports change nothing";
    ASSERT_EQ(count_of<FenceAttempt>(late), 1U);
    EXPECT_EQ(std::get<FenceAttempt>(late.orders.back()).late_reports, 2U) << "but they are counted";
    EXPECT_EQ(cluster.trial(id, 0).latest->metric, before);
  }
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U);
  expect_replay_stands_where_the_writer_stands(cluster);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Return,
    testing::Values(ReturnCase{"QueuedRunning", ReturnCase::Replacement::queued, false, Fate::go_on},
                    ReturnCase{"QueuedExited", ReturnCase::Replacement::queued, true, Fate::go_on},
                    ReturnCase{"WaitingRunning", ReturnCase::Replacement::waiting, false, Fate::go_on},
                    ReturnCase{"WaitingExited", ReturnCase::Replacement::waiting, true, Fate::go_on},
                    ReturnCase{"StartingRunning", ReturnCase::Replacement::starting, false, Fate::go_on},
                    ReturnCase{"StartingExited", ReturnCase::Replacement::starting, true, Fate::go_on},
                    ReturnCase{"RunningRunning", ReturnCase::Replacement::running, false, Fate::fenced},
                    ReturnCase{"RunningExited", ReturnCase::Replacement::running, true, Fate::fenced},
                    ReturnCase{"FinishedRunning", ReturnCase::Replacement::finished, false, Fate::fenced},
                    ReturnCase{"FinishedExited", ReturnCase::Replacement::finished, true, Fate::fenced}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(Return, AnEndedAttemptWithoutReportsIsNotGivenBack) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 2);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.step(ConfirmStart{worker, first});
  cluster.engine.set_suspect(worker, true);
  cluster.step(silence(cluster, worker, 300));
  cluster.engine.set_suspect(worker, false);
  HeldAttempt leaked_processes = held(first, 1);
  leaked_processes.exited = true;
  leaked_processes.unkillable = true;
  const Effects back = cluster.step(JoinWorker{"a", "a", 1, 2, "cpu", {leaked_processes}});
  EXPECT_EQ(welcome_in(back).attempts[0].fate, Fate::fenced)
      << "it was once already, and its reports went with it";
  EXPECT_EQ(cluster.live(id, 0).attempt, AttemptNumber(2))
      << "nobody waits for an exit that was never to come";
  EXPECT_TRUE(cluster.engine.workers().at(worker).leaked_processes.contains(first));
  expect_replay_stands_where_the_writer_stands(cluster);
}

TEST(Return, WelcomeThatWasLostIsGivenAgain) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.step(ConfirmStart{worker, first});
  cluster.engine.set_suspect(worker, true);
  cluster.step(silence(cluster, worker, 300));
  cluster.engine.set_suspect(worker, false);
  cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {held(first, 0)}});
  const AttemptKey adopted = cluster.live(id, 0);
  // The worker never heard of it, or its agent started anew on the same programs.
  const Effects again = cluster.step(JoinWorker{"a", "a", 2, 1, "cpu", {held(first, 0)}});
  EXPECT_EQ(cluster.live(id, 0), adopted);
  EXPECT_EQ(welcome_in(again).attempts[0].fate, Fate::go_on);
  EXPECT_EQ(welcome_in(again).attempts[0].lease, adopted.lease);
}

TEST(Return, ReportsBeforeItIntroducesItselfAskForThat) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 2);
  const ExperimentId id = cluster.create(random_config(1, 1, Value::Map{{"lost_after", 60}}));
  cluster.create(random_config(1, 1, Value::Map{{"lost_after", 6'000}}));
  const AttemptKey first = cluster.live(id, 0);
  cluster.engine.set_suspect(worker, true);
  cluster.step(silence(cluster, worker, 60));
  ASSERT_TRUE(cluster.engine.workers().at(worker).present);
  const Effects early =
      cluster.step(TakeReports{worker, first, 1, {MetricsReport{Units{1}, {{"score", 1.0}}}}});
  EXPECT_EQ(count_of<FenceAttempt>(early), 0U) << "nobody has its place: it is not to be killed";
  EXPECT_EQ(count_of<GreetAgain>(early), 1U);
}

TEST(Return, AnOlderStoreContinuesAfterItsLostPart) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.report(first, 1, 0.5);
  HeldAttempt ahead = held(first, 5);  // Reports up to 5 were acknowledged by the lost store.
  const Effects back = cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {ahead}});
  EXPECT_EQ(welcome_in(back).attempts[0].fate, Fate::go_on);
  EXPECT_EQ(welcome_in(back).attempts[0].upto, 5U);
  EXPECT_EQ(cluster.live(id, 0).attempt, first.attempt);
}

// The lost part may have ended it, at a length that is not known here.
TEST(Return, AnAttemptThatMayHaveComeFurtherIsNotJudgedByItsExit) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.report(first, 1, 0.5);
  HeldAttempt ahead = held(first, 5);
  cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {ahead}});
  Engine twin = cluster.replayed();
  EXPECT_EQ(state_text(twin), state_text(cluster.engine));
  cluster.engine = std::move(twin);
  const AttemptKey again = cluster.live(id, 0);
  const WorkerId worker = cluster.trial(id, 0).live->worker;
  cluster.step(TakeReports{worker, again, 6, {ExitReport{}}});
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running) << "it runs again";
  EXPECT_EQ(cluster.trial(id, 0).restarts, 0U);
  EXPECT_GT(cluster.live(id, 0).attempt, first.attempt);
  cluster.report(cluster.live(id, 0), 1, 0.5);
  cluster.exit(cluster.live(id, 0));
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::completed) << "by itself, and all of it is known";
}

// --- an operator's answer to attempts the log does not know ---

TEST(AdoptAttempt, GivesAnUnknownAttemptItsTrial) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  cluster.engine.set_suspect(worker, true);
  const ExperimentId id = cluster.create(random_config(1, 1));
  cluster.engine.set_suspect(worker, false);
  cluster.step(PauseExperiment{id});
  AttemptKey unknown{id, TrialNumber(0), AttemptNumber(7), LeaseId(90'000)};
  Effects effects = cluster.step(JoinWorker{"a", "a", 1, 1, "cpu", {held(unknown, 4)}});
  EXPECT_EQ(welcome_in(effects).attempts[0].fate, Fate::hold) << "never kill on ignorance";
  EXPECT_EQ(cluster.refused(AdoptAttempt{worker, held(unknown, 4)}).code, Errc::not_found)
      << "no such trial yet";
}

TEST(AdoptAttempt, TakesTheTrialFromAnAttemptThatHasNotStarted) {
  TestCluster cluster;
  const WorkerId holder = cluster.join("holder", 1);
  cluster.engine.set_suspect(holder, true);
  cluster.join("other", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  cluster.engine.set_suspect(holder, false);
  const AttemptKey unknown{id, TrialNumber(0), AttemptNumber(7), LeaseId(90'000)};
  cluster.step(AdoptAttempt{holder, held(unknown, 4)});
  const AttemptKey now = cluster.live(id, 0);
  EXPECT_EQ(now.attempt, AttemptNumber(7));
  EXPECT_EQ(cluster.trial(id, 0).live->worker, holder);
  EXPECT_EQ(cluster.trial(id, 0).live->applied_seq, 4U);
  const Effects back = cluster.step(JoinWorker{"holder", "holder", 1, 1, "cpu", {held(unknown, 4)}});
  EXPECT_EQ(welcome_in(back).attempts[0].fate, Fate::go_on);
  EXPECT_EQ(welcome_in(back).attempts[0].lease, now.lease);
  expect_replay_stands_where_the_writer_stands(cluster);
}

TEST(AdoptAttempt, IsRefusedWhenItSaysASlotTwice) {
  TestCluster cluster;
  const WorkerId holder = cluster.join("holder", 2);
  cluster.engine.set_suspect(holder, true);
  const ExperimentId id =
      cluster.create(random_config(1, 1, Value::Map{{"resources", Value::Map{{"slots_per_trial", 2}}}}));
  cluster.join("other", 2);
  HeldAttempt twice = held(AttemptKey{id, TrialNumber(0), AttemptNumber(7), LeaseId(90'000)}, 4);
  twice.slots = {SlotIndex{0}, SlotIndex{0}};
  EXPECT_EQ(cluster.refused(AdoptAttempt{holder, twice}).code, Errc::bad_request);
  twice.slots = {SlotIndex{0}, SlotIndex{2}};
  EXPECT_EQ(cluster.refused(AdoptAttempt{holder, twice}).code, Errc::wrong_state) << "there is no such slot";
  twice.slots = {SlotIndex{1}, SlotIndex{0}};
  cluster.step(AdoptAttempt{holder, twice});
  EXPECT_EQ(cluster.live(id, 0).attempt, AttemptNumber(7));
  cluster.join("holder", 1, 1, {twice});  // In whatever order it names them: one of these slots is taken.
  EXPECT_FALSE(cluster.trial(id, 0).live && cluster.trial(id, 0).live->worker == holder);
}

TEST(AdoptAttempt, IsRefusedWhenItsNumberIsBeyondAllReason) {
  TestCluster cluster;
  const WorkerId holder = cluster.join("holder", 1);
  cluster.engine.set_suspect(holder, true);
  cluster.join("other", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const HeldAttempt mad =
      held(AttemptKey{id, TrialNumber(0), AttemptNumber(4'294'967'295), LeaseId(90'000)}, 4);
  EXPECT_EQ(cluster.refused(AdoptAttempt{holder, mad}).code, Errc::bad_request)
      << "the next one would be number 0";
}

TEST(AdoptAttempt, IsRefusedWhenNothingOfItIsLeftToReport) {
  TestCluster cluster;
  const WorkerId holder = cluster.join("holder", 1);
  cluster.engine.set_suspect(holder, true);
  cluster.join("other", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  HeldAttempt over = held(AttemptKey{id, TrialNumber(0), AttemptNumber(7), LeaseId(90'000)}, 4);
  over.exited = over.unkillable = true;  // Fenced: it would never say that it has ended.
  EXPECT_EQ(cluster.refused(AdoptAttempt{holder, over}).code, Errc::wrong_state);
}

// --- reports that contradict each other ---

TEST(Reports, SameNumberWithAnotherContentEndsTheAttempt) {
  TestCluster cluster;
  const WorkerId worker = cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 1, 0.5);
  Effects effects = cluster.step(TakeReports{worker, key, 1, {MetricsReport{Units{1}, {{"score", 0.5}}}}});
  EXPECT_TRUE(effects.events.empty()) << "the same again is only acknowledged again";
  effects = cluster.step(TakeReports{worker, key, 1, {MetricsReport{Units{1}, {{"score", 0.75}}}}});
  EXPECT_EQ(count_of<FenceAttempt>(effects), 1U);
  EXPECT_EQ(cluster.trial(id, 0).latest->metric, 0.5);
  EXPECT_EQ(cluster.live(id, 0).attempt, AttemptNumber(2));
}

}  // namespace
}  // namespace hpsearch::engine
