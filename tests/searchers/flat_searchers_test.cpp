#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "settings.hpp"

// single, random and grid: what each promises beyond the contract.

namespace hpsearch::searchers {
namespace {

using engine::CreateTrial;
using engine::ExitReason;
using engine::Finished;
using engine::Problems;
using engine::Reason;
using engine::Searcher;
using engine::TrialNumber;
using test::categorical;
using test::double_range;
using test::ExperimentConfig;
using test::int_range;
using test::kind_of;
using test::settings;
using test::space_of;
using test::Units;
using test::Value;
using test::with_count;

std::unique_ptr<Searcher> make(const ExperimentConfig& config) {
  return kind_of(config).make(config);
}

Problems problems_of(const ExperimentConfig& config) {
  Problems problems;
  if (const auto check = kind_of(config).check; check != nullptr) {
    check(config, problems);
  }
  return problems;
}

CreateTrial start(Searcher& searcher) {
  const engine::Next next = searcher.next();
  const auto* create = std::get_if<CreateTrial>(&next);
  if (create == nullptr) {
    ADD_FAILURE() << "no trial to start";
    return {};
  }
  searcher.on_event(engine::TrialWasCreated{create->trial, create->hparams, create->length});
  return *create;
}

void finish(Searcher& searcher, TrialNumber trial, Units length) {
  searcher.on_event(engine::TrialValidated{trial, length, test::score(0)});
  EXPECT_EQ(searcher.verdict(trial).action, engine::Verdict::Action::stop);
  EXPECT_EQ(searcher.verdict(trial).reason.why, Reason::Why::max_length);
  searcher.on_event(engine::TrialWasClosed{trial});
}

void exit(Searcher& searcher, TrialNumber trial, ExitReason reason) {
  searcher.on_event(engine::TrialExited{trial, reason});
}

bool is_finished(const Searcher& searcher) {
  return std::holds_alternative<Finished>(searcher.next());
}

// --- single ---

TEST(Single, RunsOneTrialToTheFullLength) {
  ExperimentConfig config = settings("single", 30);
  config.space = space_of({{"lr", 0.1}, {"optimizer", Value::Map{{"name", "sgd"}}}});
  const auto searcher = make(config);
  const CreateTrial trial = start(*searcher);
  EXPECT_EQ(trial.length, Units{30});
  EXPECT_EQ(engine::compact_json(trial.hparams), R"({"lr":0.1,"optimizer":{"name":"sgd"}})");
  EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next()));
  searcher->on_event(engine::TrialReported{trial.trial, Units{15}, test::score(0)});
  EXPECT_DOUBLE_EQ(searcher->progress(), 0.5);
  finish(*searcher, trial.trial, Units{30});
  EXPECT_TRUE(is_finished(*searcher));
  EXPECT_EQ(searcher->progress(), 1.0);
}

TEST(Single, ReplacesNothing) {
  ExperimentConfig config = settings("single", 30);
  config.space = space_of({{"lr", 0.1}});
  const auto searcher = make(config);
  exit(*searcher, start(*searcher).trial, ExitReason::invalid_hp);
  EXPECT_TRUE(is_finished(*searcher));
}

TEST(Single, RunsOneConfigurationDrawnFromItsRanges) {
  ExperimentConfig config = settings("single", 30);
  config.experiment_seed = 42;
  config.space = space_of({{"a", 1}, {"lr", double_range(0, 1)}});
  EXPECT_TRUE(problems_of(config).empty());
  const auto searcher = make(config);
  const CreateTrial trial = start(*searcher);
  EXPECT_EQ(trial.hparams, config.space.sample(42, TrialNumber(0)));
  finish(*searcher, trial.trial, Units{30});
  EXPECT_TRUE(is_finished(*searcher));
}

// --- random ---

TEST(Random, TrialsAreDrawsOfTheirNumber) {
  ExperimentConfig config = settings("random", 10, 5);
  config.experiment_seed = 42;
  const auto searcher = make(config);
  for (std::uint64_t number = 0; number < 5; ++number) {
    EXPECT_EQ(start(*searcher).hparams, config.space.sample(42, TrialNumber(number)));
  }
}

TEST(Random, GivenPointsGoFirst) {
  ExperimentConfig config = settings("random", 10, 3);
  config.searcher.points_to_evaluate = {Value::Map{{"lr", 0.25}}};
  const auto searcher = make(config);
  const CreateTrial given = start(*searcher);
  EXPECT_EQ(given.reason.why, Reason::Why::given_point);
  EXPECT_EQ(given.hparams, Value(Value::Map{{"lr", 0.25}}));
  const CreateTrial drawn = start(*searcher);
  EXPECT_EQ(drawn.reason.why, Reason::Why::new_trial);
  EXPECT_EQ(drawn.hparams, config.space.sample(0, TrialNumber(1)));
}

