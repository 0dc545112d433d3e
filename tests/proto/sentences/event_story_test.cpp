#include "hpsearch/proto/sentences/event_story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace hpsearch::sentences {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace)
using testing::EndsWith;
using Why = Reason::Why;

class Story : public testing::Test {
 protected:
  std::string tell(EventBody body, double at = 100) {
    return story_
        .tell(Event{Lsn(++lsn_), Instant::from_micros(static_cast<std::int64_t>(at * 1e6)), std::move(body)})
        .text;
  }
  static AttemptKey key(std::uint64_t trial, std::uint64_t attempt = 1) {
    return {ExperimentId(1), TrialNumber(trial), AttemptNumber(attempt), LeaseId(9)};
  }
  std::string lease(std::uint64_t trial, std::uint64_t attempt, double at) {
    return tell(LeaseGranted{ExperimentId(1), TrialNumber(trial), AttemptNumber(attempt), WorkerId(1), {}},
                at);
  }
  std::string lose(std::uint64_t trial, double at) { return tell(AttemptLost{key(trial), ""}, at); }
  std::string exits(std::uint64_t trial, ExitReport::Cause cause, double at) {
    ExitReport exit;
    exit.cause = cause;
    return tell(ReportTaken{key(trial), 1, exit}, at);
  }
  std::string pause(double at) { return tell(ExperimentPaused{ExperimentId(1)}, at); }
  std::string resume(double at) { return tell(ExperimentResumed{ExperimentId(1)}, at); }

  std::uint64_t lsn_ = 0;
  EventStory story_{"epochs", "val_acc"};
};

Reason ranked(Why why, std::uint64_t rank) {
  Reason reason;
  reason.why = why;
  reason.rank = rank;
  reason.size = 9;
  return reason;
}

TEST_F(Story, ShowsWhatATrialReachedTogetherWithWhatFollows) {
  EXPECT_EQ(tell(LengthReached{ExperimentId(1), TrialNumber(3), Units{4}, Units{4}, 0.91}), "");
  EXPECT_THAT(tell(TrialPaused{ExperimentId(1), TrialNumber(3), ranked(Why::waits_at_rung, 4)}),
              EndsWith("trial 3 paused at 4 epochs with val_acc 0.91: waits at its rung; rank 5 of 9"));
  EXPECT_THAT(
      tell(TrialPromoted{ExperimentId(1), TrialNumber(3), Units{16}, false, ranked(Why::promoted, 0)}),
      EndsWith("trial 3 promoted to 16 epochs: rank 1 of 9"));
}

