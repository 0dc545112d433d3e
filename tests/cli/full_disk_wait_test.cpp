#include "cli/full_disk_wait.hpp"

#include <gtest/gtest.h>

// Issue 43, 3.2: one Ctrl-C on a full disk ends the command.

namespace hpsearch::cli {
namespace {

using std::chrono::seconds;

constexpr FullDiskWait::Clock::time_point start{};

TEST(FullDiskWait, EndsAfterTheInterruptOnly) {
  FullDiskWait wait;
  wait.note(true, start);
  EXPECT_FALSE(wait.is_over(start + seconds(1000)));
  wait.note_interrupt(start + seconds(1000));
  EXPECT_FALSE(wait.is_over(start + seconds(1004)));
  wait.note(true, start + seconds(1004));
  wait.note_interrupt(start + seconds(1004));
  EXPECT_TRUE(wait.is_over(start + seconds(1005)));
}

TEST(FullDiskWait, BeginsAnewOnceThereWasRoom) {
  FullDiskWait wait;
  wait.note_interrupt(start);
  EXPECT_FALSE(wait.is_over(start + seconds(1000)));
  wait.note(true, start + seconds(10));
  wait.note(false, start + seconds(14));
  wait.note(true, start + seconds(16));
  EXPECT_FALSE(wait.is_over(start + seconds(20)));
  EXPECT_TRUE(wait.is_over(start + seconds(21)));
}

}  // namespace
}  // namespace hpsearch::cli
