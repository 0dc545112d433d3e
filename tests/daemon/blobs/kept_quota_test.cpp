#include "daemon/blobs/kept_quota.hpp"

#include <gtest/gtest.h>

namespace hpsearch::daemon {
namespace {

using engine::ExperimentId;
using engine::Instant;
using engine::TrialNumber;
using Kind = KeptItem::Kind;
using Items = std::vector<KeptItem>;

constexpr std::uint64_t block = 4096;

KeptItem files_of(std::uint64_t trial, std::uint64_t experiment = 1) {
  return {ExperimentId(experiment), Kind::files, TrialNumber(trial), engine::WorkerId(1)};
}

KeptItem logs_of(std::uint64_t trial, std::uint64_t experiment = 1) {
  return {ExperimentId(experiment), Kind::logs, TrialNumber(trial), {}};
}

std::optional<Instant> nothing_ended(ExperimentId /*experiment*/) {
  return std::nullopt;
}

KeptQuota::EndedAt ended(std::map<std::uint64_t, std::int64_t> when) {
  return [when = std::move(when)](ExperimentId experiment) -> std::optional<Instant> {
    const auto found = when.find(experiment.number());
    return found == when.end() ? std::nullopt : std::optional(Instant::from_micros(found->second));
  };
}

/// Returns the items that are removed to make room for it.
Items add(KeptQuota& quota, const KeptItem& item, const KeptQuota::Weight& weight,
          const KeptQuota::EndedAt& ended_at = nothing_ended) {
  quota.count(item, weight);
  return quota.take_surplus(ended_at, item);
}

TEST(KeptQuota, RemovesNothingUpToTheLimitAndCountsAnItemOnce) {
  KeptQuota quota(100);
  EXPECT_EQ(add(quota, files_of(1), {.bytes = 60}), Items{});
  EXPECT_EQ(add(quota, files_of(1), {.bytes = 80}), Items{});
  EXPECT_EQ(add(quota, logs_of(1), {.bytes = 20}), Items{});
  EXPECT_EQ(quota.bytes(), 100U);
  quota.forget(files_of(1));
  EXPECT_EQ(quota.bytes(), 20U);
  quota.forget(ExperimentId(1));
  EXPECT_EQ(quota.bytes(), 0U);
}

TEST(KeptQuota, SmallerLimitRemovesWhatIsBeyondIt) {
  KeptQuota quota(100);
  EXPECT_EQ(add(quota, files_of(1), {.bytes = 40, .metric = 0.1}), Items{});
  EXPECT_EQ(add(quota, files_of(2), {.bytes = 40, .metric = 0.2}), Items{});
  quota.limit_to(50);
  EXPECT_EQ(quota.take_surplus(nothing_ended), Items{files_of(2)});
  quota.limit_to(100);
  EXPECT_EQ(add(quota, files_of(3), {.bytes = 60, .metric = 0.3}), Items{});
}

TEST(KeptQuota, RemovesTheFilesOfTheWorstTrialFirst) {
  KeptQuota quota(100);
  for (const auto& [trial, metric] : {std::pair(1, 0.3), std::pair(2, 0.9), std::pair(3, 0.5)}) {
    EXPECT_EQ(add(quota, files_of(static_cast<std::uint64_t>(trial)), {.bytes = 30, .metric = metric}),
              Items{});
  }
  EXPECT_EQ(add(quota, files_of(4), {.bytes = 40, .metric = 0.4}), Items{files_of(2)});
  EXPECT_EQ(add(quota, files_of(5), {.bytes = 30, .metric = 0.1}), Items{files_of(3)});
}

TEST(KeptQuota, RemovesFilesWithoutAMetricThenTheWorstMetric) {
  KeptQuota quota(100);
  const auto weight = [](std::optional<double> metric) {
    return KeptQuota::Weight{.bytes = 30, .metric = metric, .larger_is_better = true};
  };
  quota.count(files_of(1), weight(0.3));
  quota.count(files_of(2), weight(std::nullopt));
  quota.count(files_of(3), weight(0.9));
  EXPECT_EQ(add(quota, files_of(4), weight(0.5)), Items{files_of(2)});
  EXPECT_EQ(add(quota, files_of(5), weight(0.6)), Items{files_of(1)});
}

TEST(KeptQuota, RemovesTheLatestFilesOnlyForTheBestTrial) {
  KeptQuota quota(100);
  quota.count(files_of(1), {.bytes = 50, .metric = 0.1});
  quota.count(files_of(2), {.bytes = 50, .metric = 0.2});
  EXPECT_EQ(add(quota, files_of(3), {.bytes = 50, .metric = 0.9}), Items{files_of(2)});
  EXPECT_EQ(add(quota, files_of(3), {.bytes = 60, .metric = 0.9}), Items{files_of(3)});
}

TEST(KeptQuota, RemovesNothingForAnItemLargerThanTheQuota) {
  KeptQuota quota(100);
  quota.count(files_of(1), {.bytes = 100});
  EXPECT_EQ(add(quota, files_of(2), {.bytes = 101, .metric = 0.1}), Items{files_of(2)});
  EXPECT_EQ(quota.bytes(), 100U);
}

TEST(KeptQuota, RemovesFilesOfAnExperimentBeforeItsLogs) {
  KeptQuota quota(90);
  quota.count(logs_of(0), {.bytes = 30});
  quota.count(logs_of(7), {.bytes = 30});
  quota.count(files_of(7), {.bytes = 30, .metric = 0.1});
  EXPECT_EQ(add(quota, logs_of(8), {.bytes = 30}), Items{files_of(7)});
  EXPECT_EQ(add(quota, logs_of(9), {.bytes = 30}), Items{logs_of(0)});
  EXPECT_FALSE(quota.has(logs_of(0)));
  EXPECT_TRUE(quota.has(logs_of(7)));
}

TEST(KeptQuota, LogsHaveALimitOfTheirOwn) {
  KeptQuota quota(1'000);
  quota.limit_to(1'000, 50);
  for (const std::uint64_t experiment : {1U, 2U}) {
    quota.count(logs_of(0, experiment), {.bytes = 20});
    quota.count(logs_of(1, experiment), {.bytes = 20});
    quota.count(files_of(0, experiment), {.bytes = 100});
  }
  EXPECT_EQ(quota.take_surplus(ended({{2, 100}})), (Items{logs_of(0, 2), logs_of(1, 2)}))
      << "of 80 bytes 30 too many; never of 1, which goes on, while another has ended";
  EXPECT_EQ(quota.log_bytes(), 40U);
  EXPECT_EQ(quota.bytes(), 240U);
  quota.forget(ExperimentId(1));
  EXPECT_EQ(quota.log_bytes(), 0U);
}

TEST(KeptQuota, RemovesFromTheExperimentThatEndedFirst) {
  KeptQuota quota(10 * block);
  for (const std::uint64_t experiment : {1U, 2U, 3U, 4U}) {
    quota.count(logs_of(0, experiment), {.bytes = 2 * block});
    quota.count(logs_of(1, experiment), {.bytes = 2 * block});
  }
  EXPECT_EQ(quota.take_surplus(ended({{2, 300}, {3, 100}, {4, 200}})),
            (Items{logs_of(0, 3), logs_of(1, 3), logs_of(0, 4)}))
      << "of 16 blocks 6 too many; never of 1, which goes on, while others have ended";
  EXPECT_EQ(quota.bytes(), 10 * block);
}

TEST(KeptQuota, RemovesFromRunningExperimentsLast) {
  KeptQuota quota(2 * block);
  for (const auto& [trial, experiment] : {std::pair(7U, 1U), std::pair(0U, 2U), std::pair(0U, 3U)}) {
    quota.count(logs_of(trial, experiment), {.bytes = 2 * block});
  }
  EXPECT_EQ(quota.take_surplus(ended({{3, 1}})), (Items{logs_of(0, 3), logs_of(7, 1)}));
}

TEST(KeptQuota, CountsAReplacedFileOnceAndShortFilesAsBlocks) {
  KeptQuota quota(100 * block);
  quota.count_file(logs_of(0), 10);
  EXPECT_EQ(quota.bytes(), block);
  quota.count_file(logs_of(0), 2 * block + 1, 10);
  EXPECT_EQ(quota.bytes(), 3 * block);
  quota.count_file(logs_of(0), 1, 50 * block);
  EXPECT_EQ(quota.bytes(), block) << "a file that was replaced before it was counted";
}

}  // namespace
}  // namespace hpsearch::daemon
