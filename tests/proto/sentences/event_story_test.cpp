#include "hpsearch/proto/sentences/event_story.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "messages.hpp"

namespace hpsearch::sentences {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace)
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

TEST_F(Story, ShowsTheReachedLengthWithTheNextEvent) {
  EXPECT_EQ(tell(LengthReached{ExperimentId(1), TrialNumber(3), Units{4}, Units{4}, 0.91}), "");
  EXPECT_MESSAGE(tell(TrialPaused{ExperimentId(1), TrialNumber(3), ranked(Why::waits_at_rung, 4)}));
  EXPECT_MESSAGE(
      tell(TrialPromoted{ExperimentId(1), TrialNumber(3), Units{16}, false, ranked(Why::promoted, 0)}));
}

TEST_F(Story, ShowsTheUserOfARequest) {
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

TEST_F(Story, ShowsWhatUsersWrite) {
  EXPECT_EQ(tell(Annotated{.experiment = ExperimentId(1),
                           .note = "odd",
                           .labels = {"a", "b"},
                           .starred = true,
                           .actor = "ann"}),
            "the experiment was annotated by ann; starred; labels a, b; note: odd");
  EXPECT_EQ(tell(Annotated{.experiment = ExperimentId(1), .trial = TrialNumber(3)}), "trial 3 was annotated");
}

TEST_F(Story, ShowsThatATrialWaitsForPromotion) {
  EXPECT_MESSAGE(tell(TrialQueued{ExperimentId(1), TrialNumber(3)}));
  EXPECT_EQ(tell(TrialQueued{ExperimentId(1), TrialNumber(3), /*judged=*/true}), "")
      << "the verdict that follows has a line of its own";
}

TEST_F(Story, ShowsWhyATrialWasCreated) {
  const auto created = [this](Reason reason) {
    return tell(TrialCreated{ExperimentId(1), TrialNumber(3), TrialId(4), Value::Map{{"lr", 0.5}}, Units{4},
                             std::move(reason)});
  };
  Reason reason;
  reason.rung = 0;
  EXPECT_MESSAGE(created(reason));
  reason.why = Why::replacement;
  EXPECT_MESSAGE(created(reason));
  reason.why = Why::given_point;
  reason.bracket = 1;
  EXPECT_MESSAGE(created(reason));
  reason.why = Why::new_trial;
  EXPECT_MESSAGE(created(reason));
  reason.rung = 2;
  EXPECT_MESSAGE(created(reason));
  reason = Reason();
  reason.why = Why::near_trial;
  reason.near = 1;
  reason.near_rank = 0;
  reason.results = 2;
  reason.spread = 0.25;
  EXPECT_MESSAGE(created(reason));
}

TEST_F(Story, ShowsAMissingMetric) {
  tell(LengthReached{ExperimentId(1), TrialNumber(0), Units{1}, Units{1}, std::nullopt});
  EXPECT_MESSAGE(
      tell(TrialEnded{ExperimentId(1), TrialNumber(0), TrialState::stopped, ranked(Why::below_cutoff, 8)}));
}

TEST_F(Story, ShowsExitsOnlyIfTheyAreTrouble) {
  const auto exited = [this](ExitReport::Cause cause, int code, const char* message) {
    return tell(ReportTaken{key(2), 1, ExitReport{cause, code, message, ""}});
  };
  using Cause = ExitReport::Cause;
  EXPECT_EQ(exited(Cause::exited, 0, ""), "");
  EXPECT_EQ(exited(Cause::ended_by_agent, 15, ""), "");
  EXPECT_MESSAGE(exited(Cause::exited, 3, ""));
  EXPECT_MESSAGE(exited(Cause::signaled, 11, ""));
  EXPECT_MESSAGE(exited(Cause::could_not_start, 0, "no program x"));
}

TEST_F(Story, ShowsEndsOfAttempts) {
  EXPECT_MESSAGE(tell(AttemptStarted{key(2)}));
  EXPECT_MESSAGE(tell(AttemptStarted{key(2, 3)}));
  EXPECT_MESSAGE(tell(AttemptLost{key(2), "its worker is silent"}));
  EXPECT_MESSAGE(tell(AttemptAdopted{key(2), WorkerId(4), {}}));
  EXPECT_MESSAGE(tell(AttemptDisowned{WorkerId(4), key(2)}));
  StartDelayed delayed{ExperimentId(1), TrialNumber(2), 2, Duration::micros(8'000'000)};
  delayed.why = "no such image";
  EXPECT_MESSAGE(tell(delayed));
  delayed.times = 1;
  EXPECT_MESSAGE(tell(delayed));
  delayed.wait = Duration::micros(999'999);
  EXPECT_EQ(tell(delayed), "");
  EXPECT_MESSAGE(tell(ReportTaken{key(2), 1, InvalidHparamsReport{"lr is too large"}}));
  EXPECT_MESSAGE(tell(CheckpointsCollected{ExperimentId(1), TrialNumber(2), {"/a", "/b"}}));
}

TEST_F(Story, ShowsMembersOfAnAttemptOnSeveralWorkers) {
  EXPECT_EQ(tell(AttemptStarted{key(2), WorkerId(5)}), "") << "rank 0 stands for all";
  ExitReport exit;
  exit.cause = ExitReport::Cause::exited;
  EXPECT_EQ(tell(MemberExited{key(2), WorkerId(5), exit}), "");
  exit.code = 1;
  EXPECT_MESSAGE(tell(MemberExited{key(2), WorkerId(5), exit}));
  EXPECT_MESSAGE(tell(MemberLost{key(2), WorkerId(5), "gone"}));
}

TEST_F(Story, ShowsWorkersAndTheirSlots) {
  WorkerJoined joined{WorkerId(5), "u", "node5", 1, 2, "gpu"};
  EXPECT_MESSAGE(tell(joined));
  EXPECT_MESSAGE(tell(WorkerLost{WorkerId(5), "it was stopped"}));
  EXPECT_MESSAGE(tell(WorkerQuarantined{WorkerId(5), "3 trials failed"}));
  EXPECT_MESSAGE(tell(WorkerQuarantined{WorkerId(5), "3 trials failed", "", Duration::seconds(600)}));
  EXPECT_MESSAGE(tell(WorkerReleased{WorkerId(5)}));
  EXPECT_MESSAGE(tell(WorkerReleased{WorkerId(5), "", true}));
  EXPECT_MESSAGE(tell(WorkerForgotten{WorkerId(5), "lost for 7 days", "ann"}));
  EXPECT_MESSAGE(tell(WorkerDraining{WorkerId(5)}));
  EXPECT_MESSAGE(tell(WorkerEndNoted{WorkerId(5), Duration::seconds(1'980), Duration::seconds(1'800)}));
  EXPECT_MESSAGE(tell(WorkerEndNoted{WorkerId(5)}));
  EXPECT_MESSAGE(tell(SlotsQuarantined{WorkerId(5), key(2), {SlotIndex(0), SlotIndex(3)}}));
  EXPECT_MESSAGE(tell(SlotsReleased{WorkerId(5), key(2), true}));
  EXPECT_MESSAGE(tell(SlotsReleased{WorkerId(5), key(2), false}));
  EXPECT_MESSAGE(tell(SlotWithdrawn{WorkerId(5), SlotIndex(3), "ECC error"}));
  EXPECT_MESSAGE(tell(SlotRestored{WorkerId(5), SlotIndex(3), true}));
  EXPECT_MESSAGE(tell(SlotRestored{WorkerId(5), SlotIndex(3), false}));
}

TEST_F(Story, ShowsQueuesAndTheirAllocations) {
  QueueSettings settings;
  settings.max_workers = 16;
  EXPECT_MESSAGE(tell(QueueAdded{"gpu", settings, "ann"}));
  EXPECT_MESSAGE(tell(QueueChanged{"gpu", settings, "ann"}));
  EXPECT_MESSAGE(tell(QueuePaused{"gpu", "", "ann"}));
  EXPECT_MESSAGE(tell(QueuePaused{"gpu", "invalid partition specified: gpux"}));
  EXPECT_MESSAGE(tell(QueueResumed{"gpu", "ann"}));
  EXPECT_MESSAGE(tell(QueueRemoved{"gpu", false, "ann"}));
  EXPECT_MESSAGE(tell(QueueRemoved{"gpu", true, "ann"}));
  EXPECT_MESSAGE(tell(AllocationWanted{{"gpu", 17}, 2, "0123"}));
  EXPECT_MESSAGE(tell(AllocationSubmitted{{"gpu", 17}, "4711"}));
  EXPECT_MESSAGE(tell(AllocationStarted{{"gpu", 17}}));
  EXPECT_MESSAGE(tell(AllocationCanceled{{"gpu", 17}, "no trial needs it any more"}));
  EXPECT_MESSAGE(tell(AllocationEnded{{"gpu", 17}, AllocationEnd::idle, "Slurm: COMPLETED"}));
}

TEST_F(Story, ShowsStatesOfTheExperiment) {
  EXPECT_MESSAGE(pause(100));
  EXPECT_MESSAGE(tell(ExperimentPaused{ExperimentId(1), "no data"}, 100));
  EXPECT_MESSAGE(resume(100));
  EXPECT_MESSAGE(tell(ExperimentStopping{ExperimentId(1), ExperimentState::completed, false, "max_time"}));
  EXPECT_MESSAGE(tell(ExperimentEnded{ExperimentId(1), ExperimentState::completed, "max_time"}));
}

TEST_F(Story, ShowsTheProgramOfAContinuedExperiment) {
  tell(ExperimentEnded{ExperimentId(1), ExperimentState::completed, ""});
  EXPECT_TRUE(story_.ended());
  EXPECT_MESSAGE(tell(ExperimentReopened{ExperimentId(1)}));
  EXPECT_FALSE(story_.ended());
  ProgramChanged changed{ExperimentId(1), TrialNumber(7)};
  changed.changed = {"train.py", "model.py"};
  EXPECT_MESSAGE(tell(changed));
  changed.context_digest = "two";
  EXPECT_MESSAGE(tell(changed));
  changed.also = {TrialNumber(4), TrialNumber(5)};
  EXPECT_MESSAGE(tell(changed));
}

TEST_F(Story, ShowsActionsOnEndedExperiments) {
  EXPECT_MESSAGE(tell(ExperimentArchived{ExperimentId(1)}));
  EXPECT_MESSAGE(tell(ExperimentUnarchived{ExperimentId(1)}));
  EXPECT_MESSAGE(tell(ExperimentDeleted{ExperimentId(1)}));
  EXPECT_MESSAGE(
      tell(ExperimentDeleted{.experiment = ExperimentId(1), .kept_for = Duration::seconds(365 * 86'400)}));
}

TEST_F(Story, ShowsDataThatWereRemoved) {
  EXPECT_MESSAGE(tell(LogsRemoved{ExperimentId(1), TrialNumber(3)}));
  EXPECT_MESSAGE(tell(CurveThinned{ExperimentId(1), TrialNumber(3), 200, {1, 2, 5}}));
  EXPECT_MESSAGE(tell(CurveThinned{ExperimentId(1), TrialNumber(3), 1, {1, 2, 5}}));
}

TEST_F(Story, ShowsARetryOfATrial) {
  EXPECT_MESSAGE(tell(TrialRetried{ExperimentId(1), TrialNumber(3)}));
}

TEST_F(Story, CountsPausesAsIdleUntilTheNextLease) {
  lease(0, 1, 10);
  pause(20);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 0);
  exits(0, ExitReport::Cause::ended_by_agent, 25);
  resume(100);
  lease(0, 2, 101);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 76);
}

TEST_F(Story, CountsNoIdleTimeBetweenTrials) {
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

TEST_F(Story, CountsNoIdleTimeWhileAReattachedAttemptRuns) {
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

TEST_F(Story, AttemptOnSeveralWorkersEndsWithItsLastMember) {
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
