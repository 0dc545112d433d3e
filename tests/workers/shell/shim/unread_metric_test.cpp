#include "hpsearch/workers/shell/shim/unread_metric.hpp"

#include <gtest/gtest.h>

namespace hpsearch::workers {
namespace {

constexpr const char* line = "epoch 1 val_loss=0.5";

MetricsMessage report_of(const std::string& metric) {
  return MetricsMessage{engine::Units{1}, engine::Metrics{{metric, 0.5}}, {}};
}

TEST(UnreadMetric, IsReportedAtTheEndOrAfterTwentyLines) {
  UnreadMetric ends("val_loss");
  ends.look_at("epoch 1 \x1b[32mval_loss\x1b[0m=0.5");
  EXPECT_FALSE(ends.take_finding(/*ended=*/false));
  const auto found = ends.take_finding(/*ended=*/true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->line, line);
  EXPECT_EQ(found->pattern, "epoch {step} val_loss={number}");
  EXPECT_TRUE(ends.done());

  UnreadMetric goes_on("val_loss");
  for (int i = 0; i < 19; ++i) {
    goes_on.look_at(line);
    goes_on.look_at("something else");
  }
  EXPECT_FALSE(goes_on.take_finding(/*ended=*/false));
  goes_on.look_at(line);
  EXPECT_TRUE(goes_on.take_finding(/*ended=*/false));
  EXPECT_FALSE(goes_on.take_finding(/*ended=*/true)) << "once";
}

TEST(UnreadMetric, IsNotReportedForAReportedMetric) {
  for (const char* reported : {"val_loss", "valid_loss"}) {
    UnreadMetric metric("valid_loss");
    metric.look_at(line);
    metric.hear(report_of(reported));
    EXPECT_TRUE(metric.done()) << reported;
    EXPECT_FALSE(metric.take_finding(/*ended=*/true)) << reported;
  }
  UnreadMetric other("val_loss");
  other.look_at(line);
  other.hear(report_of("acc"));
  EXPECT_TRUE(other.take_finding(/*ended=*/true));
}

TEST(UnreadMetric, OnlyTheFirstLinesAreSearched) {
  UnreadMetric metric("val_loss");
  for (int i = 0; i < 10'001; ++i) {
    metric.look_at("other");
  }
  EXPECT_TRUE(metric.done());
  metric.look_at(line);
  EXPECT_FALSE(metric.take_finding(/*ended=*/true));
  EXPECT_TRUE(UnreadMetric("").done());
}

}  // namespace
}  // namespace hpsearch::workers
