#include "hpsearch/workers/core/backoff.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace hpsearch::workers {
namespace {

using engine::Draw;
using engine::Duration;
using engine::TrialNumber;

Backoff backoff_of_seed(std::uint64_t seed) {
  return Backoff(Duration::millis(100), Duration::seconds(5), Draw(seed, TrialNumber{0}, "retry"));
}

TEST(Backoff, GrowsToItsLongestWaitWithinJitter) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Backoff backoff = backoff_of_seed(seed);
    for (const int full : {100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000}) {
      const Duration wait = backoff.next();
      EXPECT_GE(wait, Duration::micros(full * 500)) << "seed " << seed;
      EXPECT_LE(wait, Duration::micros(full * 1000)) << "seed " << seed;
    }
  }
}

TEST(Backoff, ResetStartsOver) {
  Backoff backoff = backoff_of_seed(7);
  for (int i = 0; i < 9; ++i) {
    static_cast<void>(backoff.next());
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), Duration::millis(100));
}

TEST(Backoff, TwoWorkersRetryAtDifferentTimes) {
  Backoff one = backoff_of_seed(1);
  Backoff other = backoff_of_seed(2);
  int same = 0;
  for (int i = 0; i < 20; ++i) {
    same += one.next() == other.next() ? 1 : 0;
  }
  EXPECT_LE(same, 1);
}

TEST(Backoff, AboutStaysWithinAFifth) {
  Backoff backoff = backoff_of_seed(3);
  for (int i = 0; i < 100; ++i) {
    const Duration beat = backoff.about(Duration::seconds(10));
    EXPECT_GE(beat, Duration::seconds(8));
    EXPECT_LE(beat, Duration::seconds(12));
  }
}

}  // namespace
}  // namespace hpsearch::workers
