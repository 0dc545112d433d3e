#include "hpsearch/sentences/reason.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hpsearch::sentences {
namespace {

using engine::Reason;
using Why = Reason::Why;

TEST(ReasonText, HasRankRungAndCutOff) {
  Reason reason{Why::promoted, 0, 1, 2, 17, 4, 0.912, ""};
  EXPECT_EQ(describe(reason),
            "promoted; rank 3 of 17 at rung 1 of bracket 0 (keeps the best 4, cut-off 0.912)");
  EXPECT_EQ(describe_rank(reason), "rank 3 of 17 at rung 1 of bracket 0 (keeps the best 4, cut-off 0.912)");
  reason.rung.reset();
  reason.keep.reset();
  EXPECT_EQ(describe_rank(reason), "rank 3 of 17 at bracket 0 (cut-off 0.912)");
}

TEST(ReasonText, HasOnlyWhatIsSet) {
  EXPECT_EQ(describe(Reason{}), "new trial");
  EXPECT_EQ(describe_rank(Reason{}), "");
  Reason exit;
  exit.why = Why::early_exit;
  exit.detail = "exit code 1";
  EXPECT_EQ(describe(exit), "ended early: exit code 1");
  Reason ranked;
  ranked.why = Why::below_cutoff;
  ranked.rank = 4;
  EXPECT_EQ(describe(ranked), "not among the best; rank 5");
  Reason alone;
  alone.cutoff = 0.5;
  EXPECT_EQ(describe(alone), "new trial (cut-off 0.5)");
}

TEST(ReasonText, ARungThatPromotesNoneYetHasTooFewResults) {
  Reason waits{Why::waits_at_rung, {}, 0, 1, 2, 0, {}, ""};
  EXPECT_EQ(describe(waits), "waits at its rung; rank 2 of 2 at rung 0 (too few results for a promotion)");
}

TEST(ReasonText, SaysNearWhichTrialAConfigurationWasDrawn) {
  Reason reason;
  reason.why = Why::near_trial;
  EXPECT_EQ(describe(reason), "drawn near an earlier trial");
  reason.near = 12;
  reason.near_rank = 2;
  reason.results = 40;
  reason.spread = 1.0 / 3;
  EXPECT_EQ(describe(reason), "drawn near trial 12 (rank 3 of 40), in windows of 33.3333 % of each range");
}

TEST(ReasonText, EachCauseHasItsOwnPhrase) {
  std::set<std::string> phrases;
  for (int i = 0; i <= static_cast<int>(Why::experiment_end); ++i) {
    Reason reason;
    reason.why = static_cast<Why>(i);
    phrases.insert(describe(reason));
  }
  EXPECT_EQ(phrases.size(), 13U);
  EXPECT_EQ(phrases.count("unknown"), 0U);
}

}  // namespace
}  // namespace hpsearch::sentences
