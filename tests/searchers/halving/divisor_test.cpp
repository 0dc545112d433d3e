#include "hpsearch/searchers/divisor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace hpsearch::searchers {
namespace {

using engine::Units;

TEST(Divisor, DividesIntegersExactlyUpTo64Bits) {
  EXPECT_EQ(Divisor(3).part_of(UINT64_MAX), UINT64_MAX / 3);  // A double would round up.
  EXPECT_EQ(Divisor(4).part_of(3), 0U);
  EXPECT_EQ(Divisor(4).part_of(4), 1U);
}

TEST(Divisor, DividesByFractionsAsPeopleExpect) {
  EXPECT_EQ(Divisor(1.1).part_of(11), 10U);
  EXPECT_EQ(Divisor(2.5).part_of(4), 1U);
  EXPECT_EQ(Divisor(2.5).part_of(5), 2U);
}

TEST(Divisor, KnowsItsPowersWithoutLogarithms) {
  EXPECT_EQ(Divisor(3).log_of(243, 100), 5U);  // log(243)/log(3) is 4.999… in double precision.
  EXPECT_EQ(Divisor(3).log_of(242, 100), 4U);
  EXPECT_EQ(Divisor(10).log_of(1000, 100), 3U);
  EXPECT_EQ(Divisor(2).log_of(UINT64_MAX, 100), 63U);
  EXPECT_EQ(Divisor(4).log_of(1, 100), 0U);
  EXPECT_EQ(Divisor(2.5).log_of(6, 100), 1U);
  EXPECT_EQ(Divisor(2.5).log_of(7, 100), 2U);
}

TEST(Divisor, CountsNoMorePowersThanAreAskedFor) {
  EXPECT_EQ(Divisor(3).log_of(243, 2), 2U);
  EXPECT_EQ(Divisor(1.5).log_of(UINT64_MAX, 7), 7U);
  EXPECT_EQ(Divisor(1.0000000000000002).log_of(UINT64_MAX, 100), 100U) << "all of them would take years";
}

TEST(Divisor, IsAnOddNumberTimesAPowerOfTwo) {
  for (const double value : {2.0, 3.0, 12.0, 1.5, 2.5, 2.1, 1.0000000000000002, 0x1p64, 1e300}) {
    const Divisor::Exact exact = Divisor(value).exact();
    EXPECT_EQ(exact.odd % 2, 1U) << value;
    EXPECT_EQ(std::ldexp(static_cast<double>(exact.odd), exact.twos), value);
  }
  EXPECT_EQ(Divisor(2.5).exact().odd, 5U);
  EXPECT_EQ(Divisor(2.5).exact().twos, -1);
}

TEST(Divisor, ShortensToAtLeastOne) {
  EXPECT_EQ(Divisor(4).shorten(Units{1000}, 3), Units{15});
  EXPECT_EQ(Divisor(4).shorten(Units{1000}, 0), Units{1000});
  EXPECT_EQ(Divisor(4).shorten(Units{1000}, 900), Units{1});
  EXPECT_EQ(Divisor(2.5).shorten(Units{100}, 2), Units{16});
  EXPECT_EQ(Divisor(1.5).shorten(Units{INT64_MAX}, 0), Units{INT64_MAX});
  EXPECT_EQ(Divisor(1e300).shorten(Units{5}, 2), Units{1});
}

}  // namespace
}  // namespace hpsearch::searchers
