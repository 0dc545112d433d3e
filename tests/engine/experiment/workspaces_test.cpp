#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

// Workspaces, and their quotas, which are exact.

namespace hpsearch::engine {
namespace {

class WorkspacesTest : public testing::Test {
 protected:
  static Value in(const std::string& workspace, int trials, int concurrent, int slots = 1) {
    Value::Map others{{"resources", Value::Map{{"slots_per_trial", slots}}}};
    if (!workspace.empty()) {
      others["workspace"] = workspace;
      others["project"] = "letters";
    }
    return random_config(trials, concurrent, others);
  }

  static CreateExperiment submission(const Value& config, const std::string& owner = "") {
    CreateExperiment command;
    command.config = config;
    command.fallback_name = "test";
    command.seed = 7;
    command.owner = owner;
    return command;
  }

  ExperimentId submit(const Value& config, const std::string& owner = "") {
    return *cluster.step(submission(config, owner)).created;
  }

  void quota(const std::string& workspace, Quota quota) { cluster.step(ChangeQuota{workspace, quota}); }

  std::uint64_t running(ExperimentId id) const { return cluster.engine.find(id)->running.size(); }

  WaitForQuota why(ExperimentId id) {
    const auto wait = waits_for(*cluster.engine.find(id), cluster.engine.workers(), cluster.now);
    const auto* quota = wait ? std::get_if<WaitForQuota>(&*wait) : nullptr;
    EXPECT_NE(quota, nullptr);
    return quota == nullptr ? WaitForQuota{} : *quota;
  }

  void exit_all_of(ExperimentId id) {
    while (!cluster.engine.find(id)->running.empty()) {
      const AttemptKey key = cluster.live(id, cluster.engine.find(id)->running.begin()->number());
      cluster.report(key, 9, 0.5);
      cluster.exit(key);
    }
  }

