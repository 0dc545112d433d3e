#include "daemon/access/request_rates.hpp"

#include <gtest/gtest.h>

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Instant;

const Instant begin = Instant::from_micros(1'000'000);

unsigned taken(RequestRates& rates, const std::string& token, Instant at, unsigned most = 10'000) {
  unsigned count = 0;
  while (count < most && !rates.take(token, at)) {
    ++count;
  }
  return count;
}

TEST(RequestRates, AllowSixHundredAtOnce) {
  RequestRates rates;
  EXPECT_EQ(taken(rates, "a", begin), 600U);
  EXPECT_EQ(taken(rates, "b", begin), 600U) << "each token has its own";
}

TEST(RequestRates, AllowThreeHundredPerSecond) {
  RequestRates rates;
  EXPECT_EQ(taken(rates, "a", begin), 600U);
  EXPECT_EQ(taken(rates, "a", begin + Duration::seconds(1)), 300U);
  EXPECT_EQ(taken(rates, "a", begin + Duration::seconds(100)), 600U) << "no more gather in a long pause";
}

TEST(RequestRates, ReturnTheTimeOfTheNextRequest) {
  RequestRates rates;
  EXPECT_EQ(taken(rates, "a", begin), 600U);
  const auto wait = rates.take("a", begin);
  ASSERT_TRUE(wait);
  EXPECT_NEAR(wait->in_seconds(), 1.0 / 300, 1e-5);
  EXPECT_FALSE(rates.take("a", begin + Duration::millis(4))) << "refused ones don't count";
}

TEST(RequestRates, ClockSetBackAllowsNoMore) {
  RequestRates rates;
  EXPECT_EQ(taken(rates, "a", begin + Duration::seconds(5)), 600U);
  EXPECT_EQ(taken(rates, "a", begin), 0U);
}

TEST(RequestRates, AreKeptForALimitedNumberOfTokens) {
  RequestRates rates;
  for (std::size_t i = 0; i < 3 * RequestRates::most_tokens; ++i) {
    EXPECT_FALSE(rates.take(std::to_string(i), begin + Duration::seconds(static_cast<std::int64_t>(i))));
  }
}

}  // namespace
}  // namespace hpsearch::daemon
