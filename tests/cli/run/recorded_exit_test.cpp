#include "cli/run/recorded_exit.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace hpsearch::cli {
namespace {

using engine::ExitReason;
using engine::Units;
using engine::Value;

Value event(const char* type, Value::Map fields = {}) {
  fields["type"] = type;
  return fields;
}
Value exited(int code) {
  return event("report_taken",
               {{"report", Value::Map{{"type", "exit"}, {"cause", "exited"}, {"code", code}}}});
}
Value early(const char* exit, const char* detail) {
  return event("trial_exited_early", {{"exit", exit}, {"detail", detail}});
}
Value paused(const char* why) {
  return event("trial_paused", {{"reason", Value::Map{{"why", why}}}});
}

TEST(RecordedExit, IsNullForATrialThatRanToItsEnd) {
  EXPECT_FALSE(
      recorded_exit({event("trial_created"), event("lease_granted"), event("trial_ended")}, Units{9}));
}

TEST(RecordedExit, KeepsTheProgramsMessage) {
  const auto failed =
      recorded_exit({event("lease_granted"), exited(3), early("errored", "exit status 3")}, Units{2});
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->at, Units{2});
  EXPECT_EQ(failed->reason, ExitReason::errored);
  EXPECT_EQ(failed->detail, "exit status 3");
  EXPECT_FALSE(failed->by_itself);
  const auto invalid =
      recorded_exit({early("invalid_hp", "invalid hyperparameters: lr is too large")}, Units{});
  EXPECT_EQ(invalid->detail, "lr is too large");
  EXPECT_EQ(recorded_exit({early("invalid_hp", "invalid hyperparameters")}, Units{})->detail, "");
}

TEST(RecordedExit, RecognizesProgramsThatEndedEarly) {
  const auto short_of_its_length = recorded_exit(
      {exited(0), event("trial_queued"), event("length_reached", {{"ended", true}}), event("trial_ended")},
      Units{5});
  ASSERT_TRUE(short_of_its_length);
  EXPECT_EQ(short_of_its_length->at, Units{5});
  EXPECT_TRUE(short_of_its_length->by_itself);
  EXPECT_TRUE(recorded_exit({exited(0), early("user_stopped", "its program exited")}, Units{2})->by_itself);
  EXPECT_TRUE(recorded_exit(
                  {exited(0), early("errored", "the program exited with code 0 but never reported")}, Units{})
                  ->by_itself);
  EXPECT_FALSE(recorded_exit({exited(0), event("trial_promoted"), early("user_stopped", "stopped by a user")},
                             Units{2})
                   ->by_itself);
}

TEST(RecordedExit, RecognizesTrialsThatWaitedAtARung) {
  const Value end = early("user_canceled", "canceled by a user");
  EXPECT_TRUE(recorded_exit({paused("waits_at_rung"), exited(0), end}, Units{1})->waiting_until);
  EXPECT_FALSE(recorded_exit({paused("waits_at_rung"), exited(0), end}, Units{1})->by_itself);
  EXPECT_FALSE(
      recorded_exit({paused("waits_at_rung"), event("trial_promoted"), end}, Units{1})->waiting_until);
  EXPECT_FALSE(recorded_exit({paused("user"), end}, Units{1})->waiting_until) << "its experiment was paused";
}

}  // namespace
}  // namespace hpsearch::cli
