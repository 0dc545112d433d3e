#include "hpsearch/proto/views/trial_order.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "proto/views/small_search.hpp"

namespace hpsearch::views {
namespace {

using engine::Value;

Columns columns_of(const SmallSearch& search, const std::string& fields) {
  const MetricNames names;
  ColumnsQuery query;
  query.fields = fields;
  auto scan = ColumnScan::begin(search.record(), names, query, {});
  EXPECT_TRUE(scan) << (scan ? "" : scan.error().message);
  while (scan->read_some(search.record(), 1'000)) {
  }
  scan->finish(search.record(), search.engine().last_lsn());
  return scan->take();
}

TEST(TrialOrder, PagesOfAnySizeGiveTheSameOrder) {
  SmallSearch search(SmallSearch::halving(100));
  for (int i = 0; i < 150 && !search.over(); ++i) {
    search.advance();
  }
  for (const char* sort : {"", "metric", "-metric", "kind,-lr", "state,metric", "failure", "-trial"}) {
    std::vector<std::uint64_t> whole;
    for (const std::size_t limit : {1'000U, 1U, 7U, 33U}) {
      std::vector<std::uint64_t> seen;
      std::string after;
      do {
        const auto order = TrialOrder::read(search.record(), sort, after);
        ASSERT_TRUE(order) << order.error().message;
        const Columns columns = columns_of(search, order->fields());
        const TrialOrder::Page page = order->page(columns, limit);
        seen.insert(seen.end(), page.trials.begin(), page.trials.end());
        after = page.behind > 0 ? order->cursor_behind(columns, page.trials.back()) : "";
      } while (!after.empty());
      whole = whole.empty() ? seen : whole;
      EXPECT_EQ(seen, whole) << sort << " by " << limit;
    }
    EXPECT_EQ(std::set<std::uint64_t>(whole.begin(), whole.end()).size(), search.record().trials.size())
        << sort;
  }
}

TEST(TrialOrder, BestMetricComesFirstAndMissingOnesLast) {
  for (const bool smaller : {true, false}) {
    Value searcher = SmallSearch::halving(60);
    (*searcher.as_map())["smaller_is_better"] = smaller;
    SmallSearch search(searcher);
    for (int i = 0; i < 80; ++i) {
      search.advance();
    }
    for (const bool reversed : {false, true}) {
      const auto order = TrialOrder::read(search.record(), reversed ? "-metric" : "metric", "");
      ASSERT_TRUE(order);
      const Columns columns = columns_of(search, order->fields());
      const auto trials = order->page(columns, 1'000).trials;
      ASSERT_EQ(trials.size(), columns.rows);
      const std::vector<double>& metrics = columns.columns[1].numbers;
      std::size_t measured = 0;
      for (std::size_t place = 1; place < trials.size(); ++place) {
        const double before = metrics[trials[place - 1]];
        const double metric = metrics[trials[place]];
        measured += std::isnan(before) ? 0U : 1U;
        EXPECT_FALSE(std::isnan(before) && !std::isnan(metric)) << "place " << place;
        EXPECT_FALSE(smaller != reversed ? before > metric : before < metric)
            << "place " << place << ": " << before << ", " << metric;
      }
      EXPECT_GT(measured, 20U);
      EXPECT_LT(measured, trials.size() - 1) << "some have not reported";
    }
  }
}

TEST(TrialOrder, CursorOfAnotherOrderIsRefused) {
  SmallSearch search(SmallSearch::halving(10));
  const auto refusal = [&search](const std::string& sort, const std::string& after) {
    const auto order = TrialOrder::read(search.record(), sort, after);
    return order ? std::string() : order.error().message;
  };
  const std::string cursor = PageCursor{{Value(0.5)}, 3}.text();
  EXPECT_EQ(refusal("metric", cursor), "");
  for (const std::string& wrong : {cursor + "0", cursor.substr(2), std::string("xyz"), std::string("7b7d")}) {
    EXPECT_EQ(refusal("metric", wrong), "after is not what `next` of a page with the same sort says")
        << wrong;
  }
  EXPECT_NE(refusal("metric,kind", cursor), "");
  EXPECT_NE(refusal("metric,", ""), "");
}

TEST(SortedPage, EntriesWithoutAKeyComeLastInBothDirections) {
  for (const bool reversed : {false, true}) {
    const SortedPage page({{"x", reversed}});
    EXPECT_TRUE(page.is_before({{Value(1)}, 9}, {{Value()}, 1}));
    EXPECT_EQ(page.is_before({{Value(1)}, 1}, {{Value(2)}, 2}), !reversed);
    EXPECT_TRUE(page.is_before({{Value(1)}, 1}, {{Value(1.0)}, 2})) << "equals stand by number";
  }
}

}  // namespace
}  // namespace hpsearch::views
