#include "hpsearch/searchers/adaptive_asha.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "contract/search_course.hpp"
#include "searchers/settings.hpp"

namespace hpsearch::searchers {
namespace {

using contract::Course;
using engine::AshaMode;
using engine::Preview;
using test::ExperimentConfig;
using test::kind_of;
using test::settings;
using test::Units;

struct Example {
  AshaMode mode;
  std::uint64_t max_rungs;
  double divisor;
  std::uint64_t max_length;
  std::uint64_t max_trials;
  std::vector<std::pair<std::vector<std::uint64_t>, std::uint64_t>> brackets;
  std::map<std::uint64_t, std::uint64_t> final_counts;
};

// The table of the specification.
const std::vector<Example>& examples() {
  static const std::vector<Example> all = {
      {AshaMode::standard,
       5,
       4,
       1000,
       100,
       {{{15, 62, 250, 1000}, 70}, {{62, 250, 1000}, 22}, {{250, 1000}, 8}},
       {{15, 53}, {62, 30}, {250, 13}, {1000, 4}}},
      {AshaMode::conservative,
       5,
       3,
       81,
       81,
       {{{1, 3, 9, 27, 81}, 48}, {{3, 9, 27, 81}, 19}, {{9, 27, 81}, 8}, {{27, 81}, 4}, {{81}, 2}},
       {{1, 32}, {3, 24}, {9, 14}, {27, 8}, {81, 3}}},
      {AshaMode::aggressive, 5, 4, 64, 64, {{{1, 4, 16, 64}, 64}}, {{1, 48}, {4, 12}, {16, 3}, {64, 1}}},
  };
  return all;
}

ExperimentConfig config_of(const Example& example) {
  ExperimentConfig config = settings("adaptive_asha", example.max_length, example.max_trials);
  config.searcher.mode = example.mode;
  config.searcher.max_rungs = example.max_rungs;
  config.searcher.divisor = example.divisor;
  return config;
}

template <class Count>
std::map<std::uint64_t, std::uint64_t> plain(const std::map<Units, Count>& counts) {
  std::map<std::uint64_t, std::uint64_t> result;
  for (const auto& [length, trials] : counts) {
    result[engine::count(length)] = static_cast<std::uint64_t>(trials);
  }
  return result;
}

TEST(AdaptiveAsha, PreviewsTheExamplesOfTheSpecification) {
  for (const Example& example : examples()) {
    const ExperimentConfig config = config_of(example);
    const Preview preview = kind_of(config).preview(config);
    std::vector<std::pair<std::vector<std::uint64_t>, std::uint64_t>> brackets;
    for (const engine::BracketPreview& bracket : preview.brackets) {
      std::vector<std::uint64_t> lengths;
      for (const Units length : bracket.lengths) {
        lengths.push_back(engine::count(length));
      }
      brackets.emplace_back(std::move(lengths), static_cast<std::uint64_t>(bracket.trials));
    }
    EXPECT_EQ(brackets, example.brackets);
    EXPECT_EQ(plain(preview.final_counts), example.final_counts);
    EXPECT_EQ(static_cast<std::uint64_t>(preview.trials), example.max_trials);
    std::uint64_t total = 0;
    for (const auto& [length, trials] : example.final_counts) {
      total += length * trials;
    }
    EXPECT_EQ(static_cast<std::uint64_t>(preview.total_length), total);
    EXPECT_EQ(static_cast<std::uint64_t>(preview.full_length), example.max_length * example.max_trials);
  }
}

// With equal metrics the final counts do not depend on the order of reports, nor on how many run at once.
TEST(AdaptiveAsha, RunsTheExamplesAsPreviewed) {
  for (const Example& example : examples()) {
    for (const std::uint64_t slots : {1U, 16U}) {
      ExperimentConfig config = config_of(example);
      config.searcher.max_concurrent_trials = slots;
      contract::FaultPlan equal_metrics;
      equal_metrics.metrics = 1;
      Course course(kind_of(config), true, config, equal_metrics, slots);
      course.run();
      EXPECT_EQ(plain(course.final_counts()), example.final_counts) << slots << " slots";
    }
  }
}

TEST(AdaptiveAsha, RunsAnySettingsAsPreviewedWhenMetricsAreEqual) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    engine::Draw draw(seed, engine::TrialNumber(0), "previews");
    ExperimentConfig config = settings("adaptive_asha", 1 + draw.below(300), 1 + draw.below(80));
    config.searcher.mode = static_cast<AshaMode>(draw.below(3));
    config.searcher.divisor = 1.5 + 0.5 * static_cast<double>(draw.below(6));
    config.searcher.max_rungs = 1 + draw.below(6);
    config.searcher.stop_once = draw.below(2) == 0;
    config.searcher.max_concurrent_trials = draw.below(10);
    contract::FaultPlan equal_metrics;
    equal_metrics.metrics = 1;
    Course course(kind_of(config), true, config, equal_metrics, seed);
    course.run();
    EXPECT_EQ(plain(course.final_counts()), plain(kind_of(config).preview(config).final_counts));
  }
}

