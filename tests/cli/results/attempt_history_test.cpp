#include "cli/results/attempt_history.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hpsearch::cli {
namespace {

using engine::Value;

Value granted(std::int64_t attempt, std::int64_t worker) {
  return Value::Map{{"type", "lease_granted"}, {"attempt", attempt}, {"worker", worker}, {"at", 10.0}};
}

Value exit_of(std::int64_t attempt, const std::string& cause, std::int64_t code) {
  return Value::Map{
      {"type", "report_taken"},
      {"attempt", attempt},
      {"at", 20.0},
      {"report", Value::Map{{"type", "exit"}, {"cause", cause}, {"code", code}, {"message", "why"}}}};
}

Value point(std::int64_t attempt, const std::string& metric) {
  return Value::Map{{"attempt", attempt}, {"step", 1}, {"metrics", Value::Map{{metric, 0.5}}}};
}

TEST(AttemptHistory, NamesEveryCause) {
  struct Case {
    const char* cause;
    std::int64_t code;
    const char* shown;
    bool failed;
  };
  const Case cases[] = {
      {"exited", 0, "exit code 0", false},
      {"exited", 3, "exit code 3", true},
      {"exited", 75, "exit code 75", true},
      {"exited", 127, "exit code 127", true},
      {"signaled", 9, "signal 9 (SIGKILL)", true},
      {"signaled", 11, "signal 11 (SIGSEGV)", true},
      {"signaled", 250, "signal 250", true},
      {"out_of_memory", 9, "out-of-memory", true},
      {"ended_by_agent", 0, "preempted", false},
      {"could_not_start", 0, "could not start", true},
      {"lost", 0, "lost", true},
      {"something new", 0, "something new", true},
  };
  for (const Case& one : cases) {
    const auto attempts =
        attempts_in({granted(1, 4), exit_of(1, one.cause, one.code)}, {point(1, "loss")}, "loss");
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(attempts[0].cause, one.shown);
    EXPECT_EQ(attempts[0].failed, one.failed) << one.shown;
    EXPECT_EQ(attempts[0].message, "why");
    EXPECT_EQ(attempts[0].worker, 4U);
    EXPECT_EQ(attempts[0].granted_at, 10.0);
    EXPECT_EQ(attempts[0].ended_at, 20.0);
  }
}

TEST(AttemptHistory, ExitZeroWithoutTheMetricIsAFailure) {
  const Value::List history{granted(1, 1), exit_of(1, "exited", 0), granted(2, 1), exit_of(2, "exited", 0)};
  const auto attempts = attempts_in(history, {point(1, "accuracy"), point(2, "loss")}, "loss");
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].cause, "missing metric");
  EXPECT_TRUE(attempts[0].failed);
  EXPECT_EQ(attempts[1].cause, "exit code 0");
}

TEST(AttemptHistory, AttemptOfAnEndedTrialIsStoppedNotPreempted) {
  const Value ended = Value::Map{{"type", "trial_ended"}, {"at", 19.0}, {"state", "STOPPED"}};
  const auto attempts = attempts_in(
      {granted(1, 1), exit_of(1, "ended_by_agent", 0), granted(2, 1), ended, exit_of(2, "ended_by_agent", 0)},
      {}, "loss");
  EXPECT_EQ(attempts[0].cause, "preempted");
  EXPECT_EQ(attempts[1].cause, "stopped");
  const auto ended_at = [](double at) {
    return Value::Map{{"type", "trial_ended"}, {"at", at}, {"state", "CANCELED"}};
  };
  EXPECT_EQ(
      attempts_in({granted(1, 1), exit_of(1, "ended_by_agent", 0), ended_at(20.0)}, {}, "loss")[0].cause,
      "stopped");
  EXPECT_EQ(
      attempts_in({granted(1, 1), exit_of(1, "ended_by_agent", 0), ended_at(25.0)}, {}, "loss")[0].cause,
      "preempted");
}

TEST(AttemptHistory, NamesTheWorkersOfAllRanksAndWhereItEnded) {
  Value::Map grant = *granted(1, 4).as_map();
  grant["others"] = Value::List{Value::Map{{"worker", 7}}};
  const Value member = Value::Map{{"type", "member_exited"},
                                  {"attempt", 1},
                                  {"at", 20.0},
                                  {"worker", 7},
                                  {"exit", Value::Map{{"cause", "exited"}, {"code", 3}, {"message", "why"}}}};
  const auto attempts = attempts_in({grant, member, exit_of(1, "ended_by_agent", 0)}, {}, "loss");
  EXPECT_EQ(attempts[0].workers, (std::vector<std::uint64_t>{4, 7}));
  EXPECT_EQ(attempts[0].worker, 7U);
  EXPECT_EQ(attempts[0].cause, "exit code 3");
  const Value lost =
      Value::Map{{"type", "member_lost"}, {"attempt", 1}, {"at", 90.0}, {"worker", 7}, {"why", "silent"}};
  const auto explained = attempts_in({grant, exit_of(1, "exited", 1), lost}, {}, "loss");
  EXPECT_EQ(explained[0].cause, "lost") << "who lost it failed of that";
  EXPECT_EQ(explained[0].worker, 7U);
}

TEST(AttemptHistory, ReturnedAttemptIsNotLost) {
  const Value lost = Value::Map{{"type", "attempt_lost"}, {"attempt", 1}, {"at", 15.0}, {"why", "silent"}};
  const auto while_lost = attempts_in({granted(1, 3), lost}, {}, "loss");
  EXPECT_EQ(while_lost[0].cause, "lost");
  EXPECT_EQ(while_lost[0].message, "silent");
  EXPECT_TRUE(while_lost[0].failed);
  const Value adopted = Value::Map{{"type", "attempt_adopted"}, {"attempt", 1}, {"at", 16.0}, {"worker", 3}};
  const auto again = attempts_in({granted(1, 3), lost, adopted}, {}, "loss");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].cause, "");
  EXPECT_FALSE(again[0].failed);
  EXPECT_EQ(again[0].ended_at, 0);
  EXPECT_EQ(again[0].granted_at, 10.0);
}

}  // namespace
}  // namespace hpsearch::cli