TEST_F(Story, ShowsWhoseRequestItWas) {
  EXPECT_EQ(tell(ExperimentPaused{ExperimentId(1), "", "ann"}), "the experiment is paused by ann");
  EXPECT_EQ(tell(ExperimentResumed{ExperimentId(1), "uid:1000"}), "the experiment is resumed by uid:1000");
  EXPECT_EQ(tell(ExperimentStopping{ExperimentId(1), ExperimentState::canceled, false, "canceled by a user",
                                    "ann"}),
            "the experiment is ending: canceled by a user (ann)");
  EXPECT_EQ(tell(WorkspaceCreated{"nlp", "ann"}), "workspace nlp was created by ann");
  EXPECT_EQ(tell(QuotaChanged{"nlp", 8, std::nullopt, 20, std::nullopt, 1'000, std::nullopt, "ann"}),
            "the quota of workspace nlp was changed by ann: max_slots 8, max_slots_per_user none, "
            "max_active_experiments 20, max_trials_per_experiment none, max_context_bytes 1000, "
            "slot_hours_per_30d none");
}

TEST_F(Story, ShowsThatATrialWaitsToGoOn) {
  EXPECT_THAT(tell(TrialQueued{ExperimentId(1), TrialNumber(3)}),
              EndsWith("trial 3 waits for a slot to continue"));
}

TEST_F(Story, ShowsWhyATrialWasCreated) {
  const auto created = [this](Reason reason) {
    return tell(TrialCreated{ExperimentId(1), TrialNumber(3), TrialId(4), Value::Map{{"lr", 0.5}}, Units{4},
                             std::move(reason)});
  };
  Reason reason;
  reason.rung = 0;
  EXPECT_THAT(created(reason), EndsWith("trial 3 created, to train to 4 epochs: lr=0.5"));
  reason.why = Why::replacement;
  EXPECT_THAT(created(reason), EndsWith("trial 3 created, replacement for a trial with invalid "
                                        "hyperparameters, to train to 4 epochs: lr=0.5"));
  reason.why = Why::given_point;
  reason.bracket = 1;
  EXPECT_THAT(
      created(reason),
      EndsWith("trial 3 created in bracket 1, from points_to_evaluate, to train to 4 epochs: lr=0.5"));
  reason.why = Why::new_trial;
  EXPECT_THAT(created(reason), EndsWith("trial 3 created in bracket 1, to train to 4 epochs: lr=0.5"));
  reason.rung = 2;
  EXPECT_THAT(created(reason),
              EndsWith("trial 3 created in bracket 1 at rung 2, to train to 4 epochs: lr=0.5"));
  reason = Reason();
  reason.why = Why::near_trial;
  reason.near = 1;
  reason.near_rank = 0;
  reason.results = 2;
  reason.spread = 0.25;
  EXPECT_THAT(created(reason),
              EndsWith("trial 3 created, drawn near trial 1 (rank 1 of 2), in windows of 25 % of "
                       "each range, to train to 4 epochs: lr=0.5"));
}

TEST_F(Story, ShowsAMetricThatIsMissing) {
  tell(LengthReached{ExperimentId(1), TrialNumber(0), Units{1}, Units{1}, std::nullopt});
  EXPECT_THAT(
      tell(TrialEnded{ExperimentId(1), TrialNumber(0), TrialState::stopped, ranked(Why::below_cutoff, 8)}),
      EndsWith("trial 0 stopped at 1 epoch with val_acc missing: not among the best; rank 9 of 9"));
}

TEST_F(Story, ShowsExitsOnlyWhenTheyAreTrouble) {
  const auto exited = [this](ExitReport::Cause cause, int code, const char* message) {
    return tell(ReportTaken{key(2), 1, ExitReport{cause, code, message, ""}});
  };
  using Cause = ExitReport::Cause;
  EXPECT_EQ(exited(Cause::exited, 0, ""), "");
  EXPECT_EQ(exited(Cause::ended_by_agent, 15, ""), "");
  EXPECT_THAT(exited(Cause::exited, 3, ""),
              EndsWith("trial 2, attempt 1: its program ended with exit status 3"));
  EXPECT_THAT(exited(Cause::signaled, 11, ""), EndsWith("ended by signal 11"));
  EXPECT_THAT(exited(Cause::could_not_start, 0, "no program x"),
              EndsWith("trial 2, attempt 1: no program x"));
}

TEST_F(Story, ShowsWhatBecomesOfAttempts) {
  EXPECT_THAT(tell(AttemptStarted{key(2)}), EndsWith("trial 2 started"));
  EXPECT_THAT(tell(AttemptStarted{key(2, 3)}), EndsWith("trial 2 started (attempt 3)"));
  EXPECT_THAT(tell(AttemptLost{key(2), "its worker is silent"}),
              EndsWith("trial 2 lost its attempt 1: its worker is silent"));
  EXPECT_THAT(tell(AttemptAdopted{key(2), WorkerId(4), {}}),
              EndsWith("trial 2 continues its attempt 1 on worker 4"));
  EXPECT_THAT(
      tell(AttemptDisowned{WorkerId(4), key(2)}),
      EndsWith(
          "worker 4 must end attempt 1 of trial 2, which is not in this store; requested by an operator"));
  StartDelayed delayed{ExperimentId(1), TrialNumber(2), 2, Duration::micros(8'000'000)};
  delayed.why = "no such image";
  EXPECT_THAT(
      tell(delayed),
      EndsWith("trial 2 is retried in 8 s: its last 2 attempts ended without a report: no such image"));
  delayed.times = 1;
  EXPECT_THAT(tell(delayed),
              EndsWith("trial 2 is retried in 8 s: its last attempt ended without a report: no such image"));
  delayed.wait = Duration::micros(999'999);
  EXPECT_EQ(tell(delayed), "");
  EXPECT_THAT(tell(ReportTaken{key(2), 1, InvalidHparamsReport{"lr is too large"}}),
              EndsWith("trial 2 reports invalid hyperparameters: lr is too large"));
  EXPECT_THAT(tell(CheckpointsCollected{ExperimentId(1), TrialNumber(2), {"/a", "/b"}}),
              EndsWith("trial 2: 2 checkpoints no longer needed"));
}

TEST_F(Story, ShowsMembersOfAnAttemptOnSeveralWorkers) {
  EXPECT_EQ(tell(AttemptStarted{key(2), WorkerId(5)}), "") << "rank 0 stands for all";
  ExitReport exit;
  exit.cause = ExitReport::Cause::exited;
  EXPECT_EQ(tell(MemberExited{key(2), WorkerId(5), exit}), "");
  exit.code = 1;
  EXPECT_THAT(tell(MemberExited{key(2), WorkerId(5), exit}),
              EndsWith("trial 2, on worker 5, attempt 1: its program ended with exit status 1"));
  EXPECT_THAT(tell(MemberLost{key(2), WorkerId(5), "gone"}),
              EndsWith("trial 2 lost the part of attempt 1 on worker 5: gone"));
}

TEST_F(Story, ShowsWorkersAndTheirSlots) {
  WorkerJoined joined{WorkerId(5), "u", "node5", 1, 2, "gpu"};
  EXPECT_THAT(tell(joined), EndsWith("worker node5 joined with 2 gpu slots"));
  EXPECT_THAT(tell(WorkerLost{WorkerId(5), "it was stopped"}), EndsWith("worker 5 left: it was stopped"));
  EXPECT_THAT(tell(WorkerQuarantined{WorkerId(5), "3 trials failed"}),
              EndsWith("worker 5 is in quarantine: 3 trials failed"));
  EXPECT_THAT(tell(WorkerQuarantined{WorkerId(5), "3 trials failed", "", Duration::seconds(600)}),
              EndsWith("3 trials failed; it is tried with one trial in 10 min"));
  EXPECT_THAT(tell(WorkerReleased{WorkerId(5)}), EndsWith("worker 5 gets new trials again"));
  EXPECT_THAT(tell(WorkerReleased{WorkerId(5), "", true}),
              EndsWith("worker 5 gets new trials again: the one trial that it got works"));
  EXPECT_THAT(tell(WorkerForgotten{WorkerId(5), "lost for 7 days", "ann"}),
              EndsWith("worker 5 was forgotten by ann: lost for 7 days"));
  EXPECT_THAT(tell(WorkerDraining{WorkerId(5)}), EndsWith("worker 5 is draining: it gets no new trials"));
  EXPECT_THAT(
      tell(SlotsQuarantined{WorkerId(5), key(2), {SlotIndex(0), SlotIndex(3)}}),
      EndsWith("slots 0, 3 of worker 5 are out of use: a process of trial 2, attempt 1, survives SIGKILL"));
  EXPECT_THAT(tell(SlotsReleased{WorkerId(5), key(2), true}),
              EndsWith("the slots of trial 2, attempt 1, on worker 5 are in use again"));
  EXPECT_THAT(tell(SlotsReleased{WorkerId(5), key(2), false}), EndsWith("again; requested by an operator"));
  EXPECT_THAT(tell(SlotWithdrawn{WorkerId(5), SlotIndex(3), "ECC error"}),
              EndsWith("slot 3 of worker 5 is out of use: ECC error"));
  EXPECT_THAT(tell(SlotRestored{WorkerId(5), SlotIndex(3), true}),
              EndsWith("slot 3 of worker 5 is healthy again"));
  EXPECT_THAT(
      tell(SlotRestored{WorkerId(5), SlotIndex(3), false}),
      EndsWith("slot 3 of worker 5 is in use again, although it is not healthy; requested by an operator"));
}

TEST_F(Story, ShowsHowTheExperimentFares) {
  EXPECT_THAT(pause(100), EndsWith("the experiment is paused"));
  EXPECT_THAT(tell(ExperimentPaused{ExperimentId(1), "no data"}, 100),
              EndsWith("the experiment paused itself: no data"));
  EXPECT_THAT(resume(100), EndsWith("the experiment is resumed"));
  EXPECT_THAT(tell(ExperimentStopping{ExperimentId(1), ExperimentState::completed, false, "max_time"}),
              EndsWith("the experiment is ending: max_time"));
  EXPECT_THAT(tell(ExperimentEnded{ExperimentId(1), ExperimentState::completed, "max_time"}),
              EndsWith("the experiment is completed: max_time"));
}

TEST_F(Story, ShowsThatAnExperimentContinuesAndWithWhichProgram) {
  tell(ExperimentEnded{ExperimentId(1), ExperimentState::completed, ""});
  EXPECT_TRUE(story_.ended());
  EXPECT_THAT(tell(ExperimentReopened{ExperimentId(1)}),
              EndsWith("the experiment continues: its limits changed"));
  EXPECT_FALSE(story_.ended());
  ProgramChanged changed{ExperimentId(1), TrialNumber(7)};
  changed.changed = {"train.py", "model.py"};
  EXPECT_THAT(tell(changed), EndsWith("the experiment has another program: train.py, model.py changed; all "
                                      "attempts that start from now on run it"));
  changed.context_digest = "two";
  EXPECT_THAT(tell(changed), EndsWith("changed; trial 7 and later trials run it"));
  changed.also = {TrialNumber(4), TrialNumber(5)};
  EXPECT_THAT(tell(changed), EndsWith("changed; trial 7 and later trials run it, and so do trial 4, trial 5, "
                                      "which reported nothing yet"));
}

TEST_F(Story, ShowsWhatUsersDoWithExperimentsThatHaveEnded) {
  EXPECT_THAT(tell(ExperimentArchived{ExperimentId(1)}),
              EndsWith("the experiment is archived: lists leave it out"));
  EXPECT_THAT(tell(ExperimentUnarchived{ExperimentId(1)}),
              EndsWith("the experiment is shown in lists again"));
  EXPECT_THAT(tell(ExperimentDeleted{ExperimentId(1)}), EndsWith("the experiment is deleted"));
}

TEST_F(Story, ShowsThatATrialIsTriedOnceMore) {
  EXPECT_THAT(tell(TrialRetried{ExperimentId(1), TrialNumber(3)}), EndsWith("trial 3 is tried once more"));
}

TEST_F(Story, CountsPausesAsIdleFromTheLastAttemptToTheNextLease) {
  lease(0, 1, 10);
  pause(20);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 0);
  exits(0, ExitReport::Cause::ended_by_agent, 25);
  resume(100);
  lease(0, 2, 101);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 76);
}

TEST_F(Story, CountsNoIdleTimeWhileTrialsJustChange) {
  lease(0, 1, 10);
  lose(0, 20);
  lease(0, 2, 50);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 0);
  EXPECT_FALSE(story_.ended());
}

