#include "hpsearch/workers/core/utilization/utilization_series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <vector>

namespace hpsearch::workers {
namespace {

using proto::DeviceUtilization;
using proto::Utilization;

constexpr std::uint64_t ten_seconds = 10'000;

Utilization sample(std::uint64_t at_ms, std::uint64_t cpu_ms, std::uint64_t memory,
                   std::vector<DeviceUtilization> devices = {}) {
  return {at_ms, ten_seconds, cpu_ms, memory, std::move(devices)};
}

struct Totals {
  std::uint64_t ms = 0;
  std::uint64_t cpu_ms = 0;
  std::uint64_t memory = 0;
  std::uint64_t busy_ms = 0;
  std::uint64_t device_memory = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
};

Totals totals_of(const std::vector<Utilization>& stretches) {
  Totals totals;
  for (const Utilization& stretch : stretches) {
    totals.ms += stretch.ms;
    totals.cpu_ms += stretch.cpu_ms.value_or(0);
    totals.memory = std::max(totals.memory, stretch.memory_bytes.value_or(0));
    for (const DeviceUtilization& device : stretch.devices) {
      totals.busy_ms += device.busy_ms.value_or(0);
      totals.device_memory = std::max(totals.device_memory, device.memory_bytes.value_or(0));
    }
  }
  return totals;
}

TEST(UtilizationSeries, KeepsEachOfTheFirstSamples) {
  UtilizationSeries series;
  for (std::uint64_t i = 1; i <= UtilizationSeries::most; ++i) {
    series.add(sample(i * ten_seconds, i, i));
  }
  ASSERT_EQ(series.stretches().size(), UtilizationSeries::most);
  EXPECT_EQ(series.stretches().front(), sample(ten_seconds, 1, 1));
}

TEST(UtilizationSeries, MergesNeighboursWhenItIsFull) {
  UtilizationSeries series;
  for (std::uint64_t i = 1; i <= UtilizationSeries::most + 1; ++i) {
    series.add(sample(i * ten_seconds, i, 1'000 - i, {{0, 10 * i, i}}));
  }
  ASSERT_EQ(series.stretches().size(), UtilizationSeries::most / 2 + 1);
  EXPECT_EQ(series.stretches().front(),
            (Utilization{2 * ten_seconds, 2 * ten_seconds, 3, 999, {{0, 30, 2}}}));
}

TEST(UtilizationSeries, SamplesAfterARestartStayApart) {
  UtilizationSeries series({sample(10'000, 1, 1), sample(20'000, 2, 2), {20'050, 50, 3, 3, {}}});
  series.add({20'150, 100, 4, 4, {}});
  EXPECT_EQ(series.stretches().size(), 4U) << "no series of so few was ever halved";
}

TEST(UtilizationSeries, LaterStretchesAreAsLongAsMergedOnes) {
  UtilizationSeries series;
  for (std::uint64_t i = 1; i <= 2'000; ++i) {
    series.add(sample(i * ten_seconds, i, i));
  }
  const auto& stretches = series.stretches();
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    EXPECT_GE(stretches[i].ms, 3 * ten_seconds) << i;
    EXPECT_LE(stretches[i].ms, 6 * ten_seconds) << i;
  }
}

TEST(UtilizationSeries, SumsAreAbsentWhereAPartIsAbsent) {
  std::vector<Utilization> before(UtilizationSeries::most + 1);
  for (std::size_t i = 0; i < before.size(); ++i) {
    before[i] = sample((i + 1) * ten_seconds, 5, 7, {{0, 1'000, 3}, {1, 2'000, 4}});
  }
  before[0].cpu_ms.reset();
  before[1].memory_bytes.reset();
  before[2].devices.erase(before[2].devices.begin());
  const UtilizationSeries series(before);
  const auto& stretches = series.stretches();
  EXPECT_EQ(stretches[0].cpu_ms, std::nullopt);
  EXPECT_EQ(stretches[0].memory_bytes, 7U) << "the larger one of those that are known";
  EXPECT_EQ(stretches[1].devices, (std::vector<DeviceUtilization>{{0, std::nullopt, 3}, {1, 4'000, 4}}));
  EXPECT_EQ(stretches[2].cpu_ms, 10U);
}

TEST(UtilizationSeries, InstancesOfOneGpuStayApart) {
  std::vector<Utilization> before(UtilizationSeries::most + 1);
  for (std::size_t i = 0; i < before.size(); ++i) {
    before[i] = sample((i + 1) * ten_seconds, 0, 0, {{3, std::nullopt, 10}, {3, std::nullopt, 20}});
  }
  const UtilizationSeries series(before);
  EXPECT_EQ(series.stretches().front().devices,
            (std::vector<DeviceUtilization>{{3, std::nullopt, 10}, {3, std::nullopt, 20}}));
}

TEST(UtilizationSeries, NeverLosesATotalNorTheOrder) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 chance(seed);
    const auto below = [&chance](std::uint64_t end) { return chance() % end; };
    UtilizationSeries series;
    std::vector<Utilization> all;
    std::uint64_t at_ms = 1'700'000'000'000;
    const std::uint64_t samples = 1 + below(5'000);
    for (std::uint64_t i = 0; i < samples; ++i) {
      // A machine may sleep for days between two samples.
      const std::uint64_t ms = below(1'000) == 0 ? 1 + below(400'000'000) : 9'900 + below(400);
      at_ms += ms;
      all.push_back(
          {at_ms, ms, below(640'000), below(1'000'000'000'000), {{0, below(ms + 1), below(80'000'000'000)}}});
      series.add(all.back());
      if (below(700) == 0) {
        series = UtilizationSeries(series.stretches());  // The worker was started again.
      }
      ASSERT_LE(series.stretches().size(), UtilizationSeries::most) << "seed " << seed;
    }
    const auto& stretches = series.stretches();
    EXPECT_EQ(totals_of(stretches), totals_of(all)) << "seed " << seed;
    EXPECT_EQ(stretches.back().at_ms, all.back().at_ms) << "seed " << seed;
    EXPECT_TRUE(std::is_sorted(stretches.begin(), stretches.end(),
                               [](const auto& a, const auto& b) { return a.at_ms < b.at_ms; }))
        << "seed " << seed;
    EXPECT_GE(stretches.size(), std::min<std::size_t>(all.size(), UtilizationSeries::most / 4))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace hpsearch::workers
