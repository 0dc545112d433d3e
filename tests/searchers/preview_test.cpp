#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "messages.hpp"
#include "settings.hpp"

// What a preview says of any size, at once, and what it warns of.

namespace hpsearch::searchers {
namespace {

using engine::Cardinality;
using engine::Preview;
using engine::to_text;
using test::categorical;
using test::ExperimentConfig;
using test::int_range;
using test::kind_of;
using test::settings;
using test::Units;
using test::Value;
using test::with_count;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Preview preview_of(const ExperimentConfig& config) {
  return kind_of(config).preview(config);
}

/// A grid of 10^(3 axes) points.
ExperimentConfig huge_grid(int axes) {
  ExperimentConfig config = settings("grid", 10);
  Value::Map space;
  for (int axis = 0; axis < axes; ++axis) {
    space["x" + std::to_string(axis)] = with_count(int_range(0, 999'999), 1000);
  }
  config.space = test::space_of(space);
  return config;
}

TEST(Preview, CountsAGridOf10ToThe18) {
  const Preview preview = preview_of(huge_grid(6));
  EXPECT_EQ(to_text(preview.trials), "1000000000000000000");
  EXPECT_EQ(to_text(preview.total_length), "10000000000000000000");
  EXPECT_EQ(to_text(preview.final_counts.at(Units{10})), "1000000000000000000");
}

TEST(Preview, CountsAGridOf10ToThe30) {
  const Preview preview = preview_of(huge_grid(10));
  EXPECT_EQ(to_text(preview.trials), "1000000000000000000000000000000");
  EXPECT_EQ(to_text(preview.full_length), "10000000000000000000000000000000");
}

TEST(Preview, AGridThatTrainsLongerThanCanBeCounted) {
  ExperimentConfig config = huge_grid(12);
  config.searcher.max_length = Units{100};
  EXPECT_EQ(to_text(preview_of(config).total_length), "1" + std::string(38, '0'));
  config.searcher.max_length = Units{1000};
  EXPECT_EQ(to_text(preview_of(config).trials), "1" + std::string(36, '0'));
  EXPECT_TRUE(preview_of(config).total_length == engine::past_counting);
  EXPECT_TRUE(preview_of(config).full_length == engine::past_counting);
}

// O(axes) each: a loop over the points would outlast the house.
TEST(Preview, AGridOf10ToThe30StartsAtOnce) {
  const ExperimentConfig config = huge_grid(10);
  const auto searcher = kind_of(config).make(config);
  for (int trial = 0; trial < 3; ++trial) {
    const engine::Next next = searcher->next();
    ASSERT_TRUE(std::holds_alternative<engine::CreateTrial>(next));
    const auto& create = std::get<engine::CreateTrial>(next);
    EXPECT_EQ(create.hparams, config.space.grid_point(static_cast<Cardinality>(trial)));
    searcher->on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
  }
}

TEST(Preview, SharesOutTrialsPastWhatADoubleCanCount) {
  ExperimentConfig config = settings("adaptive_asha", 1'000'000, (1ULL << 62) + 1);
  const Preview preview = preview_of(config);
  Cardinality sum = 0;
  for (const engine::BracketPreview& bracket : preview.brackets) {
    sum += bracket.trials;
  }
  EXPECT_EQ(to_text(sum), "4611686018427387905");
  Cardinality ended = 0;
  for (const auto& [length, trials] : preview.final_counts) {
    ended += trials;
  }
  EXPECT_EQ(to_text(ended), "4611686018427387905");
}

TEST(Preview, TellsWhoIsExpectedAtEachRung) {
  const Preview preview = preview_of(settings("adaptive_asha", 1000, 100));
  ASSERT_EQ(preview.brackets.size(), 3U);
  EXPECT_EQ(preview.brackets[0].reach, (std::vector<Cardinality>{70, 17, 4, 1}));
  EXPECT_EQ(preview.brackets[1].reach, (std::vector<Cardinality>{22, 5, 1}));
  EXPECT_EQ(preview.brackets[2].reach, (std::vector<Cardinality>{8, 2}));
}

// --- how many the stopping type lets pass, results in random order ---

ExperimentConfig stopping(std::uint64_t trials, double divisor, std::uint64_t rungs = 3) {
  ExperimentConfig config = settings("async_halving", 1'000'000'000, trials);
  config.searcher.num_rungs = rungs;
  config.searcher.divisor = divisor;
  config.searcher.stop_once = true;
  return config;
}

TEST(Preview, TheStoppingTypeLetsAtLeastOneReachTheTop) {
  EXPECT_EQ(preview_of(stopping(1, 4)).brackets[0].reach, (std::vector<Cardinality>{1, 1, 1}));
  // 1 + 1/2 + 1/3 + 1/4 + 1/5 = 2.28 of five; of these 1 + 1/2 and 0.28 times 1/3 of a third, 1.59.
  EXPECT_EQ(preview_of(stopping(5, 4)).brackets[0].reach, (std::vector<Cardinality>{5, 2, 2}));
}

TEST(Preview, TheStoppingTypePassesTheSumOfChances) {
  for (const double divisor : {1.1, 1.5, 2.0, 2.5, 3.0, 4.0, 10.0, 300.0, 5000.0}) {
    double sum = 0;
    for (std::uint64_t m = 1; m <= 200'000; ++m) {
      sum += std::max(std::floor(static_cast<double>(m) / divisor), 1.0) / static_cast<double>(m);
      if (m < 40 || m == 599 || m == 600 || m == 7'777 || m == 200'000) {
        const auto passed = static_cast<double>(preview_of(stopping(m, divisor, 2)).brackets[0].reach[1]);
        EXPECT_NEAR(passed, sum, 0.5 + 0.001 * sum) << m << " trials, divisor " << divisor;
      }
    }
  }
}

TEST(Preview, TheStoppingTypePassesOneInTheDivisorOfVeryMany) {
  for (const double divisor : {1.5, 3.0, 4.0, 1e6}) {
    const Preview preview = preview_of(stopping(1'000'000'000'000'000'000, divisor));
    EXPECT_NEAR(static_cast<double>(preview.brackets[0].reach[1]), 1e18 / divisor, 1e10 / divisor);
    EXPECT_NEAR(static_cast<double>(preview.brackets[0].reach[2]), 1e18 / divisor / divisor, 1e11 / divisor);
  }
}

/// How many of a search's trials train to each length, one after the other, each result a new draw.
std::vector<double> lived_reach(const ExperimentConfig& config, std::uint64_t seed) {
  const std::vector<Units> lengths = preview_of(config).brackets[0].lengths;
  const auto searcher = kind_of(config).make(config);
  engine::Draw draw(seed, engine::TrialNumber(0), "lived reach");
  std::vector<double> reach(lengths.size());
  for (auto next = searcher->next(); std::holds_alternative<engine::CreateTrial>(next);
       next = searcher->next()) {
    const auto& create = std::get<engine::CreateTrial>(next);
    searcher->on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
    engine::Verdict verdict{engine::Verdict::Action::train_on, create.length, {}};
    for (std::size_t rung = 0; verdict.action == engine::Verdict::Action::train_on; ++rung) {
      if (rung > 0) {
        searcher->on_event(engine::TrialWasPromoted{create.trial, verdict.length});
      }
      ++reach.at(rung);
      searcher->on_event(engine::TrialValidated{create.trial, verdict.length, test::score(draw.unit())});
      verdict = searcher->verdict(create.trial);
    }
    searcher->on_event(engine::TrialWasClosed{create.trial});
  }
  return reach;
}

// Sound searches fail this with a chance below 1e-5 for a new set of seeds: six means, each five standard
// errors off, besides the half that rounding takes and the tenth that the spread of a rung's number adds at
// the rung above.
TEST(Preview, TheStoppingTypePassesAsManyAsInLife) {
  const std::pair<std::uint64_t, double> searches[] = {{6, 4}, {40, 10}, {60, 3}};
  for (const auto& [trials, divisor] : searches) {
    const ExperimentConfig config = stopping(trials, divisor);
    constexpr std::uint64_t runs = 300;
    std::vector<double> sum(3);
    std::vector<double> squares(3);
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      const std::vector<double> reach = lived_reach(config, seed);
      for (std::size_t rung = 0; rung < reach.size(); ++rung) {
        sum[rung] += reach[rung];
        squares[rung] += reach[rung] * reach[rung];
      }
    }
    for (std::size_t rung = 1; rung < sum.size(); ++rung) {
      const double mean = sum[rung] / runs;
      const double error = std::sqrt((squares[rung] / runs - mean * mean) / runs);
      const auto expected = static_cast<double>(preview_of(config).brackets[0].reach[rung]);
      EXPECT_NEAR(mean, expected, 0.5 + (rung == 1 ? 0 : 0.1) + 5 * error)
          << trials << " trials, divisor " << divisor << ", rung " << rung;
    }
  }
}

// --- warnings ---

ExperimentConfig fifty_two_epochs(double divisor, std::uint64_t num_rungs) {
  ExperimentConfig config = settings("async_halving", 52, 100);
  config.unit = "epochs";
  config.searcher.divisor = divisor;
  config.searcher.num_rungs = num_rungs;
  return config;
}

TEST(PreviewWarnings, AFirstRungTooShortToTellAnything) {
  const Preview preview = preview_of(fifty_two_epochs(4, 4));
  ASSERT_EQ(preview.brackets[0].lengths, (std::vector<Units>{Units{1}, Units{3}, Units{13}, Units{52}}));
  EXPECT_MESSAGE(preview.warnings);
}

// What docs/benchmarks.md measured as good, and as bad.
TEST(PreviewWarnings, FollowTheMeasurements) {
  const auto warns = [](ExperimentConfig config) {
    const std::vector<std::string> warnings = preview_of(config).warnings;
    return !warnings.empty() && warnings[0].starts_with("the first rung trains");
  };
  EXPECT_TRUE(warns(fifty_two_epochs(4, 4))) << "1, 3, 13, 52";
  EXPECT_TRUE(warns(fifty_two_epochs(3, 4))) << "1, 5, 17, 52";
  EXPECT_FALSE(warns(fifty_two_epochs(4, 3))) << "3, 13, 52";
  EXPECT_FALSE(warns(fifty_two_epochs(3, 3))) << "5, 17, 52";
  EXPECT_FALSE(warns(fifty_two_epochs(2, 5))) << "3, 6, 13, 26, 52";
  ExperimentConfig best = fifty_two_epochs(3, 4);
  best.searcher.max_length = Units{81};
  EXPECT_FALSE(warns(best)) << "3, 9, 27, 81, of which the curves have 52";
  best.searcher.num_rungs = 5;
  EXPECT_TRUE(warns(best)) << "1, 3, 9, 27, 81";
}

TEST(PreviewWarnings, TheFirstRungComesNearATwentieth) {
  const std::pair<std::uint64_t, const char*> proposals[] = {
      {81, "divisor: 3 and num_rungs: 4 (rungs at 3, 9, 27, 81)"},
      {1000, "divisor: 3 and num_rungs: 4 (rungs at 37, 111, 333, 1000)"},
      {243, "divisor: 3 and num_rungs: 4 (rungs at 9, 27, 81, 243)"},
      {64, "divisor: 2 and num_rungs: 5 (rungs at 4, 8, 16, 32, 64)"},
  };
  for (const auto& [length, proposal] : proposals) {
    ExperimentConfig config = fifty_two_epochs(4, 8);
    config.searcher.max_length = Units{length};
    EXPECT_THAT(preview_of(config).warnings, Contains(HasSubstr(std::string("consider ") + proposal)));
  }
}

TEST(PreviewWarnings, AdviceForBracketsThatWereAskedForOneByOne) {
  ExperimentConfig config = settings("adaptive_asha", 81, 100);
  config.searcher.divisor = 3;
  config.searcher.bracket_rungs = {5, 4};
  EXPECT_THAT(
      preview_of(config).warnings,
      Contains(HasSubstr("consider divisor: 3 and bracket_rungs: [4, 3] (rungs at 3, 9, 27, 81 in the")));
  EXPECT_MESSAGE(preview_of(config).advice);
}

TEST(PreviewWarnings, NoneWhereTheFirstRungTellsEnough) {
  ExperimentConfig config = fifty_two_epochs(3, 3);
  EXPECT_THAT(preview_of(config).warnings, IsEmpty());
  EXPECT_THAT(preview_of(config).advice, IsEmpty());
}

TEST(PreviewWarnings, ProposalsHaveRungsThatReportsFallOn) {
  ExperimentConfig config = settings("async_halving", 1000, 1000);
  config.searcher.num_rungs = 6;
  config.min_validation_period = Units{50};
  EXPECT_THAT(preview_of(config).warnings,
              Contains(HasSubstr("consider divisor: 2 and num_rungs: 5 (rungs at 62, ")));
}

TEST(PreviewWarnings, OneRungBecauseOfALimit) {
  ExperimentConfig config = settings("adaptive_asha", 1000, 3);
  EXPECT_MESSAGE(preview_of(config).warnings);
  config = settings("adaptive_asha", 1000, 50);
  config.searcher.divisor = 60;
  EXPECT_MESSAGE(preview_of(config).warnings);
  config = settings("adaptive_asha", 3, 100);
  EXPECT_MESSAGE(preview_of(config).warnings);
  config = settings("adaptive_asha", 3, 3);
  EXPECT_MESSAGE(preview_of(config).warnings);
  config = settings("adaptive_asha", 1000, 100);
  config.space = test::space_of({{"n", test::int_range(1, 3)}});
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  EXPECT_THAT(preview_of(config).warnings,
              Contains(HasSubstr(": the number of configurations, which is 3, is below the divisor of 4")));
}

TEST(PreviewWarnings, OneRungThatWasAskedForIsNone) {
  ExperimentConfig config = settings("adaptive_asha", 1000, 3);
  config.searcher.max_rungs = 1;
  EXPECT_THAT(preview_of(config).warnings, IsEmpty());
  config.searcher.max_rungs = 5;
  config.searcher.bracket_rungs = {1};
  EXPECT_THAT(preview_of(config).warnings, IsEmpty());
  EXPECT_THAT(preview_of(settings("adaptive_asha", 1000, 8)).warnings, IsEmpty()) << "two rungs";
}

TEST(PreviewWarnings, RungsBelowTheReportingPeriod) {
  ExperimentConfig config = settings("async_halving", 64, 64);
  config.unit = "batches";
  config.searcher.num_rungs = 3;
  config.min_validation_period = Units{10};
  EXPECT_THAT(preview_of(config).warnings,
              Contains(AllOf(HasSubstr("the rung at 4 batches is below min_validation_period"),
                             HasSubstr("which is 10 batches"))));
  config.min_validation_period = Units{20};
  EXPECT_THAT(preview_of(config).warnings, Contains(HasSubstr("the rungs at 4, 16 batches are below")));
  config.min_validation_period = Units{4};
  EXPECT_THAT(preview_of(config).warnings, IsEmpty());
}

TEST(PreviewWarnings, StopOnceWhereNothingCanBeResumed) {
  ExperimentConfig config = settings("async_halving", 64, 64);
  config.searcher.num_rungs = 3;
  EXPECT_THAT(preview_of(config).warnings, IsEmpty());
  config.program_traits.begins_anew = true;
  EXPECT_THAT(preview_of(config).warnings, Contains(HasSubstr("stop_once: true")));
  config.searcher.stop_once = true;
  EXPECT_THAT(preview_of(config).warnings, IsEmpty());
}

TEST(PreviewWarnings, NoneOfSparseReportsWhenTheProgramValidatesOnDemand) {
  ExperimentConfig config = settings("async_halving", 64, 64);
  config.searcher.num_rungs = 3;
  config.min_validation_period = Units{10};
  EXPECT_EQ(preview_of(config).warnings.size(), 1U);
  config.program_traits.validates_on_demand = true;
  EXPECT_THAT(preview_of(config).warnings, IsEmpty());
}

TEST(PreviewWarnings, NoneOfLostTrainingWithOneRung) {
  ExperimentConfig config = settings("async_halving", 64, 64);
  config.program_traits.begins_anew = true;
  config.searcher.num_rungs = 1;
  EXPECT_THAT(preview_of(config).warnings, IsEmpty()) << "one rung pauses nobody";
}

TEST(PreviewWarnings, TooFewTrialsForTheDivisor) {
  ExperimentConfig config = settings("async_halving", 64, 3);
  config.searcher.num_rungs = 2;
  EXPECT_THAT(preview_of(config).warnings, Contains(HasSubstr("; raise max_trials")));
}

}  // namespace
}  // namespace hpsearch::searchers