TEST_F(Story, CountsIdleTimeFromTheLastOfSeveralAttempts) {
  lease(0, 1, 10);
  lease(1, 1, 10);
  pause(20);
  exits(0, ExitReport::Cause::exited, 25);
  exits(1, ExitReport::Cause::exited, 40);
  resume(100);
  lease(2, 1, 101);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 61);
}

TEST_F(Story, CountsNoIdleTimeWhileAnAttemptThatCameBackRuns) {
  lease(0, 1, 10);
  lease(1, 1, 10);
  lose(0, 20);
  tell(AttemptAdopted{key(0), WorkerId(1), {}}, 30);
  pause(40);
  lose(1, 50);
  resume(60);
  lease(1, 2, 61);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 0) << "trial 0 was running";
}

TEST_F(Story, AnAttemptOnSeveralWorkersRunsUntilItsLastMemberIsGone) {
  LeaseGranted granted{ExperimentId(1), TrialNumber(0), AttemptNumber(1), WorkerId(1), {}};
  granted.others.push_back({WorkerId(2), {}});
  tell(granted, 10);
  pause(20);
  exits(0, ExitReport::Cause::exited, 25);
  tell(GangEnded{key(0)}, 40);
  resume(60);
  lease(0, 2, 61);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 21);
}

}  // namespace
}  // namespace hpsearch::sentences
