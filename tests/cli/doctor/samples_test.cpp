#include "cli/doctor/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace hpsearch::cli {
namespace {

constexpr const char* text = R"(# HELP one Some text.
# TYPE one gauge
one 2
sum_total{why="a b"} 3
sum_total{why="c"} 4
sum_total_of_others 9
time_bucket{le="0.1"} 90
time_bucket{le="1"} 99
time_bucket{le="+Inf"} 100
none_bucket{le="+Inf"} 0
)";

TEST(Samples, AreReadByNameAndLabels) {
  const auto samples = samples_of(text);
  EXPECT_EQ(sample(samples, "one"), 2);
  EXPECT_EQ(sample(samples, "two"), std::nullopt);
  EXPECT_EQ(sum_of(samples, "sum_total"), 7);
  EXPECT_EQ(sum_of(samples, "none_total"), 0);
}

TEST(Samples, AHistogramHasQuantiles) {
  const auto samples = samples_of(text);
  EXPECT_EQ(quantile(samples, "time", 0.5), 0.1);
  EXPECT_EQ(quantile(samples, "time", 0.99), 1);
  EXPECT_TRUE(std::isinf(quantile(samples, "time", 1).value_or(0)));
  EXPECT_EQ(quantile(samples, "none", 0.5), std::nullopt);
  EXPECT_EQ(quantile(samples, "absent", 0.5), std::nullopt);
}

}  // namespace
}  // namespace hpsearch::cli
