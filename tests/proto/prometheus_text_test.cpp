#include "hpsearch/proto/metrics/prometheus_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace hpsearch::proto {
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

TEST(PrometheusText, OpenMetricsHasUnitsWholeBoundsAndAnEnd) {
  PrometheusText text(PrometheusText::Format::openmetrics);
  text.counter("slot_seconds_total", "Slots.", 2);
  text.family("wait_seconds", MetricType::histogram, "Wait.");
  text.sample(Histogram<2>{{0.5, 10}, {1, 0, 2}, 40});
  EXPECT_EQ(text.take(),
            "# HELP hpsearch_slot_seconds Slots.\n"
            "# TYPE hpsearch_slot_seconds counter\n"
            "# UNIT hpsearch_slot_seconds seconds\n"
            "hpsearch_slot_seconds_total 2\n"
            "# HELP hpsearch_wait_seconds Wait.\n"
            "# TYPE hpsearch_wait_seconds histogram\n"
            "# UNIT hpsearch_wait_seconds seconds\n"
            "hpsearch_wait_seconds_bucket{le=\"0.5\"} 1\n"
            "hpsearch_wait_seconds_bucket{le=\"10.0\"} 1\n"
            "hpsearch_wait_seconds_bucket{le=\"+Inf\"} 3\n"
            "hpsearch_wait_seconds_sum 40\n"
            "hpsearch_wait_seconds_count 3\n"
            "# EOF\n");
}

TEST(PrometheusText, OnlyOpenMetricsHasExemplars) {
  const std::array<Exemplar, 2> exemplars{Exemplar{"r-7", 0.25, 1700000000.5}, Exemplar{}};
  for (const auto format : {PrometheusText::Format::text, PrometheusText::Format::openmetrics}) {
    PrometheusText text(format);
    text.family("wait_seconds", MetricType::histogram, "Wait.");
    text.buckets(std::array{1.0}, std::array<std::uint64_t, 2>{1, 0}, 0.25, {}, exemplars);
    const std::string page = text.take();
    EXPECT_EQ(page.find(" 1 # {request_id=\"r-7\"} 0.25 1700000000.500\n") != std::string::npos,
              format == PrometheusText::Format::openmetrics)
        << page;
    EXPECT_EQ(page.find("request_id=\"\""), std::string::npos) << page;
  }
}

TEST(PrometheusText, AcceptChoosesTheFormat) {
  using Format = PrometheusText::Format;
  EXPECT_EQ(PrometheusText::format_for(""), Format::text);
  EXPECT_EQ(PrometheusText::format_for("text/plain;version=0.0.4"), Format::text);
  EXPECT_EQ(PrometheusText::format_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            Format::openmetrics);
}

}  // namespace
}  // namespace hpsearch::proto
