#include "hpsearch/searchers/stopping_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "settings.hpp"

// What the conformance tables do not show: refused settings, warnings, and trials that end.

namespace hpsearch::searchers {
namespace {

using engine::ExitReason;
using engine::Reason;
using engine::StoppingConfig;
using engine::StoppingRule;
using engine::TrialNumber;
using test::ExperimentConfig;
using test::score;
using test::settings;
using test::Units;
using testing::ElementsAre;

StoppingConfig median(std::uint64_t least_trials) {
  StoppingConfig rules;
  rules.rule = StoppingRule::median;
  rules.least_trials = least_trials;
  rules.after = 5;
  rules.every = 5;
  return rules;
}

StoppingRules rules_of(const StoppingConfig& config) {
  return StoppingRules(config, Units{20}, engine::Goal::minimize);
}

std::vector<std::string> problems_of(const ExperimentConfig& config) {
  engine::Problems problems;
  test::kind_of(config).check(config, problems);
  std::vector<std::string> texts;
  for (const engine::Problem& problem : problems) {
    texts.push_back(engine::describe(problem));
  }
  return texts;
}

TEST(StoppingRules, RetriedTrialKeepsItsResults) {
  StoppingRules rules = rules_of(median(1));
  rules.on_reported(TrialNumber(0), Units{5}, score(1));
  rules.on_exited(TrialNumber(0), ExitReason::errored);
  rules.on_reported(TrialNumber(0), Units{5}, score(9));  // Once more, from the beginning.
  EXPECT_FALSE(rules.early_stop(TrialNumber(0)));
  rules.on_reported(TrialNumber(1), Units{5}, score(2));
  ASSERT_TRUE(rules.early_stop(TrialNumber(1)));
  EXPECT_EQ(rules.early_stop(TrialNumber(1))->size, 2U) << "one result of each trial";
  rules.on_exited(TrialNumber(0), ExitReason::invalid_hp);
  rules.on_reported(TrialNumber(2), Units{5}, score(3));
  EXPECT_EQ(rules.early_stop(TrialNumber(2))->size, 2U) << "those of invalid hyperparameters leave";
}

TEST(StoppingRules, LaterReportTakesTheDecisionBack) {
  StoppingRules rules = rules_of(median(1));
  rules.on_reported(TrialNumber(0), Units{5}, score(1));
  rules.on_reported(TrialNumber(1), Units{5}, score(2));
  EXPECT_TRUE(rules.early_stop(TrialNumber(1)));
  rules.on_reported(TrialNumber(1), Units{6}, score(2));  // Its experiment was stopping, and was reopened.
  EXPECT_FALSE(rules.early_stop(TrialNumber(1)));
}

TEST(StoppingRules, ClosedTrialIsForgottenAndItsResultsStay) {
  StoppingRules rules = rules_of(median(2));
  rules.on_reported(TrialNumber(0), Units{5}, score(1));
  rules.on_closed(TrialNumber(0));
  rules.on_reported(TrialNumber(1), Units{5}, score(1));
  rules.on_exited(TrialNumber(1), ExitReason::user_stopped);
  rules.on_reported(TrialNumber(2), Units{5}, score(2));
  EXPECT_TRUE(rules.early_stop(TrialNumber(2)));
  EXPECT_FALSE(rules.early_stop(TrialNumber(0)));
}

TEST(StoppingRules, MoreThanAHundredComparisonsAreRefused) {
  ExperimentConfig config = settings("random", 1000, 10);
  config.searcher.stopping = median(1);
  config.searcher.stopping.every = 9;
  EXPECT_THAT(problems_of(config),
              ElementsAre("searcher.stopping.every: leads to 111 comparisons of each trial (a length that "
                          "leads to at most 100)"));
  config.searcher.stopping.every = 10;
  EXPECT_THAT(problems_of(config), ElementsAre());
  config.searcher.stopping.every.reset();
  EXPECT_EQ(StoppingRules::comparisons(config.searcher.stopping, Units{1000}), 10U);
}

TEST(StoppingRules, RuleThatStopsNoTrialIsAWarning) {
  ExperimentConfig config = settings("random", 10, 5);
  config.searcher.stopping = median(5);
  EXPECT_THAT(test::kind_of(config).preview(config).warnings,
              ElementsAre("searcher.stopping.rule stops no trial: one is compared with at least 5 others "
                          "(least_trials), and there are 5 in all"));
  config.searcher.stopping = median(1);
  config.searcher.stopping.after = 10;
  config.searcher.stopping.patience = 10;
  EXPECT_THAT(
      test::kind_of(config).preview(config).warnings,
      ElementsAre("searcher.stopping.rule stops no trial: the first comparison, at 10 batches, is not "
                  "before the full length",
                  "searcher.stopping.patience stops no trial: it is not below max_length"));
}

TEST(StoppingRules, StoppedTrialCountsAndIsNotReplaced) {
  ExperimentConfig config = settings("random", 10, 2);
  config.searcher.stopping.patience = 1;
  const std::unique_ptr<engine::Searcher> searcher = test::kind_of(config).make(config);
  for (std::uint64_t trial = 0; trial < 2; ++trial) {
    const engine::Next next = searcher->next();
    const auto& create = std::get<engine::CreateTrial>(next);
    searcher->on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
    searcher->on_event(engine::TrialReported{create.trial, Units{1}, score(1)});
    EXPECT_FALSE(searcher->early_stop(create.trial));
    searcher->on_event(engine::TrialReported{create.trial, Units{2}, score(1)});
    ASSERT_TRUE(searcher->early_stop(create.trial));
    EXPECT_EQ(searcher->early_stop(create.trial)->why, Reason::Why::no_improvement);
    searcher->on_event(engine::TrialWasClosed{create.trial});
  }
  EXPECT_TRUE(std::holds_alternative<engine::Finished>(searcher->next()));
  EXPECT_EQ(searcher->progress(), 1.0);
}

}  // namespace
}  // namespace hpsearch::searchers