TEST(Random, MissingPartOfAGivenPointIsDrawnAndNamed) {
  ExperimentConfig config = settings("random", 10, 4);
  config.space = space_of({{"a", double_range(0, 1)}, {"b", double_range(0, 1)}, {"c", double_range(0, 1)}});
  config.experiment_seed = 7;
  config.searcher.points_to_evaluate = {Value::Map{{"b", 0.25}}, Value::Map{{"b", 0.25}}, Value::Map{}};
  const auto searcher = make(config);
  for (std::uint64_t number = 0; number < 3; ++number) {
    const CreateTrial given = start(*searcher);
    Value::Map expected = *config.space.sample(7, TrialNumber(number)).as_map();
    if (number < 2) {
      expected["b"] = 0.25;
    }
    EXPECT_EQ(given.hparams, Value(expected)) << number;
    EXPECT_EQ(given.reason.why, Reason::Why::given_point);
    EXPECT_EQ(given.reason.detail, number < 2 ? "a, c drawn at random" : "a, b, c drawn at random");
  }
  EXPECT_EQ(start(*searcher).reason.why, Reason::Why::new_trial);
}

TEST(Random, OnlyInvalidTrialsAreReplaced) {
  const auto searcher = make(settings("random", 10, 4));
  exit(*searcher, start(*searcher).trial, ExitReason::errored);
  exit(*searcher, start(*searcher).trial, ExitReason::user_canceled);
  exit(*searcher, start(*searcher).trial, ExitReason::user_stopped);
  exit(*searcher, start(*searcher).trial, ExitReason::invalid_hp);
  const CreateTrial replacement = start(*searcher);
  EXPECT_EQ(replacement.reason.why, Reason::Why::replacement);
  EXPECT_EQ(replacement.trial, TrialNumber(4));
  finish(*searcher, replacement.trial, Units{10});
  EXPECT_TRUE(is_finished(*searcher));
  EXPECT_EQ(searcher->progress(), 1.0);
}

TEST(Random, GivesUpWhenMoreThanMaxTrialsWereInvalid) {
  const auto searcher = make(settings("random", 10, 3));
  for (int i = 0; i < 3; ++i) {
    exit(*searcher, start(*searcher).trial, ExitReason::invalid_hp);
  }
  EXPECT_FALSE(is_finished(*searcher));  // Three replacements are allowed, and this is the third:
  exit(*searcher, start(*searcher).trial, ExitReason::invalid_hp);
  const engine::Next next = searcher->next();
  ASSERT_TRUE(std::holds_alternative<Finished>(next));
  ASSERT_TRUE(std::get<Finished>(next).problem.has_value());
  EXPECT_NE(std::get<Finished>(next).problem->find("invalid"), std::string::npos);
}

TEST(Random, ProgressIsTrainedLengthOverPlannedLength) {
  const auto searcher = make(settings("random", 100, 4));
  const TrialNumber first = start(*searcher).trial;
  const TrialNumber second = start(*searcher).trial;
  searcher->on_event(engine::TrialReported{first, Units{50}, test::score(0)});
  EXPECT_DOUBLE_EQ(searcher->progress(), 0.125);
  exit(*searcher, second, ExitReason::errored);
  EXPECT_DOUBLE_EQ(searcher->progress(), 0.375);
  searcher->on_event(
      engine::TrialReported{first, Units{20}, test::score(0)});  // A restart trains some of it again.
  EXPECT_DOUBLE_EQ(searcher->progress(), 0.375);
}

ExperimentConfig small_space(std::uint64_t max_trials) {
  ExperimentConfig config = settings("random", 10, max_trials);
  config.space = space_of({{"act", categorical({"relu", "gelu", "relu"})}, {"layers", int_range(2, 4)}});
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  return config;
}

TEST(Random, RejectingDuplicatesVisitsAFiniteSpaceOnce) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    ExperimentConfig config = small_space(100);
    config.experiment_seed = seed;
    const auto searcher = make(config);
    std::set<std::string> started;
    for (int i = 0; i < 6; ++i) {
      const CreateTrial trial = start(*searcher);
      EXPECT_TRUE(started.insert(engine::compact_json(trial.hparams)).second);
      finish(*searcher, trial.trial, Units{10});
    }
    const engine::Next next = searcher->next();
    ASSERT_TRUE(std::holds_alternative<Finished>(next));
    EXPECT_FALSE(std::get<Finished>(next).problem.has_value());
    EXPECT_EQ(std::get<Finished>(next).note,
              "the space is exhausted: all its configurations were tried, in 6 trials; 100 were asked for");
    EXPECT_EQ(searcher->progress(), 1.0);
  }
}

