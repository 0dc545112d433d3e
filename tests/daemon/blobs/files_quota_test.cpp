#include "daemon/blobs/files_quota.hpp"

#include <gtest/gtest.h>

namespace hpsearch::daemon {
namespace {

using engine::ExperimentId;
using engine::Instant;

FileSet set_of(std::uint64_t trial, std::uint64_t experiment = 1) {
  return {ExperimentId(experiment), engine::TrialNumber(trial), engine::WorkerId(1)};
}

std::optional<Instant> nothing_ended(ExperimentId /*experiment*/) {
  return std::nullopt;
}

using Sets = std::vector<FileSet>;

TEST(FilesQuota, TakesWhatFitsAndCountsASetOnce) {
  FilesQuota quota(100);
  EXPECT_EQ(quota.add(set_of(1), {.bytes = 60}, nothing_ended), Sets{});
  EXPECT_EQ(quota.add(set_of(1), {.bytes = 80}, nothing_ended), Sets{});
  EXPECT_EQ(quota.bytes(), 80U);
  quota.forget(set_of(1));
  EXPECT_EQ(quota.bytes(), 0U);
}

TEST(FilesQuota, OfOneExperimentTheWorstGoesFirst) {
  FilesQuota quota(100);
  for (const auto& [trial, metric] : {std::pair(1, 0.3), std::pair(2, 0.9), std::pair(3, 0.5)}) {
    EXPECT_EQ(
        quota.add(set_of(static_cast<std::uint64_t>(trial)), {.bytes = 30, .metric = metric}, nothing_ended),
        Sets{});
  }
  EXPECT_EQ(quota.add(set_of(4), {.bytes = 40, .metric = 0.4}, nothing_ended), Sets{set_of(2)});
  EXPECT_EQ(quota.add(set_of(5), {.bytes = 30, .metric = 0.1}, nothing_ended), Sets{set_of(3)});
}

TEST(FilesQuota, WhereLargerIsBetterTheSmallestGoesFirstAndNoMetricBeforeIt) {
  FilesQuota quota(100);
  const auto weight = [](std::optional<double> metric) {
    return FilesQuota::Weight{.bytes = 30, .metric = metric, .larger_is_better = true};
  };
  static_cast<void>(quota.add(set_of(1), weight(0.3), nothing_ended));
  static_cast<void>(quota.add(set_of(2), weight(std::nullopt), nothing_ended));
  static_cast<void>(quota.add(set_of(3), weight(0.9), nothing_ended));
  EXPECT_EQ(quota.add(set_of(4), weight(0.5), nothing_ended), Sets{set_of(2)});
  EXPECT_EQ(quota.add(set_of(5), weight(0.6), nothing_ended), Sets{set_of(1)});
}

TEST(FilesQuota, TheLastOneGoesOnlyForTheBest) {
  FilesQuota quota(100);
  static_cast<void>(quota.add(set_of(1), {.bytes = 50, .metric = 0.1}, nothing_ended));
  static_cast<void>(quota.add(set_of(2), {.bytes = 50, .metric = 0.2}, nothing_ended));
  EXPECT_EQ(quota.add(set_of(3), {.bytes = 50, .metric = 0.9}, nothing_ended), Sets{set_of(2)});
  EXPECT_EQ(quota.add(set_of(3), {.bytes = 60, .metric = 0.9}, nothing_ended), Sets{set_of(3)});
}

TEST(FilesQuota, WhatIsLargerThanAllOfItMakesNobodyGo) {
  FilesQuota quota(100);
  static_cast<void>(quota.add(set_of(1), {.bytes = 100}, nothing_ended));
  EXPECT_EQ(quota.add(set_of(2), {.bytes = 101, .metric = 0.1}, nothing_ended), Sets{set_of(2)});
  EXPECT_EQ(quota.bytes(), 100U);
}

TEST(FilesQuota, EndedExperimentsGoBeforeThoseThatGoOn) {
  FilesQuota quota(100);
  const auto ended_at = [](ExperimentId experiment) {
    return experiment.number() == 1
               ? std::nullopt
               : std::optional(Instant::from_micros(static_cast<std::int64_t>(10 - experiment.number())));
  };
  for (std::uint64_t experiment = 1; experiment <= 3; ++experiment) {
    static_cast<void>(quota.add(set_of(0, experiment), {.bytes = 30, .metric = 0.1}, ended_at));
  }
  EXPECT_EQ(quota.add(set_of(1), {.bytes = 50, .metric = 0.9}, ended_at), (Sets{set_of(0, 3), set_of(0, 2)}));
}

}  // namespace
}  // namespace hpsearch::daemon
