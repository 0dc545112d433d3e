#include "hpsearch/engine/search.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/searchers/registry.hpp"
#include "messages.hpp"

namespace hpsearch::engine {
namespace {

Value a_search(std::int64_t max_restarts) {
  return Value::Map{
      {"hyperparameters",
       Value::Map{{"x", Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}}}},
      {"max_restarts", max_restarts},
      {"searcher",
       Value::Map{{"name", "random"}, {"metric", "loss"}, {"max_length", 10}, {"max_trials", 3}}}};
}

Search opened(std::int64_t max_restarts = 0) {
  Result<Search> search = Search::open(a_search(max_restarts), searchers::registry(), 1);
  EXPECT_TRUE(search.has_value());
  return std::move(search).value();
}

TEST(Search, AUserWhoEndsATrialIsNamedForIt) {
  Search search = opened();
  const TrialNumber canceled = search.ask()->trial;
  ASSERT_TRUE(search.report(canceled, Units{4}, 0.5));
  ASSERT_TRUE(search.give_up(canceled, ExitReason::user_canceled, "enough"));
  EXPECT_EQ(search.experiment().trials[canceled.number()].state, TrialState::canceled);
  const TrialNumber stopped = search.ask()->trial;
  ASSERT_TRUE(search.give_up(stopped, ExitReason::user_stopped, "enough"));
  EXPECT_EQ(search.experiment().trials[stopped.number()].state, TrialState::stopped)
      << "although it measured nothing";
  EXPECT_EQ(search.give_up(stopped, ExitReason::user_stopped, "again").error().code, Errc::not_found);
  const TrialNumber last = search.ask()->trial;
  ASSERT_TRUE(search.report(last, Units{10}, 0.25));
  EXPECT_TRUE(search.finished());
  EXPECT_EQ(search.experiment().state, ExperimentState::completed);
}

TEST(Search, AFailedTrialComesBackWhileRestartsAreLeft) {
  Search search = opened(1);
  const TrialNumber trial = search.ask()->trial;
  ASSERT_TRUE(search.report(trial, Units{4}, 0.5));
  ASSERT_TRUE(search.give_up(trial, ExitReason::errored, "no memory"));
  EXPECT_EQ(search.ask()->trial, trial);
  ASSERT_TRUE(search.give_up(trial, ExitReason::errored, "no memory"));
  EXPECT_EQ(search.experiment().trials[trial.number()].state, TrialState::failed);
  EXPECT_NE(search.ask()->trial, trial);
}

// The engine waits a second before a third try, two before a fourth; a program that asks would wait for ever.
TEST(Search, AFailedTrialComesBackAtOnceEachTime) {
  std::vector<Event> events;
  Result<Search> opened = Search::open(a_search(3), searchers::registry(), 1,
                                       [&events](const Event& event) { events.push_back(event); });
  ASSERT_TRUE(opened.has_value());
  Search search = std::move(opened).value();
  for (int failures = 0; failures < 4; ++failures) {
    const std::optional<Search::Work> work = search.ask();
    ASSERT_TRUE(work.has_value()) << failures;
    EXPECT_EQ(work->trial, TrialNumber(0)) << failures;
    ASSERT_TRUE(search.give_up(work->trial, ExitReason::errored, "no memory"));
    if (failures == 1) {
      Result<Search> restored = Search::restore(events, searchers::registry());
      ASSERT_TRUE(restored.has_value());
      EXPECT_TRUE(restored->ask().has_value()) << "nor does one that was saved";
    }
  }
  EXPECT_EQ(search.experiment().trials[0].state, TrialState::failed);
  EXPECT_EQ(search.ask()->trial, TrialNumber(1));
}

TEST(Search, InvalidParametersAreReplaced) {
  Search search = opened();
  const TrialNumber trial = search.ask()->trial;
  ASSERT_TRUE(search.give_up(trial, ExitReason::invalid_hp, "x is too small"));
  EXPECT_TRUE(search.experiment().trials[trial.number()].invalid);
  EXPECT_EQ(search.ask()->trial, TrialNumber(1));
}

TEST(Search, TheBestOfRepeatedTrialsIsOfTheBestMean) {
  Value config = a_search(0);
  Value::Map& searcher = *(*config.as_map())["searcher"].as_map();
  searcher["repeats"] = 2;
  searcher["finalists"] = 2;
  Result<Search> opened = Search::open(config, searchers::registry(), 1);
  ASSERT_TRUE(opened.has_value());
  Search search = std::move(opened).value();
  for (const double metric : {0.5, 0.1, 0.2}) {
    ASSERT_TRUE(search.report(search.ask()->trial, Units{10}, metric));
  }
  EXPECT_EQ(search.best()->trial, TrialNumber(1));
  const std::optional<Search::Work> repeat = search.ask();
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->trial, TrialNumber(3));
  EXPECT_EQ(repeat->hparams, search.experiment().hparams[1]);
  ASSERT_TRUE(search.report(repeat->trial, Units{10}, 0.7));
  const TrialNumber last = search.ask()->trial;
  EXPECT_FALSE(search.finished());
  ASSERT_TRUE(search.report(last, Units{10}, 0.22));
  EXPECT_TRUE(search.finished());
  EXPECT_EQ(search.best()->trial, TrialNumber(2));  // 0.21, not 0.4.
  EXPECT_EQ(search.best()->metric, 0.2);
}

TEST(Search, MoreSlotsThanAnyMachineHasAreRefused) {
  for (const std::uint64_t slots : {std::uint64_t{1} << 60U, UINT64_MAX}) {
    const Result<Search> search = Search::open(a_search(0), searchers::registry(), slots);
    ASSERT_FALSE(search.has_value());
    EXPECT_MESSAGE(search.error().message);
  }
}

// Whatever a program counts: the trial goes on by what it measured.
TEST(Search, AStepBeyondAllLengthsCountsAsTheLongest) {
  Search search = opened();
  const TrialNumber trial = search.ask()->trial;
  const Result<Decision> decision = search.report(trial, Units{UINT64_MAX}, 0.25);
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->directive, Directive::stop);
  EXPECT_EQ(search.experiment().trials[trial.number()].state, TrialState::completed);
  EXPECT_EQ(search.best()->metric, 0.25);
}

}  // namespace
}  // namespace hpsearch::engine
