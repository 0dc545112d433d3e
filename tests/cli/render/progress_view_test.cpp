#include "cli/render/progress_view.hpp"

#include <gtest/gtest.h>

namespace hpsearch::cli {
namespace {

TEST(BarText, FillsInProportion) {
  EXPECT_EQ(bar_text(0, 12), "[----------]");
  EXPECT_EQ(bar_text(0.55, 12), "[#####-----]");
  EXPECT_EQ(bar_text(1, 12), "[##########]");
  EXPECT_EQ(bar_text(7, 12), "[##########]");
  EXPECT_EQ(bar_text(0.5, 2), "");
}

TEST(SecondsLeft, ScalesTheTimeSoFar) {
  EXPECT_DOUBLE_EQ(seconds_left(0, 0.25, 30).value(), 90);
  EXPECT_DOUBLE_EQ(seconds_left(0.5, 0.75, 30).value(), 30);  // A resumed search began in the middle.
}

TEST(SecondsLeft, IsNullAfterTooShortATime) {
  EXPECT_FALSE(seconds_left(0, 0.005, 30));
  EXPECT_FALSE(seconds_left(0, 0.5, 1));
  EXPECT_FALSE(seconds_left(0, 1, 30));
}

}  // namespace
}  // namespace hpsearch::cli
