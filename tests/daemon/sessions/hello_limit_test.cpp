#include "daemon/sessions/hello_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Instant;

constexpr Duration millisecond = Duration::millis(1);

/// Greets as many workers as allowed until the time is over, each in `takes`; other messages take a
/// millisecond, and one is always waiting. Returns how many were greeted, and the longest time that such a
/// message waited.
std::pair<int, Duration> serve_crowd(HelloLimit& limit, Duration takes, Duration time) {
  Instant now = Instant::from_micros(1'000'000'000);
  const Instant end = now + time;
  int greeted = 0;
  Duration longest;
  while (now < end) {
    const Instant waits_since = now;
    while (!limit.retry_after_ms(now)) {
      now = now + takes;
      limit.greeted(now);
      ++greeted;
    }
    longest = std::max(longest, now - waits_since);
    now = now + millisecond;
  }
  return {greeted, longest};
}

TEST(HelloLimit, SomeAreGreetedAtOnce) {
  HelloLimit limit(500);
  const Instant now = Instant::from_micros(1'000'000'000);
  for (int i = 0; i < 64; ++i) {
    EXPECT_FALSE(limit.retry_after_ms(now)) << i;
    limit.greeted(now);
  }
  EXPECT_EQ(limit.retry_after_ms(now), 2'000U);
  EXPECT_FALSE(limit.retry_after_ms(now + Duration::millis(2)));
}

TEST(HelloLimit, QuickGreetingsAreLimitedPerSecond) {
  HelloLimit limit(500);
  const auto [greeted, longest] = serve_crowd(limit, Duration::micros(1), Duration::seconds(10));
  EXPECT_NEAR(greeted, 5'000, 100);
}

// 10,000 joined beside 200 searches, 1.2 ms each: 500 of them took more than a second per second, so the
// limit had no effect, and a report waited for 12 s.
TEST(HelloLimit, SlowGreetingsLeaveTimeForOtherMessages) {
  for (const Duration takes : {Duration::micros(1'200), Duration::millis(5), Duration::millis(14)}) {
    HelloLimit limit(500);
    const auto [greeted, longest] = serve_crowd(limit, takes, Duration::seconds(60));
    EXPECT_LT(longest, Duration::seconds(1)) << takes.in_micros();
    EXPECT_GT(greeted, 100) << takes.in_micros();
    EXPECT_LT(greeted * takes.in_micros(), 56'000'000) << takes.in_micros();
  }
}

TEST(HelloLimit, ManyWorkersAreSpreadOverTime) {
  HelloLimit limit(500);
  const Instant now = Instant::from_micros(1'000'000'000);
  std::optional<std::uint64_t> last;
  for (int i = 0; i < 10'000; ++i) {
    last = limit.retry_after_ms(now);
  }
  EXPECT_EQ(last, 30'000U);
}

}  // namespace
}  // namespace hpsearch::daemon
