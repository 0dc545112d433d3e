#include "daemon/blobs/log_quota.hpp"

#include <gtest/gtest.h>

namespace hpsearch::daemon {
namespace {

using engine::ExperimentId;
using engine::Instant;
using engine::TrialNumber;

constexpr std::uint64_t block = 4096;

LogQuota::EndedAt ended(std::map<std::uint64_t, std::int64_t> when) {
  return [when = std::move(when)](ExperimentId experiment) -> std::optional<Instant> {
    const auto found = when.find(experiment.number());
    return found == when.end() ? std::nullopt : std::optional(Instant::from_micros(found->second));
  };
}

void add(LogQuota& quota, std::uint64_t experiment, std::uint64_t trial, std::uint64_t blocks) {
  quota.add(ExperimentId(experiment), TrialNumber(trial), blocks * block);
}

using Trials = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
Trials surplus(LogQuota& quota, const LogQuota::EndedAt& ended_at) {
  Trials trials;
  for (const auto& [experiment, trial] : quota.take_surplus(ended_at)) {
    trials.emplace_back(experiment.number(), trial.number());
  }
  return trials;
}

TEST(LogQuota, LetsNothingGoUpToTheLimit) {
  LogQuota quota(10 * block);
  add(quota, 1, 0, 4);
  add(quota, 2, 0, 6);
  EXPECT_EQ(surplus(quota, ended({{1, 5}})), Trials{});
  EXPECT_EQ(quota.bytes(), 10 * block);
}

TEST(LogQuota, LetsTheExperimentGoThatEndedFirst) {
  LogQuota quota(10 * block);
  for (const std::uint64_t experiment : {1U, 2U, 3U, 4U}) {
    add(quota, experiment, 0, 2);
    add(quota, experiment, 1, 2);
  }
  EXPECT_EQ(surplus(quota, ended({{2, 300}, {3, 100}, {4, 200}})), (Trials{{3, 0}, {3, 1}, {4, 0}}))
      << "of 16 blocks 6 too many; never of 1, which goes on, while others have ended";
  EXPECT_EQ(quota.bytes(), 10 * block);
  EXPECT_TRUE(quota.was_removed(ExperimentId(3), TrialNumber(1)));
  EXPECT_TRUE(quota.was_removed(ExperimentId(4), TrialNumber(0)));
  EXPECT_FALSE(quota.was_removed(ExperimentId(4), TrialNumber(1)));
  EXPECT_FALSE(quota.was_removed(ExperimentId(2), TrialNumber(0)));
}

TEST(LogQuota, LetsRunningExperimentsGoLast) {
  LogQuota quota(2 * block);
  add(quota, 1, 7, 2);
  add(quota, 2, 0, 2);
  add(quota, 3, 0, 2);
  EXPECT_EQ(surplus(quota, ended({{3, 1}})), (Trials{{3, 0}, {1, 7}}));
}

TEST(LogQuota, CountsWhatIsReplacedOnceAndShortFilesAsBlocks) {
  LogQuota quota(100 * block);
  const ExperimentId experiment(1);
  quota.add(experiment, TrialNumber(0), 10);
  EXPECT_EQ(quota.bytes(), block);
  quota.add(experiment, TrialNumber(0), 2 * block + 1, 10);
  EXPECT_EQ(quota.bytes(), 3 * block);
  quota.add(experiment, TrialNumber(0), 1, 50 * block);
  EXPECT_EQ(quota.bytes(), block) << "what was there before it was counted cannot be taken off";
}

TEST(LogQuota, SaysOfALogThatCameAfterwardsThatItIsThere) {
  LogQuota quota(block);
  quota.note_removed_up_to(ExperimentId(1), TrialNumber(9));
  quota.note_removed_up_to(ExperimentId(1), TrialNumber(3));
  EXPECT_TRUE(quota.was_removed(ExperimentId(1), TrialNumber(4)));
  EXPECT_TRUE(quota.was_removed(ExperimentId(1), TrialNumber(9)));
  EXPECT_FALSE(quota.was_removed(ExperimentId(1), TrialNumber(10)));
  add(quota, 1, 4, 1);
  EXPECT_FALSE(quota.was_removed(ExperimentId(1), TrialNumber(4)));
}

}  // namespace
}  // namespace hpsearch::daemon
