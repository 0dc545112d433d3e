#include "hpsearch/proto/sentences/reason.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hpsearch/proto/sentences/uncertain_number.hpp"

namespace hpsearch::sentences {
namespace {

using engine::Reason;
using Why = Reason::Why;

TEST(ReasonText, HasRankLengthAndCutOff) {
  Reason reason{Why::promoted, 0, 1, 2, 17, 4, 0.912, ""};
  reason.at = engine::Units{9};
  EXPECT_EQ(describe(reason, "epochs"),
            "promoted; rank 3 of 17 at 9 epochs (keeps the best 4, cut-off 0.912)");
  EXPECT_EQ(describe_rank(reason), "rank 3 of 17 at 9 (keeps the best 4, cut-off 0.912)");
  reason.bracket = 2;
  reason.keep.reset();
  EXPECT_EQ(describe_rank(reason, "epochs"), "rank 3 of 17 at 9 epochs in bracket 2 (cut-off 0.912)");
}

TEST(ReasonText, NewTrialHasItsFirstRung) {
  Reason reason{Why::new_trial, 1, 2, {}, {}, {}, {}, ""};
  reason.at = engine::Units{9};
  EXPECT_EQ(describe(reason, "epochs"), "new trial; first rung at 9 epochs in bracket 1");
}

TEST(ReasonText, HasOnlySetParts) {
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

TEST(ReasonText, RungWithoutPromotionsHasTooFewResults) {
  Reason waits{Why::waits_at_rung, {}, 0, 1, 2, 0, {}, ""};
  waits.at = engine::Units{1};
  EXPECT_EQ(describe(waits, "epochs"),
            "waits at its rung; rank 2 of 2 at 1 epoch (too few results for a promotion)");
}

TEST(ReasonText, RepeatNamesItsTrial) {
  Reason reason;
  reason.why = Why::repeat;
  reason.near = 17;
  reason.detail = "2 of 3";
  EXPECT_EQ(describe(reason), "repeat 2 of 3 of trial 17");
}

TEST(ReasonText, NamesTheTrialNearWhichAConfigurationWasDrawn) {
  Reason reason;
  reason.why = Why::near_trial;
  EXPECT_EQ(describe(reason), "drawn near an earlier trial");
  reason.near = 12;
  reason.near_rank = 2;
  reason.results = 40;
  reason.spread = 1.0 / 3;
  EXPECT_EQ(describe(reason), "drawn near trial 12 (rank 3 of 40), in windows of 33.3333 % of each range");
}

TEST(ReasonText, HasThePredictionOfTheModel) {
  Reason reason;
  reason.why = Why::model_choice;
  reason.rung = 1;
  reason.at = engine::Units{3};
  reason.results = 40;
  reason.expected = engine::ExpectedResult{0.93123, 0.01249, -3.2149, 0.834, {12, 7, 3}};
  EXPECT_EQ(
      describe(reason),
      "the model's choice: expects 0.931 ± 0.012 at full length; ln of the expected improvement -3.21; "
      "metrics at its first rung correlate with those at full length by 0.83; nearest earlier trials 12, "
      "7, 3; first rung at 3");
  reason.rung.reset();
  reason.at.reset();
  reason.expected = engine::ExpectedResult{2104.6, 310, 0.5, {}, {4}};
  EXPECT_EQ(
      describe(reason),
      "the model's choice: expects 2105 ± 310 at full length; ln of the expected improvement 0.50; nearest "
      "earlier trial 4");
}

TEST(ReasonText, HasTheNumbersOfARuleThatStopsATrial) {
  Reason reason;
  reason.why = Why::worse_than_others;
  EXPECT_EQ(describe(reason), "worse than others");
  reason.rank = 6;
  reason.size = 9;
  reason.keep = 4;
  reason.cutoff = 0.31;
  reason.value = 0.52;
  reason.detail = "50";
  reason.at = engine::Units{5};
  EXPECT_EQ(describe(reason, "epochs"),
            "0.52 is worse than the median of 8 other trials; rank 7 of 9 at 5 epochs (keeps the best 4, "
            "cut-off 0.31)");
  reason.detail = "25";
  reason.value.reset();
  EXPECT_EQ(describe(reason, "epochs"),
            "NaN is not among the best 25 % of 8 other trials; rank 7 of 9 at 5 epochs (keeps the best 4, "
            "cut-off 0.31)");
}

TEST(ReasonText, SaysSinceWhenATrialDoesNotGetBetter) {
  Reason reason;
  reason.why = Why::no_improvement;
  EXPECT_EQ(describe(reason), "no improvement");
  reason.detail = "4";
  reason.at = engine::Units{4};
  EXPECT_EQ(describe(reason, "epochs"), "no number for 4 epochs since 4 epochs");
  reason.value = 0.75;
  reason.cutoff = 0.75;
  EXPECT_EQ(describe(reason, "epochs"), "no improvement for 4 epochs since 0.75 at 4 epochs");
  reason.cutoff = 0.625;
  EXPECT_EQ(describe(reason, "epochs"),
            "no improvement for 4 epochs since 0.75 at 4 epochs (needed better than 0.625)");
}

TEST(ReasonText, NamesDrawsWithoutTheModel) {
  Reason reason;
  reason.why = Why::before_model;
  reason.results = 3;
  EXPECT_EQ(describe(reason), "before the model has enough results (3 so far)");
  reason.why = Why::explored;
  EXPECT_EQ(describe(reason), "to explore");
  reason.detail = "the model found no new configuration";
  EXPECT_EQ(describe(reason), "to explore: the model found no new configuration");
}

TEST(UncertainNumber, HasTwoDigitsOfItsDeviation) {
  EXPECT_EQ(with_deviation(0.5, 0.25), "0.50 ± 0.25");
  EXPECT_EQ(with_deviation(-12.3456, 0.00123), "-12.3456 ± 0.0012");
  EXPECT_EQ(with_deviation(123456, 7890), "123456 ± 7890");
  EXPECT_EQ(with_deviation(1e300, 1e299), "1e+300 ± 1e+299");
  EXPECT_EQ(with_deviation(1e-20, 1e-22), "1e-20 ± 1e-22");
  EXPECT_EQ(with_deviation(2, 0), "2 ± 0");
}

TEST(ReasonText, EachCauseHasItsOwnPhrase) {
  std::set<std::string> phrases;
  for (int i = 0; i <= static_cast<int>(Why::experiment_end); ++i) {
    Reason reason;
    reason.why = static_cast<Why>(i);
    phrases.insert(describe(reason));
  }
  EXPECT_EQ(phrases.size(), static_cast<std::size_t>(Why::experiment_end) + 1);
  EXPECT_EQ(phrases.count("unknown"), 0U);
}

}  // namespace
}  // namespace hpsearch::sentences
