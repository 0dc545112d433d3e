#include "hpsearch/engine/sim/curve_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace hpsearch::engine::sim {
namespace {

const Value no_hparams = Value::Map{};

Training of(std::uint64_t trial) {
  return Training{TrialNumber(trial), no_hparams, 0};
}

std::unique_ptr<CurveTable> table(const std::string& csv,
                                  CurveTable::Missing missing = CurveTable::Missing::refuse) {
  auto parsed = CurveTable::parse(csv, missing);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return parsed ? std::move(*parsed) : nullptr;
}

std::string problem_of(const std::string& csv) {
  const auto parsed = CurveTable::parse(csv, CurveTable::Missing::refuse);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(CurveTable, HoldsTheLastValueUntilTheNextOne) {
  const auto curves = table("trial,length,metric\n0,10,0.5\n0,20,0.4\n");
  EXPECT_TRUE(std::isnan(curves->metric(of(0), Units{9})));
  EXPECT_DOUBLE_EQ(curves->metric(of(0), Units{10}), 0.5);
  EXPECT_DOUBLE_EQ(curves->metric(of(0), Units{19}), 0.5);
  EXPECT_DOUBLE_EQ(curves->metric(of(0), Units{20}), 0.4);
  EXPECT_DOUBLE_EQ(curves->metric(of(0), Units{1000}), 0.4);
}

TEST(CurveTable, FindsItsColumnsByTheirNamesAndIgnoresOthers) {
  const auto curves =
      table("\xEF\xBB\xBFnote,\"metric\",length , trial\r\nx, 0.5 ,10,3\r\n\r\ny,nan,20,3\r\n");
  EXPECT_DOUBLE_EQ(curves->metric(of(3), Units{10}), 0.5);
  EXPECT_TRUE(std::isnan(curves->metric(of(3), Units{20})));
}

TEST(CurveTable, FindsACurveByItsConfiguration) {
  const auto curves = table(
      "hparams.lr,length,hparams.net.act,metric\n0.10,1,relu,0.5\n0.10,2,relu,0.4\n1e-1,1,tanh,0.3\n"
      "3,1,relu,0.2\n");
  const auto metric_of = [&](Value lr, const char* activation, std::uint64_t length) {
    const Value hparams =
        Value::Map{{"lr", std::move(lr)}, {"net", Value::Map{{"act", activation}}}, {"b", 1}};
    const Training training{TrialNumber(7), hparams, 0};
    return curves->covers(training) ? curves->metric(training, Units{length}) : -1;
  };
  EXPECT_DOUBLE_EQ(metric_of(0.1, "relu", 1), 0.5);
  EXPECT_DOUBLE_EQ(metric_of(0.1, "relu", 2), 0.4);
  EXPECT_DOUBLE_EQ(metric_of(0.1, "tanh", 1), 0.3);
  EXPECT_DOUBLE_EQ(metric_of(3, "relu", 1), 0.2) << "an integer is the number that it is";
  EXPECT_DOUBLE_EQ(metric_of(3, "tanh", 1), -1);
  const Value strange = Value::Map{{"lr", 7}};
  const auto covered = curves->covers(Training{TrialNumber(7), strange, 0});
  ASSERT_FALSE(covered);
  EXPECT_EQ(covered.error().message,
            "trial 7 has no curve: the table has 3 configurations, and not {\"lr\":7}");
}

TEST(CurveTable, WantsTrialsOrHyperparametersToTellCurvesApart) {
  EXPECT_EQ(problem_of("length,metric\n1,0.5\n"),
            "line 1: the header has no column \"trial\", and none of a hyperparameter such as "
            "\"hparams.lr\": one or the other says whose curve it is");
  const auto in_turn = CurveTable::parse("hparams.lr,length,metric\n1,1,0.5\n", CurveTable::Missing::cycle);
  ASSERT_FALSE(in_turn);
  EXPECT_EQ(in_turn.error().message,
            "its curves belong to configurations, so trials cannot take them in turn");
}

TEST(CurveTable, TakesACommaBetweenQuotesForALetter) {
  const auto curves = table(
      "trial,units,\"metric\",length\n0,\"[64,32]\",0.5,10\n0, \"say \"\"a,b\"\"\" "
      ",\"0.25\",20\n0,\"\",0.125,30\n");
  EXPECT_DOUBLE_EQ(curves->metric(of(0), Units{10}), 0.5);
  EXPECT_DOUBLE_EQ(curves->metric(of(0), Units{20}), 0.25);
  EXPECT_DOUBLE_EQ(curves->metric(of(0), Units{30}), 0.125);
  EXPECT_EQ(problem_of("trial,length,metric\n0,10,\"0.5\n"), "line 2: a double quote is not closed on it");
  EXPECT_EQ(problem_of("trial,length,units,metric\n0,10,[64,32],0.5\n"),
            "line 2: has 5 cells, more than the header, which has 4 (a cell with a comma in it stands in "
            "double quotes)");
}

TEST(CurveTable, MayKnowNoTrialAtAll) {
  for (const auto missing : {CurveTable::Missing::refuse, CurveTable::Missing::cycle}) {
    const auto curves = CurveTable::from_points({}, missing);
    ASSERT_TRUE(curves.has_value()) << curves.error().message;
    EXPECT_FALSE((*curves)->has_times());
    const Status covered = (*curves)->covers(of(1));
    ASSERT_FALSE(covered);
    EXPECT_EQ(covered.error().message, "trial 1 has no curve: nothing was measured");
  }
}

TEST(CurveTable, NamesTheTrialThatHasNoCurve) {
  const auto curves = table("trial,length,metric\n0,10,0.5\n2,10,0.5\n");
  EXPECT_TRUE(curves->covers(of(2)));
  const Status missing = curves->covers(of(1));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "trial 1 has no curve: the table has 2, of trials 0 to 2");
}

TEST(CurveTable, CyclesWhenAsked) {
  const auto curves = table("trial,length,metric\n0,10,0.5\n5,10,0.25\n", CurveTable::Missing::cycle);
  EXPECT_TRUE(curves->covers(of(101)));
  EXPECT_DOUBLE_EQ(curves->metric(of(100), Units{10}), 0.5);
  EXPECT_DOUBLE_EQ(curves->metric(of(101), Units{10}), 0.25);
}

TEST(CurveTable, CyclesOnlyForTrialsWithoutACurveOfTheirOwn) {
  const auto curves =
      table("trial,length,metric\n0,10,0.5\n2,10,0.25\n3,10,0.125\n", CurveTable::Missing::cycle);
  EXPECT_DOUBLE_EQ(curves->metric(of(2), Units{10}), 0.25);
  EXPECT_DOUBLE_EQ(curves->metric(of(3), Units{10}), 0.125);
  EXPECT_DOUBLE_EQ(curves->metric(of(4), Units{10}), 0.25);
}

TEST(CurveTable, SpreadsTimeEvenlyAndGoesOnAtTheMeanRate) {
  const auto curves = table("trial,length,metric,seconds\n0,10,0.5,100\n0,20,0.4,300\n");
  EXPECT_TRUE(curves->has_times());
  EXPECT_DOUBLE_EQ(curves->seconds(of(0), Units{0}, Units{5}), 50);
  EXPECT_DOUBLE_EQ(curves->seconds(of(0), Units{5}, Units{15}), 150);
  EXPECT_DOUBLE_EQ(curves->seconds(of(0), Units{20}, Units{22}), 30);
}

TEST(CurveTable, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(problem_of(""), "there is no measurement in it");
  EXPECT_EQ(problem_of("trial,length,metric\n"), "there is no measurement in it");
  EXPECT_EQ(problem_of("trial,metric\n0,1\n"),
            "line 1: the header has no column \"length\" (trial, length and metric are needed, seconds may "
            "be there)");
  EXPECT_EQ(problem_of("trial,length,metric,trial\n"), "line 1: the column \"trial\" stands twice");
  EXPECT_EQ(problem_of("trial,length,metric\n0,1\n"), "line 2: has 2 cells, fewer than the header");
  EXPECT_EQ(problem_of("trial,length,metric\n-1,1,1\n"),
            "line 2: trial is \"-1\" (an integer of at least 0)");
  EXPECT_EQ(problem_of("trial,length,metric\n0,1,good\n"),
            "line 2: metric is \"good\" (a number, nan, inf, -inf or nothing)");
  EXPECT_EQ(problem_of("trial,length,metric\n0,1,1\n0,1,2\n"), "trial 0, length 1 stands twice");
  EXPECT_EQ(problem_of("trial,length,metric,seconds\n0,1,1,5\n0,2,1,4\n"),
            "trial 0, length 2: its time is less than that of length 1");
}

}  // namespace
}  // namespace hpsearch::engine::sim
