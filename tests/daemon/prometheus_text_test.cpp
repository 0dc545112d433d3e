#include "daemon/metrics/prometheus_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace hpsearch::daemon {
namespace {

TEST(PrometheusText, FamilyHasOneHeadAndItsSamples) {
  PrometheusText text;
  text.family("slots", MetricType::gauge, "Slots by state.", {"state", "pool"});
  text.sample(3, {"busy", "default"});
  text.sample(0.5, {"idle", "big"});
  EXPECT_EQ(text.take(),
            "# HELP hpsearch_slots Slots by state.\n"
            "# TYPE hpsearch_slots gauge\n"
            "hpsearch_slots{state=\"busy\",pool=\"default\"} 3\n"
            "hpsearch_slots{state=\"idle\",pool=\"big\"} 0.5\n");
}

TEST(PrometheusText, LabelValuesAreEscaped) {
  PrometheusText text;
  text.family("slots", MetricType::gauge, "Slots.", {"pool"});
  text.sample(1, {"a\"b\\c\nd"});
  EXPECT_NE(text.take().find("{pool=\"a\\\"b\\\\c\\nd\"} 1\n"), std::string::npos);
}

TEST(PrometheusText, ProcessFamiliesHaveNoPrefixAndNumbersMayBeInfinite) {
  PrometheusText text;
  text.gauge("process_open_fds", "Open.", 7);
  text.gauge("best", "Best.", -std::numeric_limits<double>::infinity());
  text.gauge("worst", "Worst.", std::numeric_limits<double>::quiet_NaN());
  const std::string page = text.take();
  EXPECT_NE(page.find("\nprocess_open_fds 7\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\nhpsearch_best -Inf\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\nhpsearch_worst NaN\n"), std::string::npos) << page;
}

TEST(PrometheusText, BucketsAddUpAndABoundBelongsToItsBucket) {
  Histogram<2> histogram{{1, 10}};
  for (const double value : {0.5, 1.0, 1.5, 10.0, 11.0}) {
    histogram.add(value);
  }
  PrometheusText text;
  text.family("wait_seconds", MetricType::histogram, "Wait.", {"pool"});
  text.sample(histogram, {"p"});
  const std::string page = text.take();
  for (const char* line :
       {"_bucket{pool=\"p\",le=\"1\"} 2\n", "_bucket{pool=\"p\",le=\"10\"} 4\n",
        "_bucket{pool=\"p\",le=\"+Inf\"} 5\n", "_sum{pool=\"p\"} 24\n", "_count{pool=\"p\"} 5\n"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "in\n" << page;
  }
}

}  // namespace
}  // namespace hpsearch::daemon