TEST(AdaptiveAsha, TrialsOfTheStoppingTypeAllReachTheTopWhenMetricsAreEqual) {
  ExperimentConfig config = config_of(examples()[0]);
  config.searcher.stop_once = true;
  const Preview preview = kind_of(config).preview(config);
  EXPECT_EQ(plain(preview.final_counts), (std::map<std::uint64_t, std::uint64_t>{{1000, 100}}));
  EXPECT_EQ(preview.total_length, preview.full_length);
}

TEST(AdaptiveAsha, PreviewTellsTheShares) {
  ExperimentConfig config = config_of(examples()[0]);
  const Preview preview = kind_of(config).preview(config);
  EXPECT_EQ(preview.brackets[0].share, 6U);
  EXPECT_EQ(preview.brackets[1].share, 5U);
  EXPECT_EQ(preview.brackets[2].share, 5U);
}

TEST(AdaptiveAsha, WarnsWhenARungKeepsNoTrial) {
  ExperimentConfig config = settings("adaptive_asha", 1000, 10);
  config.searcher.bracket_rungs = {4};
  const Preview preview = kind_of(config).preview(config);
  ASSERT_EQ(preview.warnings.size(), 2U);
  EXPECT_EQ(preview.warnings[1].find("the first rung trains 15 of 1000 batches (1.5 %)"), 0U);
  EXPECT_EQ(preview.warnings[0],
            "no trial in bracket 0 trains beyond length 62: a divisor of 4 promotes none of 2 trials; raise "
            "max_trials, lower the divisor or use fewer rungs");
}

TEST(AdaptiveAsha, WarnsOfCollapsedRungs) {
  ExperimentConfig config = settings("adaptive_asha", 10, 1000);
  config.searcher.bracket_rungs = {4};
  const Preview preview = kind_of(config).preview(config);
  ASSERT_EQ(preview.warnings.size(), 1U);
  EXPECT_EQ(preview.warnings[0].find("bracket 0 has 3 rungs instead of 4"), 0U);
}

TEST(AdaptiveAsha, WarnsOfMoreBracketsThanTrials) {
  ExperimentConfig config = settings("adaptive_asha", 10, 2);
  config.searcher.bracket_rungs = {1, 1, 1};
  const Preview preview = kind_of(config).preview(config);
  EXPECT_EQ(preview.brackets.size(), 2U);
  ASSERT_EQ(preview.warnings.size(), 1U);
  EXPECT_EQ(preview.warnings[0].find("only 2 of 3 brackets exist"), 0U);
}

TEST(AdaptiveAsha, PlansForNoMoreThanAFiniteSpaceHolds) {
  ExperimentConfig config = settings("adaptive_asha", 16, 100);
  config.space = test::space_of({{"n", test::int_range(1, 10)}});
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  const Preview preview = kind_of(config).preview(config);
  EXPECT_EQ(static_cast<std::uint64_t>(preview.trials), 10U);
  EXPECT_EQ(preview.warnings.back().find("the space has only 10 configurations"), 0U);
}

