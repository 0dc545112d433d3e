#include "hpsearch/proto/views/rung_ladder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "proto/views/small_search.hpp"

namespace hpsearch::views {
namespace {

using engine::TrialState;
using Fate = RungLadder::Fate;

RungLadder ladder_of(const SmallSearch& search) {
  return rung_ladder(search.record(), engine::Lsn(1), engine::Instant());
}

enum class When { midst, end, killed };

/// The searches of each searcher, for each direction.
class LadderOfSearches : public testing::TestWithParam<std::tuple<bool, bool, When>> {
 protected:
  LadderOfSearches() {
    const auto [has_rungs, smaller, when] = GetParam();
    engine::Value searcher = SmallSearch::halving(60);
    if (!has_rungs) {
      (*searcher.as_map())["name"] = "random";
      searcher.as_map()->erase("num_rungs");
    }
    (*searcher.as_map())["smaller_is_better"] = smaller;
    search_.emplace(searcher);
    for (int i = 0; !search_->over() && (when == When::end || i < 50); ++i) {
      search_->advance();
    }
    if (when == When::killed) {
      search_->kill();
    }
  }
  std::optional<SmallSearch> search_;
};

TEST_P(LadderOfSearches, ResultsAreSortedWithMissingMetricsLast) {
  const bool smaller = std::get<1>(GetParam());
  const RungLadder ladder = ladder_of(*search_);
  std::size_t results = 0;
  for (const RungLadder::Rung& rung : ladder.brackets.front().rungs) {
    results += rung.results.size();
    for (std::size_t i = 1; i < rung.results.size(); ++i) {
      const auto& before = rung.results[i - 1].metric;
      const auto& metric = rung.results[i].metric;
      if (!before) {
        EXPECT_FALSE(metric) << "length " << engine::count(rung.length) << ", place " << i;
      } else if (metric) {
        EXPECT_TRUE(smaller ? *before <= *metric : *before >= *metric)
            << "length " << engine::count(rung.length) << ", place " << i;
      }
    }
  }
  EXPECT_GT(results, 10U);
}

TEST_P(LadderOfSearches, EachTrialIsOnceInARungWithItsFate) {
  const RungLadder ladder = ladder_of(*search_);
  ASSERT_EQ(ladder.brackets.size(), 1U);
  std::set<std::uint64_t> highest;
  for (auto rung = ladder.brackets[0].rungs.rbegin(); rung != ladder.brackets[0].rungs.rend(); ++rung) {
    const bool is_top = rung == ladder.brackets[0].rungs.rbegin();
    EXPECT_EQ(rung->rule == "full length", is_top);
    std::set<std::uint64_t> in_rung;
    for (const engine::TrialNumber trial : rung->training) {
      EXPECT_TRUE(in_rung.insert(trial.number()).second);
      EXPECT_FALSE(engine::is_closed(search_->record().trials[trial.number()].state));
    }
    for (const RungLadder::Result& result : rung->results) {
      EXPECT_TRUE(in_rung.insert(result.trial.number()).second) << "trial " << result.trial.number();
      const TrialState state = search_->record().trials[result.trial.number()].state;
      const bool is_highest = !highest.contains(result.trial.number());
      const std::string place = "trial " + std::to_string(result.trial.number()) + " at length " +
                                std::to_string(engine::count(rung->length));
      EXPECT_EQ(result.fate != Fate::promoted, is_highest) << place;
      if (result.fate == Fate::waiting) {
        EXPECT_FALSE(engine::is_closed(state)) << place;
      }
      if (result.fate == Fate::stopped || result.fate == Fate::finished) {
        EXPECT_TRUE(engine::is_closed(state)) << place;
      }
      if (result.fate == Fate::failed) {
        EXPECT_EQ(state, TrialState::failed) << place;
      }
    }
    highest.insert(in_rung.begin(), in_rung.end());
  }
}

// Once, a trial that failed before its length appeared to have reported NaN.
TEST(RungLadder, FullLengthHasOnlyTrialsThatReportedThere) {
  engine::Value searcher = SmallSearch::halving(2'000);
  (*searcher.as_map())["name"] = "random";
  searcher.as_map()->erase("num_rungs");
  SmallSearch search(searcher);
  while (!search.over()) {
    search.advance();
  }
  const auto& trials = search.record().trials;
  const auto failed = [](const engine::TrialRecord& trial) { return trial.state == TrialState::failed; };
  ASSERT_GT(std::count_if(trials.begin(), trials.end(), failed), 1);
  const RungLadder ladder = ladder_of(search);
  std::size_t of_nan = 0;
  for (const RungLadder::Result& result : ladder.brackets.front().rungs.front().results) {
    EXPECT_FALSE(failed(trials[result.trial.number()])) << "trial " << result.trial.number();
    EXPECT_EQ(result.metric.has_value(), result.nonfinite.empty()) << "trial " << result.trial.number();
    of_nan += result.nonfinite == "nan" ? 1U : 0U;
  }
  EXPECT_GT(of_nan, 1U);
}

INSTANTIATE_TEST_SUITE_P(Each, LadderOfSearches,
                         testing::Combine(testing::Bool(), testing::Bool(),
                                          testing::Values(When::midst, When::end, When::killed)));

}  // namespace
}  // namespace hpsearch::views
