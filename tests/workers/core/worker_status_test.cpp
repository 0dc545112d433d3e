#include "hpsearch/workers/core/worker_status.hpp"

#include <gtest/gtest.h>

#include "workers/core/fixtures/stage.hpp"

namespace hpsearch::workers::test {
namespace {

TEST(WorkerStatus, FollowsAnAttemptFromItsLeaseToItsAcknowledgement) {
  Stage stage;
  EXPECT_FALSE(stage.machine().status().connected);
  stage.welcome();
  EXPECT_TRUE(stage.machine().status().connected);
  EXPECT_EQ(stage.machine().status().busy, 0U);
  const AttemptKey key = key_of(1, 10);
  stage.run(key, 0);
  WorkerStatus status = stage.machine().status();
  EXPECT_EQ(status.slots, 2U);
  EXPECT_EQ(status.busy, 1U);
  EXPECT_EQ(status.running, 1U);
  EXPECT_EQ(status.attempts, std::vector{key});
  stage.step(ProgramEnded{key, false, 1, ""});
  status = stage.machine().status();
  EXPECT_EQ(status.busy, 0U);
  EXPECT_EQ(status.running, 0U);
  EXPECT_EQ(status.ended, 1U);
  EXPECT_EQ(status.unacknowledged, 1U) << "its exit";
  stage.say(proto::Ack{key, 1});
  status = stage.machine().status();
  EXPECT_EQ(status.ended, 0U);
  EXPECT_EQ(status.unacknowledged, 0U);
}

TEST(WorkerStatus, SlotOfABrokenDeviceIsOutOfUseOnceItsProgramHasEnded) {
  Stage stage;
  stage.welcome();
  const AttemptKey key = key_of(1, 10);
  stage.run(key, 0);
  stage.step(DevicesJudged{{UnusableSlot{SlotIndex{0}, "has memory errors", true}}});
  EXPECT_EQ(stage.machine().status().busy, 1U);
  EXPECT_EQ(stage.machine().status().out_of_use, 0U);
  stage.step(ProgramEnded{key, true, 15, ""});
  EXPECT_EQ(stage.machine().status().busy, 0U);
  EXPECT_EQ(stage.machine().status().out_of_use, 1U);
}

}  // namespace
}  // namespace hpsearch::workers::test
