#include "hpsearch/searchers/rung.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "settings.hpp"

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

TEST(Rung, PromotesNobodyBelowTheKeptOnes) {
  Rung rung = rung_of({0.2, 0.3});
  rung.move_to(0, Standing::promoted);
  EXPECT_EQ(rung.promotable(), std::nullopt);
}

TEST(Rung, OfEqualScoresTheEarlierRanksFirst) {
  const Rung rung = rung_of({0.5, 0.5});
  EXPECT_EQ(rung.rank_of(0), 0U);
  EXPECT_EQ(rung.promotable(), 0U);
}

TEST(Rung, OfEqualScoresTheLaterRanksFirstWhereAsked) {
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

TEST(Rung, RestoresWhatItSaved) {
  Rung rung = rung_of({0.4, 0.1, 0.3, 0.2});
  rung.enter({Score::worst(), TrialNumber(9), Rung::none, Standing::dead});
  rung.move_to(1, Standing::promoted);
  rung.move_to(0, Standing::gone);
  const auto restored = Rung::restore(rung.save(), Divisor(2), Rung::Ties::earlier_first);
  ASSERT_TRUE(restored.has_value());
  EXPECT_EQ(restored->save(), rung.save());
  EXPECT_EQ(restored->promotable(), rung.promotable());
  EXPECT_EQ(restored->rank_of(4), rung.rank_of(4));
}

TEST(Rung, RefusesAMalformedSave) {
  using engine::Value;
  const auto refused = [](const Value& saved) {
    return !Rung::restore(saved, Divisor(2), Rung::Ties::earlier_first).has_value();
  };
  const Value good = rung_of({0.4, 0.1, 0.3}).save();
  ASSERT_FALSE(refused(good));
  EXPECT_TRUE(refused(Value("rung")));
  for (const char* column : {"entered", "ranked"}) {
    const std::string text = *good.as_map()->find(column)->as_text();
    for (const std::string& damaged : {text + "A", text.substr(1), text + "?", std::string(), text + text}) {
      Value::Map rung = *good.as_map();
      rung[column] = damaged;
      EXPECT_TRUE(refused(rung)) << column << ' ' << damaged;
    }
    Value::Map rung = *good.as_map();
    rung[column] = 5;
    EXPECT_TRUE(refused(rung));
  }
}

TEST(Rung, RefusesADeadResultThatRanksBeforeOthers) {
  Rung rung(Divisor(2), Rung::Ties::earlier_first);
  rung.enter({Score::worst(), TrialNumber(0), Rung::none, Standing::dead});
  EXPECT_TRUE(Rung::restore(rung.save(), Divisor(2), Rung::Ties::earlier_first).has_value());
  EXPECT_FALSE(Rung::restore(rung.save(), Divisor(2), Rung::Ties::later_first).has_value());
}

TEST(Rung, RestoresEveryKindOfNumber) {
  Rung rung(Divisor(2), Rung::Ties::earlier_first);
  for (const double metric : {0.0, -0.0, 1e308, -1e308, 5e-324, -5e-324, 0.1, -7.5}) {
    rung.enter({score(metric), TrialNumber(rung.arrivals()), Rung::none, Standing::waiting});
  }
  rung.enter({Score::worst(), TrialNumber(4'294'967'295), Rung::none, Standing::waiting});
  const auto restored = Rung::restore(rung.save(), Divisor(2), Rung::Ties::earlier_first);
  ASSERT_TRUE(restored.has_value());
  for (Rung::Arrival arrival = 0; arrival < rung.arrivals(); ++arrival) {
    EXPECT_EQ(restored->at(arrival).score, rung.at(arrival).score);
    EXPECT_EQ(restored->at(arrival).trial, rung.at(arrival).trial);
    EXPECT_EQ(restored->rank_of(arrival), rung.rank_of(arrival));
  }
}

}  // namespace
}  // namespace hpsearch::searchers