TEST(AdaptiveAsha, RefusesMoreRungsThanMakeSense) {
  ExperimentConfig config = settings("adaptive_asha", 1'000'000, 1'000'000);
  for (const double divisor : {1.0001, 1.0000000000000002}) {
    config.searcher.divisor = divisor;
    config.searcher.max_rungs = 101;
    engine::Problems problems;
    kind_of(config).check(config, problems);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(engine::describe(problems[0]),
              "searcher.max_rungs: is 101, which with a divisor of " + engine::python_float(divisor) +
                  " comes to more than 100 rungs (at most 100, or a larger divisor)");
    config.searcher.max_rungs = 100;
    problems.clear();
    kind_of(config).check(config, problems);
    EXPECT_TRUE(problems.empty());
  }
}

TEST(AdaptiveAsha, PreviewsADivisorAsCloseToOneAsCanBe) {
  ExperimentConfig config = settings("adaptive_asha", 1'000'000, 1'000'000);
  config.searcher.divisor = 1.0000000000000002;
  EXPECT_EQ(static_cast<std::uint64_t>(kind_of(config).preview(config).trials), 1'000'000U);
}

TEST(PlanBrackets, LogarithmsAreExact) {
  engine::SearcherConfig searcher = settings("adaptive_asha", 243, 243).searcher;
  searcher.divisor = 3;
  searcher.max_rungs = 9;
  EXPECT_EQ(deepest_bracket(searcher, 243), 6U);
  EXPECT_EQ(deepest_bracket(searcher, 242), 5U);
}

TEST(PlanBrackets, StandardTakesTheDeeperHalf) {
  engine::SearcherConfig searcher = settings("adaptive_asha", 100'000, 100'000).searcher;
  std::vector<std::uint64_t> rungs;
  for (const BracketPlan& bracket : plan_brackets(searcher, 100'000)) {
    rungs.push_back(bracket.rungs);
  }
  EXPECT_EQ(rungs, (std::vector<std::uint64_t>{5, 4, 3}));
}

TEST(PlanBrackets, GivenRungsAreTakenMostFirst) {
  engine::SearcherConfig searcher = settings("adaptive_asha", 64, 30).searcher;
  searcher.bracket_rungs = {2, 4, 3};
  std::vector<std::uint64_t> rungs;
  for (const BracketPlan& bracket : plan_brackets(searcher, 30)) {
    rungs.push_back(bracket.rungs);
  }
  EXPECT_EQ(rungs, (std::vector<std::uint64_t>{4, 3, 2}));
}

TEST(PlanBrackets, TrialsAlwaysAddUpAndEveryBracketHasOne) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    engine::Draw draw(seed, engine::TrialNumber(0), "plans");
    engine::SearcherConfig searcher = settings("adaptive_asha", 1 + draw.below(100'000), 1).searcher;
    constexpr double divisors[] = {2, 3, 4, 1.1, 1.0001, 2.5, 1000, 1e15};
    searcher.divisor = divisors[draw.below(8)];
    searcher.mode = static_cast<AshaMode>(draw.below(3));
    searcher.max_rungs = 1 + draw.below(12);
    if (draw.below(2) == 0) {
      for (std::uint64_t i = 1 + draw.below(6); i > 0; --i) {
        searcher.bracket_rungs.push_back(1 + draw.below(draw.below(4) == 0 ? 100 : 6));
      }
    }
    const std::uint64_t trials = draw.below(5) == 0 ? 1 + draw.below(INT64_MAX) : 1 + draw.below(60);
    std::uint64_t sum = 0;
    for (const BracketPlan& bracket : plan_brackets(searcher, trials)) {
      EXPECT_GE(bracket.trials, 1U) << "seed " << seed;
      sum += bracket.trials;
    }
    ASSERT_EQ(sum, trials) << "seed " << seed;
  }
}

TEST(PlanBrackets, WeightsAreExactWhereDoublesAreNot) {
  engine::SearcherConfig searcher = settings("adaptive_asha", 1000, 1).searcher;
  searcher.divisor = 2;
  searcher.bracket_rungs = {3, 2};
  // w = 4/3 : 2/2, so bracket 1 gets floor(3N/7).
  const std::uint64_t trials = 9'007'199'254'740'997;  // 2^53 + 5, which a double cannot hold.
  const std::vector<BracketPlan> plan = plan_brackets(searcher, trials);
  EXPECT_EQ(plan[1].trials, trials / 7 * 3 + trials % 7 * 3 / 7);
}

}  // namespace
}  // namespace hpsearch::searchers
