#include "hpsearch/searchers/ranked_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "settings.hpp"

namespace hpsearch::searchers {
namespace {

using engine::Draw;
using engine::Score;
using test::score;

TEST(RankedList, CountsWhoStandsBefore) {
  RankedList list;
  list.insert({score(0.5), 0});
  list.insert({score(0.1), 1});
  list.insert({score(0.9), 2});
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(list.rank_of({score(0.1), 1}), 0U);
  EXPECT_EQ(list.rank_of({score(0.9), 2}), 2U);
  EXPECT_EQ(list.rank_of({score(0.6), 9}), 2U);
  EXPECT_EQ(list.nth(1), (Place{score(0.5), 0}));
}

TEST(RankedList, EqualScoresStandByTie) {
  RankedList list;
  list.insert({Score::worst(), 7});
  list.insert({Score::worst(), 3});
  EXPECT_EQ(list.nth(0).tie, 3U);
  EXPECT_EQ(list.rank_of({Score::worst(), 7}), 1U);
}

TEST(RankedList, AnEmptyListRanksEverythingFirst) {
  EXPECT_EQ(RankedList().rank_of({score(1), 0}), 0U);
}

// Against a sorted vector, over sizes where blocks split and vanish. `spread` values make ties rarer or
// commoner.
void compare_with_sorted_vector(std::uint64_t seed, std::uint64_t steps, std::uint64_t spread,
                                std::uint64_t erase_percent) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Draw draw(seed, engine::TrialNumber(0), "ranked_list");
  RankedList list;
  std::vector<Place> sorted;
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (!sorted.empty() && draw.below(100) < erase_percent) {
      const auto victim = sorted.begin() + static_cast<std::ptrdiff_t>(draw.below(sorted.size()));
      list.erase(*victim);
      sorted.erase(victim);
    } else {
      const Place place{score(static_cast<double>(draw.below(spread))), step};
      list.insert(place);
      sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), place), place);
    }
    ASSERT_EQ(list.size(), sorted.size());
    if (!sorted.empty()) {
      const std::size_t rank = static_cast<std::size_t>(draw.below(sorted.size()));
      ASSERT_EQ(list.nth(rank), sorted[rank]);
      ASSERT_EQ(list.rank_of(sorted[rank]), rank);
      const Place absent{score(static_cast<double>(draw.below(spread)) + 0.5), 0};
      ASSERT_EQ(list.rank_of(absent),
                static_cast<std::uint64_t>(std::lower_bound(sorted.begin(), sorted.end(), absent) -
                                           sorted.begin()));
    }
  }
}

TEST(RankedList, AgreesWithASortedVector) {
  compare_with_sorted_vector(1, 6000, 1'000'000, 10);
  compare_with_sorted_vector(2, 6000, 3, 10);
  compare_with_sorted_vector(3, 6000, 1, 0);
}

TEST(RankedList, AgreesWithASortedVectorWhenMostIsTakenOutAgain) {
  compare_with_sorted_vector(4, 6000, 1000, 49);
  compare_with_sorted_vector(5, 3000, 1000, 60);
}

TEST(RankedList, AgreesWithASortedVectorWhenEachIsBetterThanAllBefore) {
  RankedList list;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    list.insert({score(-static_cast<double>(i)), i});
    ASSERT_EQ(list.rank_of({score(-static_cast<double>(i)), i}), 0U);
    ASSERT_EQ(list.nth(i).tie, 0U);
  }
}

}  // namespace
}  // namespace hpsearch::searchers