  TestCluster cluster;
};

TEST_F(WorkspacesTest, NeedNotBeCreatedBeforeAnyIs) {
  const ExperimentId id = submit(in("vision", 1, 1));
  EXPECT_EQ(cluster.engine.find(id)->workspace->name, "vision");
  EXPECT_FALSE(cluster.engine.workspaces().at("vision").created_at);
  EXPECT_EQ(cluster.engine.find(submit(in("", 1, 1)))->workspace->name, "default");
  cluster.expect_replayable();
}

TEST_F(WorkspacesTest, AreCheckedFromTheFirstOneOn) {
  submit(in("vision", 1, 1));
  cluster.step(CreateWorkspace{"nlp"});
  submit(in("nlp", 1, 1));
  submit(in("", 1, 1));
  submit(in("vision", 1, 1));  // Was there before.
  const Error refused = cluster.refused(submission(in("nlpp", 1, 1)));
  EXPECT_EQ(refused.code, Errc::bad_request);
  EXPECT_EQ(refused.message,
            "there is no workspace \"nlpp\" (did you mean nlp?); known workspaces: default, nlp, vision");
  cluster.expect_replayable();
}

TEST_F(WorkspacesTest, AreCreatedOnce) {
  cluster.step(CreateWorkspace{"nlp"});
  EXPECT_EQ(cluster.refused(CreateWorkspace{"nlp"}).code, Errc::wrong_state);
  EXPECT_EQ(cluster.refused(CreateWorkspace{"default"}).code, Errc::wrong_state);
  for (const char* bad : {"", "NLP", "-nlp", "n l p", "a/b"}) {
    EXPECT_EQ(cluster.refused(CreateWorkspace{bad}).code, Errc::bad_request) << bad;
  }
  EXPECT_EQ(cluster.refused(CreateWorkspace{std::string(64, 'a')}).code, Errc::bad_request);
  cluster.step(CreateWorkspace{std::string(63, 'a')});
}

TEST_F(WorkspacesTest, ThatExperimentsNamedCanBeCreatedLater) {
  submit(in("nlp", 1, 1));
  cluster.step(CreateWorkspace{"nlp"});
  EXPECT_TRUE(cluster.engine.workspaces().at("nlp").created_at);
  EXPECT_EQ(cluster.engine.workspaces().at("nlp").experiments, 1U);
}

TEST_F(WorkspacesTest, QuotaOfSlotsIsSharedByItsExperiments) {
  cluster.join("a", 8);
  const ExperimentId other = submit(in("", 10, 3));
  cluster.step(CreateWorkspace{"nlp"});
  quota("nlp", {.max_slots = 4});
  const ExperimentId first = submit(in("nlp", 10, 3));
  const ExperimentId second = submit(in("nlp", 10, 3));
  EXPECT_EQ(running(first) + running(second), 4U);
  EXPECT_EQ(running(other), 3U);
  exit_all_of(other);
  EXPECT_EQ(running(first) + running(second), 4U) << "free slots are no reason to exceed it";
  cluster.expect_replayable();
}

TEST_F(WorkspacesTest, SlotThatIsGivenBackGoesToTheSameWorkspace) {
  cluster.join("a", 8);
  quota("default", {.max_slots = 2});
  const ExperimentId first = submit(in("", 2, 2));
  const ExperimentId second = submit(in("", 10, 8));
  EXPECT_EQ(running(first), 2U);
  EXPECT_EQ(running(second), 0U);
  exit_all_of(first);
  EXPECT_EQ(running(second), 2U);
  cluster.expect_replayable();
}

TEST_F(WorkspacesTest, RaisedQuotaTakesHoldAtOnce) {
  cluster.join("a", 8);
  quota("default", {.max_slots = 2});
  const ExperimentId id = submit(in("", 10, 8));
  EXPECT_EQ(running(id), 2U);
  quota("default", {.max_slots = 5});
  EXPECT_EQ(running(id), 5U);
  quota("default", {});
  EXPECT_EQ(running(id), 8U);
}

TEST_F(WorkspacesTest, LoweredQuotaEndsNothing) {
  cluster.join("a", 4);
  const ExperimentId id = submit(in("", 10, 4));
  quota("default", {.max_slots = 1});
  EXPECT_EQ(running(id), 4U);
  for (std::uint64_t left = 3; left > 0; --left) {
    const AttemptKey key = cluster.attempts.begin()->first;
    cluster.report(key, 9, 0.5);
    cluster.exit(key);
    EXPECT_EQ(running(id), left);
  }
  const AttemptKey last = cluster.attempts.begin()->first;
  cluster.report(last, 9, 0.5);
  cluster.exit(last);
  EXPECT_EQ(running(id), 1U) << "then the next one starts";
  cluster.expect_replayable();
}

TEST_F(WorkspacesTest, QuotaOfEachUserCountsTheirExperimentsTogether) {
  cluster.join("a", 8);
  quota("default", {.max_slots_per_user = 2});
  const ExperimentId first = submit(in("", 10, 8), "alice");
  const ExperimentId second = submit(in("", 10, 8), "alice");
  const ExperimentId third = submit(in("", 10, 8), "bob");
  EXPECT_EQ(running(first) + running(second), 2U);
  EXPECT_EQ(running(third), 2U);
  const WaitForQuota wait = why(submit(in("", 10, 8), "alice"));
  EXPECT_EQ(wait.user, "alice");
  EXPECT_TRUE(wait.per_user);
  EXPECT_EQ(wait.used, 2U);
  EXPECT_EQ(wait.most, 2U);
}

TEST_F(WorkspacesTest, TrialsOfSeveralSlotsFitOrWait) {
  cluster.join("a", 8);
  quota("default", {.max_slots = 3});
  const ExperimentId id = submit(in("", 10, 8, 2));
  EXPECT_EQ(running(id), 1U);
  const ExperimentId large = submit(in("", 10, 8, 4));
  EXPECT_EQ(running(large), 0U);
  const WaitForQuota wait = why(large);
  EXPECT_EQ(wait.workspace, "default");
  EXPECT_FALSE(wait.per_user);
  EXPECT_EQ(wait.used, 2U);
  EXPECT_EQ(wait.slots_per_trial, 4U);
  EXPECT_EQ(wait.most, 3U);
}

TEST_F(WorkspacesTest, TrialsWithoutSlotsAreFree) {
  cluster.join("a", 1);
  quota("default", {.max_slots = 0});
  EXPECT_EQ(running(submit(in("", 10, 5, 0))), 5U);
  EXPECT_EQ(running(submit(in("", 10, 5, 1))), 0U);
}

TEST_F(WorkspacesTest, FullOneHoldsNoOtherBack) {
  cluster.join("a", 2);
  cluster.step(CreateWorkspace{"nlp"});
  quota("nlp", {.max_slots = 0});
  const ExperimentId held = submit(in("nlp", 10, 2));  // The older one, which would come first.
  const ExperimentId other = submit(in("", 10, 2));
  EXPECT_EQ(running(held), 0U);
  EXPECT_EQ(running(other), 2U);
}

TEST_F(WorkspacesTest, QuotaOfExperimentsRefusesOneMore) {
  quota("default", {.max_active_experiments = 1});
  const ExperimentId id = submit(in("", 1, 1));
  const Error refused = cluster.refused(submission(in("", 1, 1)));
  EXPECT_EQ(refused.code, Errc::quota);
  EXPECT_EQ(refused.message,
            "workspace \"default\" has 1 experiment that has not ended, and its quota is 1 "
            "(max_active_experiments)");
  cluster.step(KillExperiment{id});
  submit(in("", 1, 1));
}

TEST_F(WorkspacesTest, EndedExperimentContinuesWithinTheQuota) {
  cluster.join("a", 1);
  quota("default", {.max_active_experiments = 1});
  const ExperimentId id = submit(in("", 1, 1));
  exit_all_of(id);
  ASSERT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  const ExperimentId next = submit(in("", 1, 1));
  const Value more = Value::Map{{"searcher", Value::Map{{"max_trials", 2}}}};
  EXPECT_EQ(cluster.refused(ChangeExperiment{id, more}).code, Errc::quota);
  exit_all_of(next);
  cluster.step(ChangeExperiment{id, more});
  EXPECT_EQ(cluster.engine.workspaces().at("default").active, 1U);
  cluster.expect_replayable();
}

TEST_F(WorkspacesTest, DeletedExperimentCountsNoMore) {
  const ExperimentId id = submit(in("nlp", 1, 1));
  submit(in("nlp", 1, 1));
  cluster.step(KillExperiment{id});
  cluster.step(DeleteExperiment{id});
  EXPECT_EQ(cluster.engine.workspaces().at("nlp").experiments, 1U);
  EXPECT_EQ(cluster.engine.workspaces().at("nlp").active, 1U);
  cluster.expect_replayable();
}

TEST_F(WorkspacesTest, QuotaOfTrialsBindsSubmissionsAndChanges) {
  quota("default", {.max_trials_per_experiment = 10});
  EXPECT_EQ(cluster.refused(submission(in("", 11, 1))).message,
            "the search plans 11 trials, and the quota of workspace \"default\" is 10 for one experiment "
            "(max_trials_per_experiment)");
  const ExperimentId id = submit(in("", 10, 1));
  const auto change = [&](int trials) {
    return ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_trials", trials}}}}};
  };
  EXPECT_EQ(cluster.refused(change(11)).code, Errc::quota);
  quota("default", {.max_trials_per_experiment = 5});
  cluster.step(change(8));  // Less than before is never refused.
}

TEST_F(WorkspacesTest, EachLimitOfAQuotaArrives) {
  for (const QuotaLimit& limit : quota_limits) {
    Quota wanted;
    wanted.*limit.value = limit.largest;
    quota("default", wanted);
    EXPECT_EQ(cluster.engine.workspaces().at("default").quota, wanted) << limit.name;
  }
  cluster.expect_replayable();
}

CreateExperiment with_context(CreateExperiment command, char digit, std::uint64_t bytes) {
  command.context_digest = std::string(64, digit);
  command.context_bytes = bytes;
  return command;
}

TEST_F(WorkspacesTest, QuotaOfContextBytesCountsEachContentOnce) {
  quota("default", {.max_context_bytes = 1'000});
  const CreateExperiment large = with_context(submission(in("", 1, 1)), 'a', 700);
  const ExperimentId first = *cluster.step(large).created;
  const ExperimentId second = *cluster.step(large).created;
  const WorkspaceRecord& workspace = cluster.engine.workspaces().at("default");
  EXPECT_EQ(workspace.context_bytes, 700U);
  cluster.step(with_context(submission(in("", 1, 1)), 'b', 300));  // Exactly full.
  const CreateExperiment more = with_context(submission(in("", 1, 1)), 'c', 1);
  EXPECT_EQ(cluster.refused(more).message,
            "workspace \"default\" stores 1000 bytes of contexts, this one has 1 byte, and its quota is 1000 "
            "(max_context_bytes)");
  submit(in("", 1, 1));  // Without a packed context.
  cluster.step(large);
  for (const ExperimentId id : {first, second}) {
    cluster.step(KillExperiment{id});
    cluster.step(DeleteExperiment{id});
    EXPECT_EQ(workspace.context_bytes, 1'000U) << "another experiment has it still";
  }
  cluster.step(KillExperiment{ExperimentId(5)});
  cluster.step(DeleteExperiment{ExperimentId(5)});
  EXPECT_EQ(workspace.context_bytes, 300U);
  EXPECT_EQ(workspace.contexts.size(), 1U);
  cluster.step(more);
  cluster.expect_replayable();
}

TEST_F(WorkspacesTest, QuotaOfContextBytesBindsOtherPrograms) {
  const ExperimentId id = *cluster.step(with_context(submission(in("", 1, 1)), 'a', 700)).created;
  quota("default", {.max_context_bytes = 800});
  EXPECT_EQ(cluster.refused(ChangeProgram{id, std::string(64, 'b'), 101, {}}).code, Errc::quota);
  cluster.step(ChangeProgram{id, std::string(64, 'b'), 100, {}});
  EXPECT_EQ(cluster.engine.workspaces().at("default").context_bytes, 800U);
  cluster.step(KillExperiment{id});
  cluster.step(DeleteExperiment{id});
  EXPECT_EQ(cluster.engine.workspaces().at("default").context_bytes, 0U);
  cluster.expect_replayable();
}

/// One slot hour is held, from 10 minutes past an hour on.
class SlotHoursTest : public WorkspacesTest {
 protected:
  static constexpr Duration hour = Duration::seconds(3'600);

  SlotHoursTest() {
    cluster.now = Instant::from_micros(std::int64_t{480'000} * hour.in_micros() + 600'000'000);
    cluster.join("a", 2);
  }
  void after(Duration time) {
    cluster.now = cluster.now + time;
    cluster.step(CheckTimers{});
  }
  WaitForSlotHours why_hours(ExperimentId id) {
    const auto wait = waits_for(*cluster.engine.find(id), cluster.engine.workers(), cluster.now);
    const auto* hours = wait ? std::get_if<WaitForSlotHours>(&*wait) : nullptr;
    EXPECT_NE(hours, nullptr);
    return hours == nullptr ? WaitForSlotHours{} : *hours;
  }
};

TEST_F(SlotHoursTest, NothingNewStartsAndWhatRunsGoesOn) {
  quota("default", {.slot_hours_per_30d = 1});
  const ExperimentId id = submit(in("", 10, 1));
  after(Duration::seconds(3'599));
  EXPECT_EQ(running(id), 1U);
  const ExperimentId second = submit(in("", 10, 1));
  EXPECT_EQ(running(second), 1U) << "a second is left";
  after(hour);
  EXPECT_EQ(running(id) + running(second), 2U) << "attempts are not ended";
  exit_all_of(second);
  EXPECT_EQ(running(second), 0U);
  const WaitForSlotHours wait = why_hours(second);
  EXPECT_EQ(wait.workspace, "default");
  EXPECT_EQ(wait.most, 1U);
  EXPECT_GT(wait.used, Duration::seconds(3 * 3'600 - 5));
  EXPECT_LT(wait.used, Duration::seconds(3 * 3'600));
  cluster.expect_replayable();
}

TEST_F(SlotHoursTest, SubmissionsAndContinuationsAreRefused) {
  const ExperimentId id = submit(in("", 1, 1));
  after(hour);
  exit_all_of(id);
  quota("default", {.slot_hours_per_30d = 1});
  const Error refused = cluster.refused(submission(in("", 1, 1)));
  EXPECT_EQ(refused.code, Errc::quota);
  EXPECT_EQ(refused.message,
            "workspace \"default\" has used 1 slot hour in the last 30 days, and its quota is 1 "
            "(slot_hours_per_30d)");
  const Value more = Value::Map{{"searcher", Value::Map{{"max_trials", 2}}}};
  EXPECT_EQ(cluster.refused(ChangeExperiment{id, more}).code, Errc::quota);
  EXPECT_EQ(running(submit(in("", 1, 1, 0))), 1U) << "trials without slots use none";
  quota("default", {.slot_hours_per_30d = 2});
  EXPECT_EQ(running(submit(in("", 1, 1))), 1U);
}

TEST_F(SlotHoursTest, TrialsStartAgainWhenTheOldestHoursAreThirtyDaysOld) {
  quota("default", {.slot_hours_per_30d = 1});
  const ExperimentId id = submit(in("", 10, 1));
  after(hour);
  exit_all_of(id);
  ASSERT_EQ(running(id), 0U);
  const Duration remaining = why_hours(id).remaining;
  const auto deadline = cluster.engine.next_deadline();
  ASSERT_TRUE(deadline);
  EXPECT_EQ(*deadline, cluster.now + remaining);
  EXPECT_EQ(SlotTime::hour_of(*deadline), *deadline);
  cluster.now = Instant::from_micros(deadline->micros() - 2'000);
  cluster.step(CheckTimers{});
  EXPECT_EQ(running(id), 0U);
  cluster.now = *deadline;
  cluster.step(CheckTimers{});
  EXPECT_EQ(running(id), 1U);
  cluster.expect_replayable();
}

TEST_F(SlotHoursTest, LimitOfZeroEndsWithTheQuotaAlone) {
  quota("default", {});
  const ExperimentId id = submit(in("", 10, 1));
  quota("default", {.slot_hours_per_30d = 0});
  exit_all_of(id);
  EXPECT_EQ(why_hours(id).remaining, Duration());
  EXPECT_FALSE(cluster.engine.next_deadline());
  quota("default", {});
  EXPECT_EQ(running(id), 1U);
}

TEST_F(SlotHoursTest, TimeWithoutADaemonDoesNotCount) {
  quota("default", {.slot_hours_per_30d = 2});
  const ExperimentId id = submit(in("", 10, 2));
  cluster.now = cluster.now + Duration::seconds(50 * 3'600);
  cluster.step(ContinueTime{});
  EXPECT_EQ(running(id), 2U);
  EXPECT_LT(recent_slot_time(cluster.engine.workspaces().at("default"), cluster.now), Duration::seconds(10));
}

TEST_F(SlotHoursTest, DeletedExperimentsCount) {
  const ExperimentId id = submit(in("", 1, 1));
  after(hour);
  exit_all_of(id);
  cluster.step(DeleteExperiment{id});
  EXPECT_GE(recent_slot_time(cluster.engine.workspaces().at("default"), cluster.now), hour);
  quota("default", {.slot_hours_per_30d = 1});
  EXPECT_EQ(cluster.refused(submission(in("", 1, 1))).code, Errc::quota);
}

TEST_F(WorkspacesTest, QuotaOfAnUnknownOneIsRefused) {
  EXPECT_EQ(cluster.refused(ChangeQuota{"nlp", {}}).code, Errc::not_found);
}

TEST_F(WorkspacesTest, SameQuotaAgainLeavesNoTrace) {
  quota("default", {.max_slots = 2});
  EXPECT_TRUE(cluster.step(ChangeQuota{"default", {.max_slots = 2}}).events.empty());
}

TEST(Actor, IsInTheEventsOfTheRequestAlone) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(3, 1));
  const auto act = [&](const Command& command) {
    return *cluster.engine.step(command, cluster.now, "alice");
  };
  EXPECT_EQ(all<ExperimentPaused>(act(PauseExperiment{id}).events).at(0).actor, "alice");
  EXPECT_EQ(all<ExperimentResumed>(act(ResumeExperiment{id}).events).at(0).actor, "alice");
  EXPECT_EQ(all<ExperimentPaused>(cluster.engine.step(PauseExperiment{id}, cluster.now)->events).at(0).actor,
            "");
  EXPECT_EQ(all<WorkspaceCreated>(act(CreateWorkspace{"nlp"}).events).at(0).actor, "alice");
  EXPECT_EQ(cluster.engine.workspaces().at("nlp").creator, "alice");
}

TEST(Actor, IsNotThatOfWhatFollows) {
  TestCluster cluster;
  const ExperimentId spent =
      cluster.create(random_config(3, 1, Value::Map{{"budget", Value::Map{{"max_time", 60}}}}));
  const ExperimentId other = cluster.create(random_config(3, 1));
  const WorkerId worker = cluster.join("a", 2);
  static_cast<void>(worker);
  const Instant later = cluster.now + Duration::seconds(3'600);
  const Effects effects = *cluster.engine.step(PauseExperiment{other}, later, "alice");
  const auto stopped = all<ExperimentStopping>(effects.events);
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_EQ(stopped[0].experiment, spent);
  EXPECT_EQ(stopped[0].actor, "");
}

}  // namespace
}  // namespace hpsearch::engine
