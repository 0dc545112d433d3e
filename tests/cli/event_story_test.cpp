#include "cli/event_story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace hpsearch::cli {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace)
using testing::EndsWith;
using testing::HasSubstr;
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

TEST_F(Story, ShowsThatATrialWaitsToGoOn) {
  EXPECT_THAT(tell(TrialQueued{ExperimentId(1), TrialNumber(3)}),
              EndsWith("trial 3 waits for a slot to go on"));
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
  EXPECT_THAT(
      created(reason),
      EndsWith(
          "trial 3 created, in place of a trial with invalid hyperparameters, to train to 4 epochs: lr=0.5"));
  reason.why = Why::given_point;
  reason.bracket = 1;
  EXPECT_THAT(created(reason),
              EndsWith("trial 3 created in bracket 1, a given configuration, to train to 4 epochs: lr=0.5"));
  reason.why = Why::new_trial;
  EXPECT_THAT(created(reason), EndsWith("trial 3 created in bracket 1, to train to 4 epochs: lr=0.5"));
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

TEST_F(Story, MakesNoTerminalObeyAProgram) {
  EXPECT_THAT(tell(ExperimentEnded{ExperimentId(1), ExperimentState::failed, "\x1b[2Jgone"}),
              HasSubstr("?[2Jgone"));
}

TEST_F(Story, ReadsEventsAsTheDaemonSendsThem) {
  const auto line = [this](const char* type) {
    return story_.tell(Value(Value::Map{{"type", type}, {"lsn", 3}, {"at", 100.0}, {"experiment", 1}}));
  };
  EXPECT_THAT(line("experiment_paused").text, EndsWith("the experiment is paused"));
  EXPECT_TRUE(line("experiment_painted").trouble);
  EXPECT_THAT(line("experiment_painted").text, HasSubstr("\"experiment_painted\""));
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
}  // namespace hpsearch::cli