TEST(Random, AnInvalidConfigurationIsNotTriedAgain) {
  const auto searcher = make(small_space(6));
  for (int i = 0; i < 6; ++i) {
    exit(*searcher, start(*searcher).trial, ExitReason::invalid_hp);
  }
  const engine::Next next = searcher->next();
  ASSERT_TRUE(std::holds_alternative<Finished>(next));
  EXPECT_FALSE(std::get<Finished>(next).note.empty());
}

TEST(Random, FirstDrawsAreTheSameWhetherDuplicatesAreAllowedOrNot) {
  ExperimentConfig config = small_space(6);
  const auto searcher = make(config);
  EXPECT_EQ(start(*searcher).hparams, config.space.sample(0, TrialNumber(0)));
}

// --- grid ---

TEST(Grid, VisitsEveryPointInOrder) {
  ExperimentConfig config = settings("grid", 10);
  config.space = space_of({{"b", categorical({"x", "y"})}, {"a", with_count(int_range(1, 3), 3)}});
  const auto searcher = make(config);
  std::vector<std::string> started;
  for (int i = 0; i < 6; ++i) {
    started.push_back(engine::compact_json(start(*searcher).hparams));
  }
  EXPECT_EQ(started,
            (std::vector<std::string>{R"({"a":1,"b":"x"})", R"({"a":1,"b":"y"})", R"({"a":2,"b":"x"})",
                                      R"({"a":2,"b":"y"})", R"({"a":3,"b":"x"})", R"({"a":3,"b":"y"})"}));
  EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next()));
}

TEST(Grid, AnEarlyExitConsumesItsPoint) {
  ExperimentConfig config = settings("grid", 10);
  config.space = space_of({{"b", categorical({"x", "y"})}});
  const auto searcher = make(config);
  exit(*searcher, start(*searcher).trial, ExitReason::invalid_hp);
  exit(*searcher, start(*searcher).trial, ExitReason::errored);
  EXPECT_TRUE(is_finished(*searcher));
}

ExperimentConfig huge_grid() {
  ExperimentConfig config = settings("grid", 10);
  const Value::Map axis = with_count(double_range(0, 1), 2'000'000'000);
  config.space = space_of({{"a", axis}, {"b", axis}, {"c", axis}});
  return config;
}

TEST(Grid, AGridBeyond64BitsCostsNothingUntilItRuns) {
  const auto searcher = make(huge_grid());
  const CreateTrial trial = start(*searcher);
  searcher->on_event(engine::TrialReported{trial.trial, Units{5}, test::score(0)});
  EXPECT_GT(searcher->progress(), 0.0);
  EXPECT_LT(searcher->progress(), 1e-20);
  finish(*searcher, trial.trial, Units{10});
  EXPECT_FALSE(is_finished(*searcher));
}

TEST(Grid, PreviewKnowsTheExactSize) {
  const engine::Preview preview = kind_of(huge_grid()).preview(huge_grid());
  EXPECT_EQ(engine::to_text(preview.trials), "8000000000000000000000000000");
  EXPECT_EQ(engine::to_text(preview.full_length), "80000000000000000000000000000");
  ASSERT_EQ(preview.warnings.size(), 1U);
  EXPECT_NE(preview.warnings[0].find("8000000000000000000000000000 points"), std::string::npos);
}

TEST(Grid, NamesEveryRangeWithoutCount) {
  ExperimentConfig config = settings("grid", 10);
  config.space =
      space_of({{"a", int_range(1, 3)}, {"net", Value::Map{{"lr", double_range(0, 1)}}}, {"z", 1}});
  const Problems problems = problems_of(config);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].path, "hyperparameters.a.count");
  EXPECT_EQ(problems[1].path, "hyperparameters.net.lr.count");
}

TEST(Grid, AnEmptySpaceIsAnError) {
  ExperimentConfig config = settings("grid", 10);
  config.space = engine::Space();
  ASSERT_EQ(problems_of(config).size(), 1U);
  EXPECT_EQ(problems_of(config)[0].path, "hyperparameters");
}

TEST(Grid, AGridBeyond127BitsIsAnError) {
  ExperimentConfig config = settings("grid", 10);
  const Value::Map axis = with_count(double_range(0, 1), 2'000'000'000);
  config.space = space_of({{"a", axis}, {"b", axis}, {"c", axis}, {"d", axis}, {"e", axis}});
  EXPECT_EQ(problems_of(config).size(), 1U);
}

}  // namespace
}  // namespace hpsearch::searchers
