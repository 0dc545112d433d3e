#include "hpsearch/engine/base/clock_text.hpp"

#include <gtest/gtest.h>

namespace hpsearch::engine {
namespace {

TEST(ClockText, TimesOfOtherSchedulersAreRead) {
  EXPECT_EQ(duration_from_clock_text("1-02:03:04"), Duration::seconds(93'784));
  EXPECT_EQ(duration_from_clock_text("02:03:04"), Duration::seconds(7'384));
  EXPECT_EQ(duration_from_clock_text("3:04"), Duration::seconds(184));
  EXPECT_EQ(duration_from_clock_text("0:00"), Duration());
  for (const char* other : {"", "UNLIMITED", "INVALID", "NOT_SET", "1:2x"}) {
    EXPECT_FALSE(duration_from_clock_text(other)) << other;
  }
}

}  // namespace
}  // namespace hpsearch::engine
