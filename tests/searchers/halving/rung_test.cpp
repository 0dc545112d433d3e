#include "hpsearch/searchers/rung.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "searchers/settings.hpp"

namespace hpsearch::searchers {
namespace {

using engine::Score;
using engine::TrialNumber;
using Standing = Rung::Standing;
using test::score;

Rung rung_of(std::initializer_list<double> metrics, double divisor = 2) {
  Rung rung(Divisor(divisor), Rung::Ties::earlier_first);
  for (const double metric : metrics) {
    rung.enter({score(metric), TrialNumber(rung.arrivals()), Rung::none, Standing::waiting});
  }
  return rung;
}

TEST(Rung, KeepsOneInD) {
  EXPECT_EQ(rung_of({1, 2, 3}, 4).keep(), 0U);
  EXPECT_EQ(rung_of({1, 2, 3, 4}, 4).keep(), 1U);
  EXPECT_EQ(rung_of({1, 2, 3, 4, 5, 6, 7}, 4).keep(), 1U);
}

TEST(Rung, PromotesTheBestFirst) {
  Rung rung = rung_of({0.4, 0.1, 0.3, 0.2});
  ASSERT_EQ(rung.promotable(), 1U);
  rung.move_to(1, Standing::promoted);
  ASSERT_EQ(rung.promotable(), 3U);
  rung.move_to(3, Standing::promoted);
  EXPECT_EQ(rung.promotable(), std::nullopt);
}

TEST(Rung, PromotesNoTrialBelowTheKeptOnes) {
  Rung rung = rung_of({0.2, 0.3});
  rung.move_to(0, Standing::promoted);
  EXPECT_EQ(rung.promotable(), std::nullopt);
}

TEST(Rung, TheEarlierOfEqualScoresRanksFirst) {
  const Rung rung = rung_of({0.5, 0.5});
  EXPECT_EQ(rung.rank_of(0), 0U);
  EXPECT_EQ(rung.promotable(), 0U);
}

TEST(Rung, TheLaterOfEqualScoresRanksFirstIfSet) {
  Rung rung(Divisor(2), Rung::Ties::later_first);
  rung.enter({score(0.5), TrialNumber(0), Rung::none, Standing::settled});
  rung.enter({score(0.5), TrialNumber(1), Rung::none, Standing::settled});
  EXPECT_EQ(rung.rank_of(0), 1U);
  EXPECT_EQ(rung.rank_of(1), 0U);
}

TEST(Rung, CutoffIsTheScoreOfTheLastThatGoesOn) {
  const Rung rung = rung_of({0.4, 0.1, 0.3, 0.2});
  EXPECT_EQ(rung.cutoff(2), score(0.2));
  EXPECT_EQ(rung.cutoff(0), std::nullopt);
}

TEST(Rung, AResultThatLeftDoesNotCount) {
  Rung rung = rung_of({0.1, 0.2, 0.3, 0.4});
  rung.move_to(0, Standing::gone);
  EXPECT_EQ(rung.size(), 3U);
  EXPECT_EQ(rung.keep(), 1U);
  EXPECT_EQ(rung.promotable(), 1U);
}

TEST(Rung, NamesTheDeadApartFromTheWaiting) {
  Rung rung(Divisor(2), Rung::Ties::earlier_first);
  rung.enter({Score::worst(), TrialNumber(0), Rung::none, Standing::dead});
  EXPECT_EQ(rung.promotable_dead(), std::nullopt);
  rung.enter({Score::worst(), TrialNumber(1), Rung::none, Standing::waiting});
  EXPECT_EQ(rung.promotable_dead(), 0U);
  EXPECT_EQ(rung.promotable(), std::nullopt);
}

TEST(Rung, ClosingOutSparesThePromotable) {
  Rung rung = rung_of({0.4, 0.1, 0.3, 0.2});
  rung.move_to(1, Standing::promoted);
  EXPECT_EQ(rung.close_out(), (std::vector<Rung::Arrival>{0, 2}));
  EXPECT_EQ(rung.promotable(), 3U);
  EXPECT_TRUE(rung.close_out().empty());
}

}  // namespace
}  // namespace hpsearch::searchers
