#include "cli/results/attempt_use.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

api::Utilization columns() {
  api::Utilization columns;
  columns.at = {10, 20, 60};
  columns.seconds = {10, 10, 40};
  columns.cores = {std::nullopt, 4, 2};
  columns.memory_bytes = {1'000'000'000, 2'100'000'000, std::nullopt};
  columns.devices = {
      {0, {100, 100, 85}, {31'000'000'000, 5, 6}},
      {3, {std::nullopt, std::nullopt, std::nullopt}, {std::nullopt, 7'000, std::nullopt}},
      {4, {std::nullopt, std::nullopt, std::nullopt}, {std::nullopt, std::nullopt, std::nullopt}}};
  return columns;
}

TEST(AttemptUse, HasMeansOverTheMeasuredTimeAndLargestMemory) {
  const auto use = use_in(columns());
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(use->cores.value_or(0), 2.4) << "(4 x 10 + 2 x 40) / 50";
  EXPECT_EQ(use->memory_bytes, 2'100'000'000U);
  ASSERT_EQ(use->devices.size(), 3U);
  EXPECT_DOUBLE_EQ(use->devices[0].utilization.value_or(0), 90);
  EXPECT_EQ(use->devices[0].memory_bytes, 31'000'000'000U);
  EXPECT_EQ(use->devices[1].utilization, std::nullopt);
  EXPECT_EQ(use->devices[1].memory_bytes, 7'000U);
}

TEST(AttemptUse, IsASentenceAboutWhatIsKnown) {
  EXPECT_EQ(use_text(*use_in(columns()), "GPU"),
            "2.4 cores on average, at most 2.1 GB of memory, GPU 0 busy 90.0 % of the time with at most "
            "31.0 GB, GPU 3 with at most 7.0 kB");
  EXPECT_EQ(use_text(AttemptUse{}, "GPU"), "");
}

TEST(AttemptUse, IsNullWhereNothingIsKnown) {
  EXPECT_FALSE(use_in(api::Utilization{}));
  EXPECT_EQ(
      engine::compact_json(engine::Value(use_value({std::nullopt, 5, {{3, std::nullopt, std::nullopt}}}))),
      R"({"cores":null,"devices":[{"index":3,"memory_bytes":null,"utilization":null}],"memory_bytes":5})");
}

}  // namespace
}  // namespace hpsearch::cli
