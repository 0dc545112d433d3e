#include "cli/results/training_times.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace hpsearch::cli {
namespace {

using engine::Value;

Value lease(int trial, double at) {
  return Value::Map{{"type", "lease_granted"}, {"trial", trial}, {"at", at}};
}
Value report(int trial, int step, double at) {
  return Value::Map{{"type", "report_taken"},
                    {"trial", trial},
                    {"at", at},
                    {"report", Value::Map{{"type", "metrics"}, {"step", step}}}};
}

TrainingTimes times_of(const Value::List& events) {
  TrainingTimes times;
  for (const Value& event : events) {
    times.on_event(event);
  }
  return times;
}

TEST(TrainingTimes, RunFromTheLeaseWithoutTimeBetweenAttempts) {
  const TrainingTimes times = times_of({lease(0, 100), lease(1, 101), report(0, 1, 110), report(1, 1, 105),
                                        lease(0, 500), report(0, 3, 530), report(0, 4, 540)});
  EXPECT_EQ(times.until(0, 1), 10.0);
  EXPECT_EQ(times.until(0, 3), 40.0) << "it waited from 110 to 500";
  EXPECT_EQ(times.until(0, 4), 50.0);
  EXPECT_EQ(times.until(1, 1), 4.0);
  EXPECT_FALSE(times.until(0, 2));
  EXPECT_FALSE(times.until(2, 1));
}

TEST(TrainingTimes, IncludeRepeatedTraining) {
  const TrainingTimes times = times_of(
      {lease(0, 0), report(0, 1, 10), report(0, 2, 20), lease(0, 60), report(0, 2, 75), report(0, 3, 85)});
  EXPECT_EQ(times.until(0, 1), 10.0);
  EXPECT_EQ(times.until(0, 2), 35.0);
  EXPECT_EQ(times.until(0, 3), 45.0);
}

TEST(TrainingTimes, AreNullForAnAttemptWithoutReports) {
  EXPECT_EQ(times_of({lease(0, 0), lease(0, 60), report(0, 1, 65)}).until(0, 1), 5.0);
}

}  // namespace
}  // namespace hpsearch::cli
