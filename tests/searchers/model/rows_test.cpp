#include "model/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace hpsearch::searchers::model {
namespace {

using engine::TrialNumber;
using engine::Units;

TEST(RowPlan, FitsAreDueAtEightMoreAndLaterAtATwentiethMore) {
  const RowPlan plan(1, 8, 240);
  EXPECT_EQ(plan.fit_at(7).index, 0U);
  EXPECT_EQ(plan.fit_at(8).count, 8U);
  EXPECT_EQ(plan.fit_at(15).count, 8U);
  EXPECT_EQ(plan.fit_at(16).count, 16U);
  EXPECT_EQ(plan.fit_at(16).index, 2U);
  const auto late = plan.fit_at(10'000);
  EXPECT_GT(late.count, 9'500U);
  EXPECT_EQ(plan.fit_at(late.count - 1).index + 1, late.index);
}

TEST(RowPlan, RowsNeverExceedTheirRoom) {
  for (const std::size_t size : {64U, 240U, 500U}) {
    const RowPlan plan(1, 8, size);
    History history(1);
    for (std::uint64_t i = 0; i < 3000; ++i) {
      history.created(std::vector{0.5}, i, Units{1});
      history.result(TrialNumber(i), Units{1}, std::sin(static_cast<double>(i)));
    }
    for (std::size_t results = 8; results < 3000; results += 7) {
      const std::size_t chosen = plan.chosen_at(results);
      ASSERT_LE(chosen, results);
      const auto rows = plan.choose(history, chosen);
      ASSERT_LE(rows.size() + results - chosen, size) << results;
      ASSERT_GE(rows.size() + results - chosen, std::min(results, size / 2)) << results;
      ASSERT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    }
  }
}

TEST(RowPlan, KeepsTheBestTrialsWithAllTheirRungs) {
  const RowPlan plan(1, 8, 240);
  History history(1);
  for (std::uint64_t i = 0; i < 500; ++i) {
    history.created(std::vector{0.5}, i, Units{1});
    history.result(TrialNumber(i), Units{1}, 0);
  }
  std::set<std::uint64_t> good;
  for (std::uint64_t i = 3; i < 500; i += 10) {
    good.insert(i);
    history.promoted(TrialNumber(i), Units{3});
    history.result(TrialNumber(i), Units{3}, 1);
  }
  const auto rows = plan.choose(history, 550);
  EXPECT_EQ(rows.size(), 180U);
  EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), 180U);
  std::size_t of_good = 0;
  for (const std::size_t row : rows) {
    of_good += good.count(history.results()[row].trial.number());
  }
  EXPECT_EQ(of_good, 100U);
}

TEST(RowPlan, ThinsAtRandomAndTheSameEveryTime) {
  const RowPlan plan(1, 8, 240);
  std::vector<std::size_t> rows(200);
  for (std::size_t i = 0; i < 200; ++i) {
    rows[i] = i;
  }
  const auto some = plan.thin(rows, 100, 200);
  EXPECT_EQ(some.size(), 100U);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  EXPECT_EQ(some, plan.thin(rows, 100, 200));
  EXPECT_NE(some, plan.thin(rows, 100, 208));
  EXPECT_EQ(plan.thin(rows, 200, 200), rows);
}

}  // namespace
}  // namespace hpsearch::searchers::model
