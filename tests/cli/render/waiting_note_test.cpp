#include "cli/render/waiting_note.hpp"

#include <gtest/gtest.h>

namespace hpsearch::cli {
namespace {

using std::chrono::seconds;

TEST(WaitingNote, IsPrintedOnceAReasonLasts) {
  WaitingNote note;
  const WaitingNote::Clock::time_point begin{};
  EXPECT_FALSE(note.heard("no worker is connected", begin)) << "it may be starting";
  EXPECT_EQ(note.heard("no worker is connected", begin + seconds(3)),
            "no trial runs: no worker is connected");
  EXPECT_FALSE(note.heard("no worker is connected", begin + seconds(4)));
}

TEST(WaitingNote, IgnoresChangedNumbers) {
  WaitingNote note;
  const WaitingNote::Clock::time_point begin{};
  EXPECT_FALSE(note.heard("try 3 starts in 20 s", begin));
  EXPECT_TRUE(note.heard("try 3 starts in 17 s", begin + seconds(3)));
  EXPECT_FALSE(note.heard("try 3 starts in 16 s", begin + seconds(4)));
  EXPECT_TRUE(note.heard("another reason", begin + seconds(5)));
}

TEST(WaitingNote, BeginsAnewAfterATrialRan) {
  WaitingNote note;
  const WaitingNote::Clock::time_point begin{};
  EXPECT_FALSE(note.heard("no worker is connected", begin));
  EXPECT_FALSE(note.heard("", begin + seconds(1)));
  EXPECT_FALSE(note.heard("no worker is connected", begin + seconds(3)));
  EXPECT_TRUE(note.heard("no worker is connected", begin + seconds(6)));
}

}  // namespace
}  // namespace hpsearch::cli
