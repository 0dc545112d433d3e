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

TEST(SlotTime, OfAllHoursIsTheWhole) {
  SlotTime time;
  std::int64_t now = 12'345;
  for (int step = 1; step <= 200; ++step) {
    time.change(step % 3 == 0 ? -2 : 1, at(now));
    now += step * 37;
    if (step % 50 == 0) {
      time.add(Duration::seconds(11));
      time.skip(Duration::seconds(5));
    }
  }
  EXPECT_EQ(time.between(at(0), at(now)), time.until(at(now)));
}

TEST(SlotTime, AMadClockFillsNoMemory) {
  SlotTime time;
  time.change(1, at(0));
  time.change(-1, at(1'000'000'000'000));
  EXPECT_EQ(time.between(at(0), at(1'000'000'000'000)), time.until(at(1'000'000'000'000)));
}

}  // namespace
}  // namespace hpsearch::engine
