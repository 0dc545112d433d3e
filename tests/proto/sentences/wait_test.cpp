#include "hpsearch/proto/sentences/wait.hpp"

#include <gtest/gtest.h>

namespace hpsearch::sentences {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace)

const WantedWorkers big{"big", {{"disk", "fast"}, {"gpu", "h200"}}};

TEST(WaitText, Limits) {
  EXPECT_EQ(why_trial_waits(WaitForResume{}), "the experiment is paused");
  EXPECT_EQ(why_trial_waits(WaitForConcurrency{10, 0, {10, std::nullopt}}),
            "10 trials of this experiment are running, and max_concurrent_trials is 10");
  EXPECT_EQ(why_trial_waits(WaitForConcurrency{1, 2, {3, std::nullopt}}),
            "1 trial of this experiment is running, 2 wait for a retry, and max_concurrent_trials is 3");
  EXPECT_EQ(
      why_trial_waits(WaitForConcurrency{2, 1, {1, 4}}),
      "2 trials of this experiment are running, 1 waits for a retry, and max_concurrent_trials is 0, which "
      "allows 1 trial on the 4 slots of its workers");
  EXPECT_EQ(why_trial_waits(WaitForFirstReport{1, 2, "exit status 1", {}, 3}),
            "1 trial failed in the same way (exit status 1); until one reports something, no more than 3 are "
            "started");
  EXPECT_EQ(
      why_trial_waits(WaitForFirstReport{0, 3, "", Duration::seconds(4), 3}),
      "the first attempts have only just started; until one measures the metric at a second step, or for "
      "another 4 s, no more than 3 are started");
  EXPECT_EQ(why_trial_waits(WaitForMaxSlots{3, 2, 4}),
            "this experiment uses 3 slots, a trial needs 2, and max_slots is 4");
}

