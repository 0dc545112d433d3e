#include "cli/attempt_history.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace hpsearch::cli {
namespace {

using engine::Value;

Value granted(std::int64_t attempt, std::int64_t worker) {
  return Value::Map{{"type", "lease_granted"}, {"attempt", attempt}, {"worker", worker}, {"at", 10.0}};
}

Value exit_of(std::int64_t attempt, const std::string& cause, std::int64_t code) {
  return Value::Map{{"type", "report_taken"},
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
    const auto attempts = attempts_in({granted(1, 4), exit_of(1, one.cause, one.code)}, {point(1, "loss")}, "loss");
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(attempts[0].cause, one.shown);
    EXPECT_EQ(attempts[0].failed, one.failed) << one.shown;
    EXPECT_EQ(attempts[0].message, "why");
    EXPECT_EQ(attempts[0].worker, 4U);
    EXPECT_EQ(attempts[0].granted_at, 10.0);
    EXPECT_EQ(attempts[0].ended_at, 20.0);
  }
}

TEST(AttemptHistory, EndingWellWithoutTheMetricIsAFailure) {
  const Value::List history{granted(1, 1), exit_of(1, "exited", 0), granted(2, 1), exit_of(2, "exited", 0)};
  const auto attempts = attempts_in(history, {point(1, "accuracy"), point(2, "loss")}, "loss");
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].cause, "missing metric");
  EXPECT_TRUE(attempts[0].failed);
  EXPECT_EQ(attempts[1].cause, "exit code 0");
}

TEST(AttemptHistory, AnAttemptThatIsGivenBackIsNotLost) {
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
