#include "cli/run/full_disk_wait.hpp"

#include <gtest/gtest.h>

// One Ctrl-C on a full disk ends the command.

namespace hpsearch::cli {
namespace {

using std::chrono::seconds;

constexpr FullDiskWait::Clock::time_point at_first{};

TEST(FullDiskWait, EndsAfterTheInterruptOnly) {
  FullDiskWait wait;
  wait.note(true, at_first);
  EXPECT_FALSE(wait.is_over(at_first + seconds(1000)));
  wait.note_interrupt(at_first + seconds(1000));
  EXPECT_FALSE(wait.is_over(at_first + seconds(1004)));
  wait.note(true, at_first + seconds(1004));
  wait.note_interrupt(at_first + seconds(1004));
  EXPECT_TRUE(wait.is_over(at_first + seconds(1005)));
}

TEST(FullDiskWait, BeginsAnewOnceThereWasRoom) {
  FullDiskWait wait;
  wait.note_interrupt(at_first);
  EXPECT_FALSE(wait.is_over(at_first + seconds(1000)));
  wait.note(true, at_first + seconds(10));
  wait.note(false, at_first + seconds(14));
  wait.note(true, at_first + seconds(16));
  EXPECT_FALSE(wait.is_over(at_first + seconds(20)));
  EXPECT_TRUE(wait.is_over(at_first + seconds(21)));
}

}  // namespace
}  // namespace hpsearch::cli
