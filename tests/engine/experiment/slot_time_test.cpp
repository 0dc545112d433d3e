#include "hpsearch/engine/experiment/slot_time.hpp"

#include <gtest/gtest.h>

namespace hpsearch::engine {
namespace {

constexpr Instant at(std::int64_t seconds) {
  return Instant::from_micros(seconds * 1'000'000);
}
constexpr std::int64_t hour = 3'600;

TEST(SlotTime, IsCountedByTheHour) {
  SlotTime time;
  time.change(2, at(hour / 2));
  time.change(1, at(2 * hour));  // 3 slot hours so far.
  EXPECT_EQ(time.until(at(3 * hour)), Duration::seconds(6 * hour));
  EXPECT_EQ(time.between(at(0), at(3 * hour)), Duration::seconds(6 * hour));
  time.change(-3, at(4 * hour));
  EXPECT_EQ(time.until(at(9 * hour)), Duration::seconds(9 * hour));
  EXPECT_EQ(time.between(at(0), at(9 * hour)), Duration::seconds(9 * hour));
  EXPECT_EQ(time.between(at(hour), at(9 * hour)), Duration::seconds(8 * hour));
  EXPECT_EQ(time.between(at(2 * hour), at(9 * hour)), Duration::seconds(6 * hour));
  EXPECT_EQ(time.between(at(3 * hour + 5), at(9 * hour)), Duration::seconds(3 * hour))
      << "from the hour's start on";
  EXPECT_EQ(time.between(at(4 * hour), at(9 * hour)), Duration());
}

TEST(SlotTime, TheSumOfAllHoursIsTheWhole) {
  SlotTime time;
  std::int64_t now = 12'345;
  for (int step = 1; step <= 200; ++step) {
    time.change(step % 3 == 0 ? -2 : 1, at(now));
    now += step * 37;
    if (step % 50 == 0) {
      time.add(Duration::seconds(11), at(now));
      time.skip(Duration::seconds(5), at(now));
      now += 5;
    }
  }
  EXPECT_EQ(time.between(at(0), at(now)), time.until(at(now)));
}

TEST(SlotTime, FallsBelowAnAmountWhenItsOldestHoursLeaveTheWindow) {
  constexpr Duration window = Duration::seconds(10 * hour);
  SlotTime time;
  EXPECT_EQ(time.below(Duration::seconds(1), window, at(20 * hour)), at(20 * hour));
  EXPECT_EQ(time.below(Duration(), window, at(20 * hour)), std::nullopt) << "nothing is below nothing";
  time.change(1, at(20 * hour + 1'800));
  time.change(-1, at(22 * hour));  // Half an hour, and a whole one.
  const auto below = [&](std::int64_t seconds, std::int64_t now) {
    return time.below(Duration::seconds(seconds), window, at(now));
  };
  EXPECT_EQ(below(5'401, 23 * hour), at(23 * hour));
  EXPECT_EQ(below(5'400, 23 * hour), at(31 * hour));
  EXPECT_EQ(below(3'601, 23 * hour), at(31 * hour));
  EXPECT_EQ(below(3'600, 23 * hour), at(32 * hour));
  time.change(2, at(23 * hour));
  EXPECT_EQ(below(3'600, 25 * hour), at(35 * hour)) << "the 2 h of 24 o'clock leave last";
  for (const std::int64_t amount : {1, 1'800, 3'600, 9'000, 12'600}) {
    const Instant then = *below(amount, 25 * hour + 7);
    SlotTime ended = time;
    ended.change(-2, at(25 * hour + 7));
    const auto used = [&](Instant when) {
      return ended.between(Instant::from_micros(when.micros() - window.in_micros()), when);
    };
    EXPECT_LT(used(then), Duration::seconds(amount)) << amount;
    EXPECT_GE(used(Instant::from_micros(then.micros() - 1)), Duration::seconds(amount)) << amount;
  }
}

TEST(SlotTime, HoursAreThoseBeforeAndAfterASpanThatDoesNotCount) {
  SlotTime time;
  time.change(1, at(0));
  time.skip(Duration::seconds(5 * hour), at(2 * hour));
  EXPECT_EQ(time.until(at(8 * hour)), Duration::seconds(3 * hour));
  EXPECT_EQ(time.between(at(2 * hour), at(8 * hour)), Duration::seconds(hour));
}

TEST(SlotTime, AMadClockFillsNoMemory) {
  SlotTime time;
  time.change(1, at(0));
  time.change(-1, at(1'000'000'000'000));
  EXPECT_EQ(time.between(at(0), at(1'000'000'000'000)), time.until(at(1'000'000'000'000)));
}

}  // namespace
}  // namespace hpsearch::engine
