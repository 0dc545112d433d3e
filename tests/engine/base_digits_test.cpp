#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::engine {
namespace {

TEST(Digits, SmallNumbersTakeOneCharacter) {
  DigitWriter out;
  out.count(0);
  out.count(31);
  out.integer(-1);
  out.integer(15);
  EXPECT_EQ(out.take(), "AfBe");
}

TEST(Digits, EveryNumberComesBackBitForBit) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> counts = {0, 1, 31, 32, 1023, 1024, most, most - 1, most >> 1U, most >> 4U};
  std::vector<double> reals = {0.0, -0.0, 1.5, -1e300, 5e-324, std::numeric_limits<double>::infinity()};
  Draw draw(9, TrialNumber(0), "digits");
  for (int i = 0; i < 2000; ++i) {
    counts.push_back(draw.bits() >> draw.below(64));
    reals.push_back(draw.unit() * 1e6 - 5e5);
  }
  DigitWriter out;
  for (std::size_t i = 0; i < reals.size(); ++i) {
    out.count(counts[i]);
    out.integer(static_cast<std::int64_t>(counts[i]));
    out.real(reals[i]);
    out.flag(i % 3 == 0);
  }
  out.real(std::nan(""));
  const std::string text = out.take();
  DigitReader in(text);
  for (std::size_t i = 0; i < reals.size(); ++i) {
    ASSERT_EQ(in.count(), counts[i]);
    ASSERT_EQ(in.integer(), static_cast<std::int64_t>(counts[i]));
    const double real = in.real();
    ASSERT_EQ(real, reals[i]);
    ASSERT_EQ(std::signbit(real), std::signbit(reals[i]));
    ASSERT_EQ(in.flag(), i % 3 == 0);
  }
  EXPECT_TRUE(std::isnan(in.real()));
  EXPECT_TRUE(in.finished());
}

TEST(Digits, WhatIsNotWrittenByUsMakesTheReaderBadForGood) {
  for (const char* text : {"", "-", "g", "gggggggggggggP", "AAAAAAAAAA", "AAAAAAAAAAQ"}) {
    DigitReader in(text);
    const bool is_real = std::string_view(text).starts_with("AAA");
    if (is_real) {
      EXPECT_EQ(in.real(), 0.0) << text;
    } else {
      EXPECT_EQ(in.count(), 0U) << text;
    }
    EXPECT_FALSE(in.good()) << text;
    EXPECT_EQ(in.count(), 0U);
  }
  DigitReader in("C");
  EXPECT_EQ(in.count_below(2), 0U);
  EXPECT_FALSE(in.good());
}

}  // namespace
}  // namespace hpsearch::engine