TEST(WaitText, SlotHours) {
  const auto text = [](Duration remaining) {
    return why_trial_waits(WaitForSlotHours{"nlp", Duration::seconds(369'000), 100, remaining});
  };
  const std::string used =
      "workspace \"nlp\" has used 102.5 slot hours in the last 30 days, and the quota is 100 "
      "(slot_hours_per_30d); no trial starts ";
  EXPECT_EQ(text(Duration::seconds(76 * 3'600 - 5)), used + "for the next 3 d 4 h unless it is raised");
  EXPECT_EQ(text(Duration::seconds(3'600)), used + "for the next 1 h unless it is raised");
  EXPECT_EQ(text(Duration::seconds(25)), used + "for the next 25 s unless it is raised");
  EXPECT_EQ(text({}), used + "until it is raised");
}

TEST(WaitText, Quotas) {
  EXPECT_EQ(why_trial_waits(WaitForQuota{"nlp", "alice", 7, 2, 8, false}),
            "workspace \"nlp\" uses 7 slots, a trial needs 2, and the quota is 8 (max_slots)");
  EXPECT_EQ(why_trial_waits(WaitForQuota{"nlp", "alice", 1, 1, 1, true}),
            "alice uses 1 slot of workspace \"nlp\", a trial needs 1, and the quota is 1 for each user "
            "(max_slots_per_user)");
}

TEST(WaitText, Workers) {
  EXPECT_EQ(why_trial_waits(WaitForWorker{}), "no worker is connected");
  EXPECT_EQ(
      why_trial_waits(WaitForWorker{big}),
      "no worker in resource pool \"big\" with label disk=fast and gpu=h200 is connected (hpsearch workers "
      "lists all workers)");
  EXPECT_EQ(why_trial_waits(WaitForRelease{}),
            "every worker is in quarantine (hpsearch workers shows the reasons, hpsearch release ends the "
            "quarantine)");
  EXPECT_EQ(
      why_trial_waits(WaitForRelease{{}, 0, 2}),
      "every worker is draining (hpsearch workers shows them, hpsearch release lets a worker get trials "
      "again)");
  EXPECT_EQ(why_trial_waits(WaitForRelease{{}, 1, 2}),
            "every worker is draining or in quarantine (hpsearch workers shows them, hpsearch release lets a "
            "worker get trials again)");
  EXPECT_EQ(
      why_trial_waits(WaitForRelease{WantedWorkers{"big", {}}}),
      "every worker in resource pool \"big\" is in quarantine (hpsearch workers shows the reasons, hpsearch "
      "release ends the quarantine)");
  EXPECT_EQ(
      why_trial_waits(WaitForRestingWorkers{Duration::millis(1'500)}),
      "the last attempts failed to start on every worker (hpsearch workers shows the reasons); the next "
      "attempt starts in 2 s");
  EXPECT_EQ(
      why_trial_waits(WaitForTurn{50, 1e-7}),
      "the free slots go to other experiments (this one has priority 50 and weight 1e-07), or their workers "
      "are suspect or resting");
}

TEST(WaitText, Clients) {
  EXPECT_EQ(why_trial_waits(WaitForClient{}),
            "no client asks for trials of this experiment now (POST …/ask)");
}

TEST(WaitText, Slots) {
  EXPECT_EQ(
      why_trial_waits(WaitForFreeSlots{0, 2, 1, 0, 1, std::nullopt, {}}),
      "0 of 2 slots are free, 1 out of use (hpsearch workers shows the reasons), at most 0 on one worker, "
      "and a trial needs 1");
  EXPECT_EQ(
      why_trial_waits(WaitForFreeSlots{
          0, 3, 0, 0, 1, std::nullopt, {{2, "in use by search lr (process 12)"}, {1, "promised to x"}}}),
      "0 of 3 slots are free, 2 in use by search lr (process 12), 1 promised to x, at most 0 on one "
      "worker, and a trial needs 1");
  EXPECT_EQ(why_trial_waits(WaitForFreeSlots{0, 1, 0, 0, 1, WantedWorkers{"big", {}}, {}}),
            "0 of 1 slot in resource pool \"big\" is free, at most 0 on one worker, and a trial needs 1");
  EXPECT_EQ(why_trial_waits(WaitForDevices{2, 4, 2, std::nullopt}),
            "2 of 4 slots are free, but a trial needs 2 on different devices of one worker");
}

TEST(WaitText, LargeTrials) {
  EXPECT_EQ(why_trial_waits(WaitForLargerWorker{{4, 2, std::nullopt}}),
            "a trial needs 4 slots, and no worker has more than 2; it cannot use several workers "
            "(resources.spans_workers is false)");
  EXPECT_EQ(
      why_trial_waits(WaitForReachableWorkers{{2, 2, std::nullopt}, 1}),
      "a trial needs 2 slots, and no worker has 2 usable ones (hpsearch workers shows the reasons); it "
      "cannot "
      "be split into equal parts on several workers that can reach each other (hpsearch-worker --address)");
  EXPECT_EQ(why_trial_waits(WaitForReachableWorkers{{6, 2, std::nullopt}, 3}),
            "a trial needs 6 slots, and no worker has more than 2; it cannot be split into equal parts on at "
            "least 3 "
            "workers that can reach each other (resources.least_workers, hpsearch-worker --address)");
  EXPECT_EQ(
      why_trial_waits(WaitForGang{{4, 2, WantedWorkers{"big", {}}}, 2, 2, 1}),
      "a trial needs 4 slots, and no worker in resource pool \"big\" has more than 2; it waits until 2 "
      "workers "
      "have 2 free slots each at the same time, and 1 has them now; experiments behind it get no slots of "
      "these workers");
}

TEST(WaitText, Retries) {
  EXPECT_EQ(
      why_trial_waits(WaitForTime{Duration::seconds(2'420), 12, "gpu-17", Duration::seconds(1'980)}),
      "it needs 41 min (p90 of 12 attempts), and worker \"gpu-17\", which lasts longest of those with free "
      "slots, takes trials for 33 min");
  EXPECT_EQ(
      why_trial_waits(WaitForTime{Duration::seconds(7'500), 0, "gpu-17", Duration::millis(500)}),
      "it needs 2 h 5 min (estimated; resources.time_request says it), and worker \"gpu-17\", which lasts "
      "longest of those with free slots, takes trials for 1 s");
  const WaitForRetry retry{TrialNumber(7), 2, "gpu-7", "no such image", Duration::seconds(8)};
  EXPECT_EQ(
      why_trial_waits(retry),
      "its last 2 attempts ended without a report, the last one on worker \"gpu-7\": no such image; try 3 of "
      "10 starts in 8 s");
  EXPECT_EQ(why_trial_waits(WaitForRetry{TrialNumber(7), 1, "gpu-7", "", Duration::seconds(8)}),
            "its last attempt ended without a report on worker \"gpu-7\"; try 2 of 10 starts in 8 s");
  EXPECT_EQ(why_trial_waits(WaitForRetry{TrialNumber(7), 1, "", "", Duration::seconds(8)}),
            "its last attempt ended without a report; try 2 of 10 starts in 8 s");
  EXPECT_EQ(why_experiment_waits(Wait(retry)), "trial 7: " + why_trial_waits(retry));
  EXPECT_EQ(why_experiment_waits(WaitForWorker{}), "no worker is connected");
  EXPECT_EQ(why_experiment_waits(std::nullopt), "");
}

TEST(WaitText, RestingWorkers) {
  EXPECT_EQ(why_worker_rests(WorkerRest{2, Duration::seconds(1)}),
            "2 attempts in a row failed to start there; the next one starts in 1 s");
  EXPECT_EQ(why_worker_rests(std::nullopt), "");
}

}  // namespace
}  // namespace hpsearch::sentences
