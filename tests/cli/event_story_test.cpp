#include "cli/event_story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hpsearch::cli {
namespace {

using engine::Value;
using testing::EndsWith;
using testing::HasSubstr;

class Story : public testing::Test {
 protected:
  std::string tell(const std::string& type, Value::Map fields, double at = 100) {
    fields["type"] = type;
    fields["at"] = at;
    fields["lsn"] = ++lsn_;
    return story_.tell(fields).text;
  }
  int lsn_ = 0;
  EventStory story_{"epochs", "val_acc"};
};

TEST_F(Story, TellsWhatATrialReachedTogetherWithWhatFollows) {
  EXPECT_EQ(tell("length_reached", {{"trial", 3}, {"length", 4}, {"step", 4}, {"metric", 0.91}}), "");
  EXPECT_THAT(tell("trial_paused", {{"trial", 3}, {"reason", Value::Map{{"text", "rank 5 of 9"}}}}),
              EndsWith("trial 3 paused at 4 epochs with val_acc 0.91: rank 5 of 9"));
  EXPECT_THAT(tell("trial_promoted",
                   {{"trial", 3}, {"length", 16}, {"reason", Value::Map{{"text", "promoted; rank 1 of 9"}}}}),
              EndsWith("trial 3 promoted to 16 epochs: rank 1 of 9"));
}

TEST_F(Story, TellsThatATrialWaitsToGoOn) {
  EXPECT_THAT(tell("trial_queued", {{"trial", 3}}), EndsWith("trial 3 waits for a slot to go on"));
}

TEST_F(Story, TellsWhyATrialWasCreated) {
  const auto created = [this](Value::Map reason) {
    return tell(
        "trial_created",
        {{"trial", 3}, {"length", 4}, {"hparams", Value::Map{{"lr", 0.5}}}, {"reason", std::move(reason)}});
  };
  EXPECT_THAT(created({{"why", "new_trial"}, {"rung", 0}, {"text", "new trial; rung 0"}}),
              EndsWith("trial 3 created, to train to 4 epochs: lr=0.5"));
  EXPECT_THAT(
      created({{"why", "replacement"}, {"rung", 0}}),
      EndsWith(
          "trial 3 created, in place of a trial with invalid hyperparameters, to train to 4 epochs: lr=0.5"));
  EXPECT_THAT(created({{"why", "given_point"}, {"bracket", 1}, {"rung", 0}}),
              EndsWith("trial 3 created in bracket 1, a given configuration, to train to 4 epochs: lr=0.5"));
  EXPECT_THAT(created({{"why", "new_trial"}, {"bracket", 0}}),
              EndsWith("trial 3 created in bracket 0, to train to 4 epochs: lr=0.5"));
}

TEST_F(Story, TellsAMetricThatIsNoNumber) {
  tell("length_reached", {{"trial", 0}, {"length", 1}, {"step", 1}});
  EXPECT_THAT(tell("trial_ended", {{"trial", 0}, {"state", "STOPPED"}}),
              EndsWith("trial 0 stopped at 1 epoch with val_acc missing"));
}

TEST_F(Story, TellsExitsOnlyWhenTheyAreTrouble) {
  const auto exited = [this](const char* cause, int code, const char* message) {
    return tell(
        "report_taken",
        {{"trial", 2},
         {"attempt", 1},
         {"lease", 9},
         {"report", Value::Map{{"type", "exit"}, {"cause", cause}, {"code", code}, {"message", message}}}});
  };
  EXPECT_EQ(exited("exited", 0, ""), "");
  EXPECT_EQ(exited("ended_by_agent", 15, ""), "");
  EXPECT_THAT(exited("exited", 3, ""), EndsWith("trial 2, attempt 1: its program ended with exit status 3"));
  EXPECT_THAT(exited("signaled", 11, ""), EndsWith("ended by signal 11"));
  EXPECT_THAT(exited("could_not_start", 0, "no program x"), EndsWith("trial 2, attempt 1: no program x"));
}

TEST_F(Story, MakesNoTerminalObeyAProgram) {
  EXPECT_THAT(tell("experiment_ended", {{"state", "FAILED"}, {"reason", "\x1b[2Jgone"}}),
              HasSubstr("?[2Jgone"));
}

TEST_F(Story, CountsPausesAsIdleFromTheLastAttemptToTheNextLease) {
  tell("lease_granted", {{"trial", 0}, {"attempt", 1}}, 10);
  tell("experiment_paused", {}, 20);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 0);
  tell("report_taken",
       {{"trial", 0}, {"attempt", 1}, {"report", Value::Map{{"type", "exit"}, {"cause", "ended_by_agent"}}}},
       25);
  tell("experiment_resumed", {}, 100);
  tell("lease_granted", {{"trial", 0}}, 101);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 76);
}

TEST_F(Story, CountsNoIdleTimeWhileTrialsJustChange) {
  tell("lease_granted", {{"trial", 0}, {"attempt", 1}}, 10);
  tell("attempt_lost", {{"trial", 0}, {"attempt", 1}}, 20);
  tell("lease_granted", {{"trial", 0}, {"attempt", 2}}, 50);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 0);
  EXPECT_FALSE(story_.ended());
}

TEST_F(Story, CountsNoIdleTimeBehindAStoreThatWasRestored) {
  const auto exited = [this](int trial, double at) {
    tell("report_taken",
         {{"trial", trial},
          {"attempt", 1},
          {"lease", 2.5e14},
          {"report", Value::Map{{"type", "exit"}, {"cause", "exited"}}}},
         at);
  };
  tell("lease_granted", {{"trial", 0}, {"attempt", 1}}, 10);  // Their leases are not their places in the log.
  tell("lease_granted", {{"trial", 1}, {"attempt", 1}}, 10);
  tell("experiment_paused", {}, 20);
  exited(0, 25);
  exited(1, 40);
  tell("experiment_resumed", {}, 100);
  tell("lease_granted", {{"trial", 2}, {"attempt", 1}}, 101);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 61);
}

TEST_F(Story, CountsNoIdleTimeWhileAnAttemptThatCameBackRuns) {
  tell("lease_granted", {{"trial", 0}, {"attempt", 1}}, 10);
  tell("lease_granted", {{"trial", 1}, {"attempt", 1}}, 10);
  tell("attempt_lost", {{"trial", 0}, {"attempt", 1}}, 20);
  tell("attempt_adopted", {{"trial", 0}, {"attempt", 1}}, 30);
  tell("experiment_paused", {}, 40);
  tell("attempt_lost", {{"trial", 1}, {"attempt", 1}}, 50);
  tell("experiment_resumed", {}, 60);
  tell("lease_granted", {{"trial", 1}, {"attempt", 2}}, 61);
  EXPECT_DOUBLE_EQ(story_.idle_seconds(), 0) << "trial 0 was running";
}

}  // namespace
}  // namespace hpsearch::cli
