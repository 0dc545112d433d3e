#include "model/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hpsearch::searchers::model {
namespace {

using engine::TrialNumber;
using engine::Units;

History with_trials(int count) {
  History history(1);
  for (int i = 0; i < count; ++i) {
    const double at = 0.1 * i;
    history.created(std::vector{at}, static_cast<std::uint64_t>(i), Units{3});
  }
  return history;
}

TEST(History, ATrialIsPendingUntilItsResult) {
  History history = with_trials(2);
  ASSERT_EQ(history.pending().size(), 2U);
  history.result(TrialNumber(0), Units{3}, 0.5);
  ASSERT_EQ(history.pending().size(), 1U);
  EXPECT_EQ(history.pending()[0].trial, TrialNumber(1));
  history.promoted(TrialNumber(0), Units{9});
  ASSERT_EQ(history.pending().size(), 2U);
  EXPECT_EQ(history.pending()[1].target, Units{9});
  history.gone(TrialNumber(0));
  EXPECT_EQ(history.pending().size(), 1U);
  EXPECT_EQ(history.results().size(), 1U);
}

TEST(History, LateAndRepeatedEventsChangeNothing) {
  History history = with_trials(1);
  history.result(TrialNumber(0), Units{3}, 0.5);
  const std::uint64_t version = history.version();
  history.result(TrialNumber(0), Units{3}, 0.7);
  history.failed(TrialNumber(0));
  history.gone(TrialNumber(0));
  EXPECT_EQ(history.version(), version);
  EXPECT_EQ(history.results().size(), 1U);
}

TEST(History, BestGoesByTheLatestResultAndTiesToTheOlder) {
  History history = with_trials(4);
  for (const std::uint64_t trial : {3U, 1U, 0U, 2U}) {
    history.result(TrialNumber(trial), Units{3}, trial == 2 ? 0.1 : 0.6);
  }
  EXPECT_EQ(history.best(2), (std::vector{TrialNumber(0), TrialNumber(1)}));
  history.promoted(TrialNumber(0), Units{9});
  history.result(TrialNumber(0), Units{9}, 0.2);
  EXPECT_EQ(history.best(3), (std::vector{TrialNumber(1), TrialNumber(3), TrialNumber(0)}));
  history.promoted(TrialNumber(1), Units{9});
  history.failed(TrialNumber(1));
  EXPECT_EQ(history.best(9), (std::vector{TrialNumber(3), TrialNumber(0), TrialNumber(2)}));
}

TEST(History, AnInvalidTrialIsNoneOfTheBest) {
  History history = with_trials(2);
  history.result(TrialNumber(0), Units{3}, 0.9);
  history.result(TrialNumber(1), Units{3}, 0.5);
  history.invalid(TrialNumber(0));
  EXPECT_EQ(history.best(2), (std::vector{TrialNumber(1)}));
  EXPECT_EQ(history.results().size(), 2U);
}

TEST(History, ScoresAscendWhetherTheyWereAskedForBeforeOrNot) {
  History asked = with_trials(50);
  History silent = with_trials(50);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const double score = i % 7 == 3 ? std::nan("") : std::sin(static_cast<double>(i));
    asked.result(TrialNumber(i), Units{3}, score);
    silent.result(TrialNumber(i), Units{3}, score);
    if (i % 3 == 0) {
      static_cast<void>(asked.ascending(i + 1));
      static_cast<void>(asked.ascending(i / 2));
    }
  }
  for (const std::size_t count : {std::size_t{20}, std::size_t{50}}) {
    const auto these = asked.ascending(count);
    const auto those = silent.ascending(count);
    EXPECT_TRUE(std::is_sorted(these.begin(), these.end()));
    EXPECT_EQ(std::vector(these.begin(), these.end()), std::vector(those.begin(), those.end()));
    EXPECT_EQ(these.size(), count - (count == 20 ? 3 : 7));
  }
}

TEST(History, LatestIsAsOfSoManyResults) {
  History history = with_trials(2);
  history.result(TrialNumber(1), Units{3}, 0.5);
  history.promoted(TrialNumber(1), Units{9});
  history.failed(TrialNumber(1));
  const double none = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(history.latest(1), (std::vector{none, 0.5}));
  EXPECT_EQ(history.latest(2), (std::vector{none, none}));
  EXPECT_EQ(history.results()[1].length, Units{9});  // It failed on its way there.
}

}  // namespace
}  // namespace hpsearch::searchers::model
