#include "hpsearch/engine/base/draw.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "hpsearch/engine/config/experiment_config.hpp"

namespace hpsearch::engine {
namespace {

// Vectors of the authors' own known-answer test (Random123, philox 4x32, 10 rounds).
struct KnownAnswer {
  PhiloxBlock counter;
  std::uint32_t key0;
  std::uint32_t key1;
  PhiloxBlock answer;
};

TEST(Philox, GivesTheAuthorsAnswers) {
  const KnownAnswer known[] = {
      {{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
       0xffffffff,
       0xffffffff,
       {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       0xa4093822,
       0x299f31d0,
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (const KnownAnswer& vector : known) {
    const PhiloxBlock block = philox4x32_10(vector.counter, vector.key0, vector.key1);
    for (int word = 0; word < 4; ++word) {
      EXPECT_EQ(block.word[word], vector.answer.word[word]);
    }
  }
}

TEST(Draw, DependsOnSeedTrialNameAndPlaceAlone) {
  Draw one(7, TrialNumber{3}, "lr");
  Draw two(7, TrialNumber{3}, "lr");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(one.bits(), two.bits());
  }
}

TEST(Draw, DiffersWhenAnyOfThemDiffers) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t trial = 0; trial < 10; ++trial) {
      for (const char* name : {"a", "b", "ab", ""}) {
        Draw draw(seed, TrialNumber{trial}, name);
        seen.insert(draw.bits());
        seen.insert(draw.bits());
      }
    }
  }
  EXPECT_EQ(seen.size(), 800U);  // A clash by chance: less than once in 10^13 such tests.
}

// These numbers are what experiments were run with: changing them changes everybody's trials.
TEST(Draw, StaysTheSameForever) {
  Draw draw(1, TrialNumber{0}, "hyperparameters.lr");
  EXPECT_EQ(draw.bits(), 0xcf68a4478248c8f5U);
  EXPECT_EQ(draw.bits(), 0x999ef8a36fd370d0U);
  EXPECT_EQ(trial_seed(1, TrialNumber{0}), 2071334987U);
  EXPECT_EQ(trial_seed(1, TrialNumber{1}), 304396649U);
}

TEST(Draw, UnitLiesInItsRangeAndIsEven) {
  Draw draw(42, TrialNumber{0}, "unit");
  constexpr int n = 100'000;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double unit = draw.unit();
    ASSERT_GE(unit, 0.0);
    ASSERT_LT(unit, 1.0);
    sum += unit;
  }
  // Six standard errors: a fair generator with another seed would fail once in 5·10^8.
  EXPECT_NEAR(sum / n, 0.5, 6 * std::sqrt(1.0 / 12 / n));
}

TEST(Draw, BelowIsEven) {
  Draw draw(42, TrialNumber{0}, "below");
  constexpr int n = 70'000;
  std::array<int, 7> counts{};
  for (int i = 0; i < n; ++i) {
    ++counts.at(static_cast<std::size_t>(draw.below(7)));
  }
  double chi_squared = 0;
  for (const int count : counts) {
    chi_squared += std::pow(count - n / 7.0, 2) / (n / 7.0);
  }
  EXPECT_LT(chi_squared, 40.0);  // 6 degrees of freedom: exceeded with probability 5·10^-7.
}

TEST(Draw, BelowKeepsToItsBound) {
  Draw draw(1, TrialNumber{0}, "bounds");
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
                                    (std::uint64_t{1} << 63) + 1, ~std::uint64_t{0}}) {
    for (int i = 0; i < 1000; ++i) {
      ASSERT_LT(draw.below(bound), bound);
    }
  }
  bool high = false;
  for (int i = 0; i < 100; ++i) {
    high = high || draw.below(0) > ~std::uint64_t{0} / 2;
  }
  EXPECT_TRUE(high) << "bound 0 means all 64 bits";
}

TEST(TrialSeed, IsA31BitNumberThatDiffersByTrial) {
  std::set<std::uint32_t> seen;
  for (std::uint64_t trial = 0; trial < 1000; ++trial) {
    const std::uint32_t seed = trial_seed(99, TrialNumber{trial});
    EXPECT_LE(seed, 0x7fff'ffffU);
    seen.insert(seed);
  }
  EXPECT_GE(seen.size(), 998U);  // Three clashes among 1000 of 2^31: about 2·10^-12.
}

}  // namespace
}  // namespace hpsearch::engine
