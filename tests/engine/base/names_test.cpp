#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {
namespace {

TEST(Errc, HasNamesForJson) {
  EXPECT_STREQ(name_of(Errc::bad_request), "bad_request");
  EXPECT_STREQ(name_of(Errc::not_found), "not_found");
  EXPECT_STREQ(name_of(Errc::wrong_state), "wrong_state");
  EXPECT_STREQ(name_of(Errc::version_mismatch), "version_mismatch");
  EXPECT_STREQ(name_of(Errc::corrupt), "corrupt");
  EXPECT_STREQ(name_of(Errc::unavailable), "unavailable");
}

TEST(Why, ReadsBackFromItsName) {
  for (int i = 0; i <= static_cast<int>(Reason::Why::experiment_end); ++i) {
    const auto why = static_cast<Reason::Why>(i);
    EXPECT_NE(name_of(why), "unknown");
    EXPECT_EQ(why_named(name_of(why)), why);
  }
  EXPECT_EQ(why_named("unknown"), std::nullopt);
  EXPECT_EQ(why_named(""), std::nullopt);
}

TEST(ExitReason, ReadsBackFromItsName) {
  for (const ExitReason reason :
       {ExitReason::errored, ExitReason::user_canceled, ExitReason::user_stopped, ExitReason::invalid_hp}) {
    EXPECT_EQ(exit_reason_named(name_of(reason)), reason);
  }
  EXPECT_EQ(name_of(ExitReason::invalid_hp), "invalid_hp");
  EXPECT_EQ(exit_reason_named("canceled"), std::nullopt);
}

TEST(Score, TurnsTheSignOnceAndRanksTheUnusableLast) {
  EXPECT_LT(Score::from_metric(1.0, Goal::minimize), Score::from_metric(2.0, Goal::minimize));
  EXPECT_LT(Score::from_metric(2.0, Goal::maximize), Score::from_metric(1.0, Goal::maximize));
  for (const double bad :
       {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(Score::from_metric(bad, Goal::maximize).is_worst());
    EXPECT_TRUE(Score::from_metric(bad, Goal::minimize).is_worst());
  }
  EXPECT_TRUE(Score::from_metric(std::nullopt, Goal::minimize).is_worst());
  EXPECT_EQ(Score::from_metric(0.25, Goal::maximize).metric(Goal::maximize), 0.25);
  EXPECT_EQ(Score::worst().metric(Goal::maximize), std::nullopt);
}

TEST(FindKind, FindsByExactName) {
  const SearcherKind kinds[] = {{"grid", {}, {}, nullptr, nullptr, nullptr},
                                {"random", {}, {}, nullptr, nullptr, nullptr}};
  EXPECT_EQ(find_kind(kinds, "random"), &kinds[1]);
  EXPECT_EQ(find_kind(kinds, "Random"), nullptr);
  EXPECT_EQ(find_kind({}, "random"), nullptr);
}

}  // namespace
}  // namespace hpsearch::engine
