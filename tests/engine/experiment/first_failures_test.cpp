#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/experiment/absent_metric.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "messages.hpp"

// A mistake in a program or in its experiment file fails every trial in the same way: a search finds out with
// few of them, and pauses itself.

namespace hpsearch::engine {
namespace {

using Cause = ExitReport::Cause;

constexpr const char* import_error = "Traceback\nModuleNotFoundError: No module named 'numpi'\n";

class FirstFailures : public testing::Test {
 protected:
  void begin(std::uint64_t slots, Value config) {
    cluster.join("w", slots);
    id = cluster.create(std::move(config));
  }

  void fail(const AttemptKey& key, const std::string& tail = import_error, Cause cause = Cause::exited,
            int code = 1) {
    ExitReport report;
    report.cause = cause;
    report.code = code;
    report.message = cause == Cause::could_not_start ? "there is no program x" : "exit status 1";
    report.log_tail = tail;
    cluster.send(key, report);
    cluster.attempts.erase(key);
  }

  /// Every attempt that runs fails, the one leased first before the others, until none runs. Their number.
  int fail_all(Cause cause = Cause::exited, int code = 1) {
    int launches = 0;
    while (!cluster.attempts.empty() && launches < 100) {
      AttemptKey oldest = cluster.attempts.begin()->first;
      for (const auto& [key, attempt] : cluster.attempts) {
        oldest = key.lease < oldest.lease ? key : oldest;
      }
      fail(oldest, import_error, cause, code);
      ++launches;
    }
    return launches;
  }

  const ExperimentRecord& record() const { return *cluster.engine.find(id); }
  void report_other(const AttemptKey& key, std::uint64_t step) {
    cluster.send(key, MetricsReport{Units{step}, {{"scores", 0.5}}});
  }

  explicit FirstFailures(TestCluster::FirstLook look = TestCluster::FirstLook::skipped) : cluster(look) {}

  TestCluster cluster;
  ExperimentId id;
};

TEST_F(FirstFailures, ThreeOfAKindPauseTheSearch) {
  begin(2, random_config(20, 2));
  EXPECT_EQ(fail_all(), 3);
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_EQ(record().reason,
            "its first 3 trials failed in the same way: exit status 1: ModuleNotFoundError: No module named "
            "'numpi'");
  EXPECT_EQ(record().trials.size(), 3U);
  for (std::size_t i = 0; i < record().trials.size(); ++i) {
    EXPECT_FALSE(is_closed(record().trials[i].state)) << "nothing is lost of the search: trial " << i;
    EXPECT_EQ(record().trials[i].attempts, 1U) << "another trial shows more than a second attempt";
  }
  cluster.expect_replayable();
}

TEST_F(FirstFailures, OnOneSlotThreeTrialsPauseTheSearch) {
  begin(1, random_config(20, 1));
  EXPECT_EQ(fail_all(), 3);
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_EQ(record().trials.size(), 3U);
  EXPECT_EQ(record().by_state[static_cast<std::size_t>(TrialState::failed)], 0U);
  EXPECT_EQ(record().trials[2].reason.why(), Reason::Why::paused_itself) << "no user asked for it";
  cluster.step(ResumeExperiment{id});
  EXPECT_EQ(reason_of(record().trials[2]).why, Reason::Why::user);
  EXPECT_EQ(reason_of(record().trials[2]).detail, "the experiment was resumed");
  cluster.expect_replayable();
}

TEST_F(FirstFailures, OneTrialThatFailsAgainAndAgainDoesNotPauseTheSearch) {
  begin(2, random_config(20, 2));
  cluster.report(cluster.live(id, 1), 1, 0.5);
  int failures = 0;
  for (; record().trials[0].state == TrialState::pending || record().trials[0].live; ++failures) {
    if (!record().trials[0].live) {  // Others went before its next attempt.
      const auto other = std::find_if(cluster.attempts.begin(), cluster.attempts.end(),
                                      [](const auto& entry) { return entry.first.trial.number() > 1; });
      ASSERT_NE(other, cluster.attempts.end());
      cluster.report(other->first, 9, 0.5);
      cluster.exit(AttemptKey(other->first));
      continue;
    }
    const AttemptKey key = cluster.live(id, 0);
    cluster.report(key, 1, 0.5);
    fail(key);
  }
  EXPECT_GT(failures, 3);
  EXPECT_EQ(record().trials[0].state, TrialState::failed);
  EXPECT_EQ(record().trials[0].restarts, record().config.max_restarts + 1);
  EXPECT_EQ(record().state, ExperimentState::active) << "one trial fails, not the program";
  cluster.expect_replayable();
}

TEST_F(FirstFailures, TwoTrialsAreTriedAgainIfThereAreNoOthers) {
  begin(2, random_config(2, 2));
  EXPECT_EQ(fail_all(), 4);
  EXPECT_EQ(record().state, ExperimentState::failed);
  EXPECT_EQ(cluster.trial(id, 0).attempts, 2U);
  EXPECT_EQ(cluster.trial(id, 1).attempts, 2U);
  EXPECT_EQ(
      record().reason,
      "every trial failed; the last: exit status 1: ModuleNotFoundError: No module named 'numpi'; it failed "
      "twice in the same way before its first report");
  cluster.expect_replayable();
}

TEST_F(FirstFailures, AttemptsThatFailForOneCauseAreCountedWhereverTheyFail) {
  begin(3, random_config(40, 3));
  EXPECT_EQ(record().failure_causes.most_common(), nullptr);
  const std::string memory = "CUDA out of memory: 512 MiB\n";
  for (std::uint64_t step = 1; step <= 2; ++step) {
    const AttemptKey key = cluster.attempts.begin()->first;
    cluster.report(key, step, 0.5);
    fail(key, step == 1 ? memory : "CUDA out of memory: 640 MiB\n");
    if (step == 1) {
      EXPECT_EQ(record().failure_causes.most_common(), nullptr) << "one failure is none of several";
    }
  }
  fail(cluster.attempts.begin()->first);
  const FailureCauses::Cause* cause = record().failure_causes.most_common();
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->attempts, 2U);
  EXPECT_EQ(cause->why, "exit status 1: CUDA out of memory: 640 MiB");
  cluster.step(PauseExperiment{id});
  cluster.step(ResumeExperiment{id});
  EXPECT_EQ(record().failure_causes.most_common(), nullptr) << "a user has looked at them";
  cluster.expect_replayable();
}

TEST(FailureCauses, TheMostFrequentCauseStaysAndTheRarestOneIsForgotten) {
  FailureCauses causes;
  for (int i = 0; i < 3; ++i) {
    causes.note("often", "often " + std::to_string(i), TrialNumber(static_cast<std::uint64_t>(i)));
  }
  for (std::size_t i = 0; i < 2 * FailureCauses::most; ++i) {
    causes.note(std::to_string(i), "once", TrialNumber(9));
  }
  EXPECT_EQ(causes.causes().size(), FailureCauses::most);
  ASSERT_NE(causes.most_common(), nullptr);
  EXPECT_EQ(causes.most_common()->why, "often 2");
  EXPECT_EQ(causes.most_common()->trial, TrialNumber(2));
  causes.note("later", "later", TrialNumber(4));
  causes.note("later", "later", TrialNumber(5));
  EXPECT_EQ(causes.most_common()->attempts, 3U);
  causes.note("later", "later", TrialNumber(6));
  EXPECT_EQ(causes.most_common()->why, "later") << "of two alike the later one";
}

TEST_F(FirstFailures, OneFailurePausesTheSearchIfTheFileNamesOne) {
  begin(4, random_config(40, 4, Value::Map{{"pause_on_failures", 1}}));
  fail(cluster.live(id, 2));
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_EQ(record().reason,
            "its first trial failed: exit status 1: ModuleNotFoundError: No module named 'numpi'");
}

TEST_F(FirstFailures, ATrialThatAUserRetriesGoesFirst) {
  begin(1, random_config(20, 1, Value::Map{{"max_restarts", 1}}));
  for (int twice = 0; twice < 2; ++twice) {
    const AttemptKey key = cluster.live(id, 0);
    cluster.report(key, 1, 0.5);
    fail(key);
  }
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::failed);
  cluster.step(RetryTrial{id, TrialNumber(0)});
  cluster.step(EndTrial{id, TrialNumber(1), ExitReason::user_stopped});
  cluster.exit(cluster.live(id, 1));
  EXPECT_TRUE(cluster.trial(id, 0).live.has_value());
  cluster.expect_replayable();
}

TEST_F(FirstFailures, HoweverTheyBegin) {
  for (const auto& [cause, code] : std::vector<std::pair<Cause, int>>{
           {Cause::could_not_start, 0}, {Cause::signaled, 11}, {Cause::exited, 127}}) {
    cluster = TestCluster();
    begin(2, random_config(20, 2));
    EXPECT_EQ(fail_all(cause, code), 3) << code;
    EXPECT_EQ(record().state, ExperimentState::paused);
  }
}

TEST_F(FirstFailures, NumbersInTheLastLineDoNotMakeThemDifferent) {
  begin(1, random_config(20, 1));
  fail(cluster.live(id, 0), "2026-11-26 21:07:10 [4711] no data");
  ASSERT_EQ(cluster.attempts.size(), 1U);
  fail(cluster.attempts.begin()->first, "2026-11-26 21:07:11 [4715] no data");
  ASSERT_EQ(cluster.attempts.size(), 1U);
  fail(cluster.attempts.begin()->first, "2026-11-27 01:00:00 [12] no data\n\n");
  EXPECT_EQ(record().state, ExperimentState::paused);
}

TEST_F(FirstFailures, FailuresOfDifferentKindsDoNot) {
  begin(1, random_config(20, 1, Value::Map{{"max_restarts", 0}}));
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(cluster.attempts.size(), 1U) << i;
    fail(cluster.attempts.begin()->first, i % 2 == 0 ? "no data" : "no room");
  }
  EXPECT_EQ(record().state, ExperimentState::active);
}

TEST_F(FirstFailures, ThatAnotherTryMayCureDoNot) {
  begin(1, random_config(20, 1, Value::Map{{"max_restarts", 0}}));
  EXPECT_EQ(fail_all(Cause::signaled, 9), 20);
  EXPECT_EQ(record().state, ExperimentState::failed);
}

TEST_F(FirstFailures, AfterAReportAreNotTheFirst) {
  begin(2, random_config(20, 2));
  cluster.report(cluster.live(id, 0), 1, 0.5);
  for (int i = 0; i < 8; ++i) {
    for (const auto& [key, attempt] : cluster.attempts) {
      if (key.trial.number() > 0) {
        fail(key);
        break;
      }
    }
  }
  EXPECT_EQ(record().state, ExperimentState::active) << "one trial works";
}

TEST_F(FirstFailures, AtTheSameStepPauseTheSearchAsWell) {
  begin(1, random_config(20, 1));
  std::vector<std::uint64_t> trials;
  while (!cluster.attempts.empty()) {
    const AttemptKey key = cluster.attempts.begin()->first;
    trials.push_back(key.trial.number());
    cluster.report(key, 1, 0.5);
    fail(key, "FileNotFoundError: models/1.pt");
  }
  EXPECT_EQ(trials, (std::vector<std::uint64_t>{0, 0, 1, 1, 2})) << "one that has trained goes on first";
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_EQ(record().by_state[static_cast<std::size_t>(TrialState::failed)], 0U);
  cluster.expect_replayable();
}

TEST_F(FirstFailures, AtTheirLengthDoNotOnceOneGotThere) {
  begin(1, random_config(20, 1, Value::Map{{"max_restarts", 0}}));
  const AttemptKey first = cluster.live(id, 0);
  cluster.report(first, 9, 0.5);
  cluster.exit(first);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(cluster.attempts.size(), 1U) << i;
    fail(cluster.attempts.begin()->first);
  }
  EXPECT_EQ(record().state, ExperimentState::active);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(cluster.attempts.size(), 1U) << i;
    const AttemptKey key = cluster.attempts.begin()->first;
    cluster.report(key, 1, 0.5);
    fail(key);
  }
  EXPECT_EQ(record().state, ExperimentState::active) << "also behind a first report";
}

TEST_F(FirstFailures, FailuresOfOneWorkerAmongOthersDoNotPauseIt) {
  begin(1, random_config(20, 1));
  cluster.join("other", 1);
  const ExperimentId busy = cluster.create(random_config(1, 1));
  for (std::uint64_t trial = 0; trial < 3; ++trial) {
    fail(cluster.live(id, trial));
  }
  EXPECT_EQ(record().state, ExperimentState::active) << "the worker may be to blame";
  const AttemptKey last = cluster.live(busy, 0);
  cluster.report(last, 9, 0.5);
  cluster.exit(last);
  EXPECT_LE(fail_all(), 2);
  EXPECT_EQ(record().state, ExperimentState::paused) << "it was not";
}

TEST_F(FirstFailures, TrialsThatFailedOnOneWorkerAreTriedOnAnotherBeforeAPause) {
  begin(1, random_config(20, 1));
  cluster.join("other", 1);
  std::vector<std::uint64_t> trials;
  while (!cluster.attempts.empty()) {
    const AttemptKey key = cluster.attempts.begin()->first;
    trials.push_back(key.trial.number());
    fail(key);
  }
  EXPECT_EQ(trials, (std::vector<std::uint64_t>{0, 1, 2, 0}));
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_EQ(record().by_state[static_cast<std::size_t>(TrialState::failed)], 0U) << "nothing is lost";
  cluster.expect_replayable();
}

TEST_F(FirstFailures, HoldBackAllButThree) {
  begin(4, random_config(20, 0, Value::Map{{"max_restarts", 0}}));
  ASSERT_EQ(cluster.attempts.size(), 4U);
  fail(cluster.live(id, 0));
  EXPECT_EQ(cluster.attempts.size(), 3U) << "the others may show what is wrong";
  cluster.report(cluster.live(id, 1), 1, 0.5);
  EXPECT_EQ(cluster.attempts.size(), 4U) << "one of them works";
}

TEST_F(FirstFailures, ThatHoldBackAreExplained) {
  begin(4, random_config(4, 0));
  fail(cluster.live(id, 0));
  const Explanation explained = explain(record(), TrialNumber(0), cluster.engine.workers(), cluster.now);
  const auto wait = std::get<WaitForFirstReport>(std::get<NextSlots>(explained.next).wait);
  EXPECT_EQ(wait.failed, 1U);
  EXPECT_EQ(wait.running, 3U);
  EXPECT_EQ(wait.most, 3U);
  EXPECT_EQ(wait.why, "exit status 1: ModuleNotFoundError: No module named 'numpi'");
}

TEST_F(FirstFailures, FailuresAfterAResumeAreCountedAnew) {
  begin(2, random_config(20, 2));
  EXPECT_EQ(fail_all(), 3);
  cluster.step(ResumeExperiment{id});
  EXPECT_EQ(record().state, ExperimentState::active);
  EXPECT_TRUE(record().reason.empty());
  EXPECT_EQ(fail_all(), 3);
  EXPECT_EQ(record().state, ExperimentState::paused);
  cluster.step(ResumeExperiment{id});
  cluster.run_all([](TrialNumber) { return 0.5; });
  EXPECT_EQ(record().state, ExperimentState::completed);
  EXPECT_EQ(record().by_state[static_cast<std::size_t>(TrialState::completed)], 20U) << "none was burnt";
  cluster.expect_replayable();
}

TEST_F(FirstFailures, FailuresOfTheOnlyTrialEndItAfterOneMoreTry) {
  begin(1, random_config(1, 1));
  EXPECT_EQ(fail_all(), 2);
  EXPECT_EQ(record().state, ExperimentState::failed);
  EXPECT_EQ(cluster.trial(id, 0).reason.detail(),
            "exit status 1; it failed twice in the same way before its first report");
}

TEST_F(FirstFailures, LaterTrialsAreTriedTwiceAtMost) {
  begin(1, random_config(3, 1));
  const AttemptKey first = cluster.live(id, 0);
  cluster.report(first, 9, 0.5);
  cluster.exit(first);
  EXPECT_EQ(fail_all(), 4);
  EXPECT_EQ(cluster.trial(id, 1).attempts, 2U);
  EXPECT_EQ(cluster.trial(id, 2).state, TrialState::failed);
}

TEST_F(FirstFailures, AloneMakeAFailedSearch) {
  begin(1, random_config(20, 1, Value::Map{{"budget", Value::Map{{"max_time", 3}}}}));
  fail(cluster.live(id, 0));
  cluster.now = cluster.now + Duration::seconds(10);
  cluster.step(CheckTimers{});
  EXPECT_EQ(record().stopping_as, ExperimentState::failed) << "nothing but a failure happened";
}

// --- the searcher's metric ---

TEST_F(FirstFailures, AMetricThatNeverComesFailsItsTrialsAndPausesTheSearch) {
  begin(1, random_config(20, 1));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cluster.attempts.size(), 1U);
    const AttemptKey key = cluster.attempts.begin()->first;
    for (std::uint64_t step = 1; step <= 9; ++step) {
      report_other(key, step);
      ASSERT_FALSE(is_closed(cluster.trial(id, key.trial.number()).state))
          << "it may come at this step still";
    }
    report_other(key, 10);
    const TrialRecord& trial = cluster.trial(id, key.trial.number());
    EXPECT_EQ(trial.state, TrialState::failed);
    EXPECT_EQ(trial.reason.detail(),
              "at 10 epochs, beyond its length of 9 epochs, it had reported \"scores\"; the search's metric "
              "is \"score\" (did you "
              "mean \"scores\"?)");
    EXPECT_EQ(trial.live->decision->directive, Directive::stop);
    cluster.exit(key);
  }
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_MESSAGE(record().reason);
  EXPECT_TRUE(cluster.attempts.empty());
  cluster.expect_replayable();
}

TEST_F(FirstFailures, AMetricThatComesSeldomIsWaitedFor) {
  begin(1, asha_config(20, 1));  // Its first length is 1.
  const AttemptKey key = cluster.live(id, 0);
  for (std::uint64_t step = 1; step <= 4; ++step) {
    report_other(key, step);
  }
  cluster.report(key, 5, 0.5);
  EXPECT_FALSE(is_closed(cluster.trial(id, 0).state));
  EXPECT_EQ(all<LengthReached>(cluster.log).size(), 1U);
}

TEST_F(FirstFailures, AMetricInASecondReportOfTheStepIsWaitedFor) {
  begin(1, random_config(20, 1));
  const AttemptKey key = cluster.live(id, 0);
  report_other(key, 9);
  report_other(key, 9);
  cluster.report(key, 9, 0.5);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::completed);
}

TEST_F(FirstFailures, AProgramThatStandsAtItsLengthWithoutTheMetricFailsAndPausesTheSearch) {
  begin(1, random_config(20, 1));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cluster.attempts.size(), 1U);
    const AttemptKey key = cluster.attempts.begin()->first;
    report_other(key, 9);
    cluster.send(key, UnmeasuredReport{Units{9}});
    const TrialRecord& trial = cluster.trial(id, key.trial.number());
    EXPECT_EQ(trial.state, TrialState::failed);
    EXPECT_EQ(
        trial.reason.detail(),
        "at 9 epochs, its length, it reports again and again, and it has reported \"scores\"; the search's "
        "metric is \"score\" (did you mean \"scores\"?)");
    EXPECT_EQ(trial.live->decision->directive, Directive::stop);
    cluster.exit(key);
  }
  EXPECT_EQ(record().state, ExperimentState::paused);
  cluster.expect_replayable();
}

TEST_F(FirstFailures, AProgramThatStandsAtItsLengthIsDecidedByWhatItMeasuredBefore) {
  begin(1, random_config(20, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 5, 0.5);
  report_other(key, 9);
  cluster.send(key, UnmeasuredReport{Units{9}});
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::completed);
  EXPECT_EQ(all<LengthReached>(cluster.log).at(0).metric, 0.5);
}

TEST_F(FirstFailures, AMetricThatStopsComingEndsItsTrial) {
  begin(1, random_config(20, 1));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 5, 0.5);
  for (std::uint64_t step = 6; step <= 10; ++step) {
    report_other(key, step);
    ASSERT_FALSE(is_closed(cluster.trial(id, 0).state)) << step;
  }
  report_other(key, 11);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::failed);
}

TEST_F(FirstFailures, ProgramsThatEndWellWithoutTheMetricPauseTheSearch) {
  begin(1, random_config(20, 1));
  cluster.exit(cluster.live(id, 0));
  cluster.exit(cluster.live(id, 1));
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_EQ(record().trials.size(), 2U);
}

TEST_F(FirstFailures, PauseOnFailuresIsTheNumberOfTrials) {
  begin(2, random_config(20, 2, Value::Map{{"max_restarts", 0}, {"pause_on_failures", 8}}));
  EXPECT_EQ(fail_all(), 8);
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_TRUE(record().reason.starts_with("its first 8 trials failed in the same way")) << record().reason;
  cluster.expect_replayable();
}

TEST_F(FirstFailures, NothingPausesASearchThatSaysNever) {
  begin(2, random_config(20, 2, Value::Map{{"max_restarts", 0}, {"pause_on_failures", 0}}));
  EXPECT_EQ(fail_all(), 20);
  EXPECT_NE(record().state, ExperimentState::paused);
  EXPECT_EQ(record().trials.size(), 20U);
}

// A daemon that had read its log again put the trial off once more.
TEST_F(FirstFailures, FailuresOfAResumedSearchLeaveTheSameWaitsInTheLog) {
  begin(2, random_config(20, 2, Value::Map{{"max_restarts", 0}}));
  for (int twice = 0; twice < 2; ++twice) {
    cluster.exit(cluster.live(id, 1), 75);
  }
  for (const std::uint64_t trial : {0U, 2U, 3U}) {
    fail(cluster.live(id, trial));
  }
  ASSERT_EQ(record().state, ExperimentState::paused);
  ASSERT_GT(cluster.trial(id, 1).failure_history->not_before, cluster.now);
  cluster.now = cluster.now + Duration::seconds(60);
  cluster.step(CheckTimers{});
  cluster.step(ResumeExperiment{id});
  cluster.expect_replayable();
}

TEST_F(FirstFailures, NaNOfEightTrialsPausesTheSearchOnce) {
  begin(1, random_config(18, 1));
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_EQ(record().state, ExperimentState::active) << i;
    const AttemptKey key = cluster.live(id, i);
    cluster.report(key, 9, std::nan(""));
    cluster.exit(key);
  }
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_EQ(record().reason,
            "its first trials reached their lengths, and every score that they reported was NaN or infinite");
  cluster.step(ResumeExperiment{id});
  for (std::uint64_t i = 8; i < 18; ++i) {
    const AttemptKey key = cluster.live(id, i);
    cluster.report(key, 9, std::nan(""));
    cluster.exit(key);
  }
  EXPECT_EQ(record().state, ExperimentState::completed) << "who goes on knows of it";
  cluster.expect_replayable();
}

TEST_F(FirstFailures, NaNOfOneTrialAtEveryLengthIsThatOfOneTrial) {
  begin(1, asha_config(20, 1, /*stop_once=*/true));
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    const AttemptKey key = cluster.live(id, trial);
    for (const std::uint64_t length : {1U, 3U, 9U}) {
      if (cluster.attempts.contains(key)) {
        cluster.report(key, length, std::nan(""));
      }
    }
    cluster.exit(key);
  }
  EXPECT_GT(all<LengthReached>(cluster.log).size(), 8U);
  EXPECT_EQ(record().state, ExperimentState::active);
  cluster.expect_replayable();
}

TEST_F(FirstFailures, NaNAmongFiniteValuesDoesNot) {
  begin(2, random_config(4, 2));
  cluster.report(cluster.live(id, 1), 1, 0.5);
  for (const std::uint64_t trial : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{3}}) {
    const AttemptKey key = cluster.live(id, trial);
    cluster.report(key, 9, std::nan(""));
    cluster.exit(key);
  }
  EXPECT_EQ(record().state, ExperimentState::active);
}

TEST(AbsentMetric, NamesWhatWasReportedAndWhatMayBeMeant) {
  const std::vector<std::string_view> names = {"acc", "val_loss"};
  EXPECT_EQ(
      absent_metric_text(names, "valid_loss"),
      "reported \"acc\", \"val_loss\"; the search's metric is \"valid_loss\" (did you mean \"val_loss\"?)");
  EXPECT_EQ(absent_metric_text({}, "loss"), "reported no metric; the search's metric is \"loss\"");
  EXPECT_EQ(meant_metric(names, "validation_loss"), "val_loss");
  EXPECT_EQ(meant_metric(names, "Accuracy"), "acc");
  EXPECT_EQ(meant_metric(names, "perplexity"), "");
}

class FirstLook : public FirstFailures {
 protected:
  FirstLook() : FirstFailures(TestCluster::FirstLook::taken) {}
};

TEST_F(FirstLook, FindsAMistakeOnManySlotsWithThreeAttempts) {
  begin(8, random_config(20, 0));
  EXPECT_EQ(cluster.attempts.size(), 3U);
  EXPECT_EQ(fail_all(), 3);
  EXPECT_EQ(record().state, ExperimentState::paused);
  cluster.step(ResumeExperiment{id});
  EXPECT_EQ(cluster.attempts.size(), 3U) << "what was mended may be wrong still";
}

TEST_F(FirstLook, FindsAnAbsentMetricOnManySlotsWithThreeAttempts) {
  begin(8, random_config(20, 0));
  cluster.exit(cluster.live(id, 0));
  EXPECT_EQ(cluster.attempts.size(), 2U);
  cluster.exit(cluster.live(id, 1));
  EXPECT_EQ(record().state, ExperimentState::paused);
  EXPECT_EQ(record().trials.size(), 3U);
}

TEST_F(FirstLook, EndsWhenOneAttemptGetsOn) {
  begin(8, random_config(20, 0));
  report_other(cluster.live(id, 1), 1);
  report_other(cluster.live(id, 1), 2);
  cluster.report(cluster.live(id, 2), 1, 0.5);
  cluster.report(cluster.live(id, 2), 1, 0.5);
  EXPECT_EQ(cluster.attempts.size(), 3U) << "its metric may be absent, and its step may stand still";
  cluster.report(cluster.live(id, 2), 2, 0.5);
  EXPECT_EQ(cluster.attempts.size(), 8U);
}

TEST_F(FirstLook, EndsWhenALengthIsReached) {
  begin(8, random_config(20, 0));
  cluster.report(cluster.live(id, 2), 9, 0.5);
  EXPECT_GE(cluster.attempts.size(), 8U);
}

TEST_F(FirstLook, EndsAfterATime) {
  begin(8, random_config(20, 0));
  const Instant ends = cluster.now + Duration::seconds(5);
  EXPECT_EQ(cluster.engine.next_deadline(), ends);
  cluster.now = ends + Duration::millis(-2);
  cluster.step(CheckTimers{});  // A millisecond later.
  EXPECT_EQ(cluster.attempts.size(), 3U);
  cluster.step(CheckTimers{});
  EXPECT_EQ(cluster.attempts.size(), 8U);
  EXPECT_EQ(cluster.engine.next_deadline(), std::nullopt);
}

TEST_F(FirstLook, IsNotUsedUpWithoutADaemon) {
  begin(8, random_config(20, 0));
  Engine next = cluster.replayed();
  for (const auto& [worker, record] : next.workers()) {
    next.set_suspect(worker, false);
  }
  cluster.engine = std::move(next);
  cluster.now = cluster.engine.last_instant() + Duration::seconds(3'600);
  cluster.step(ContinueTime{});
  EXPECT_EQ(cluster.attempts.size(), 3U);
  cluster.now = cluster.now + Duration::seconds(5);
  cluster.step(CheckTimers{});
  EXPECT_EQ(cluster.attempts.size(), 8U);
}

TEST_F(FirstLook, IsExplained) {
  begin(8, random_config(20, 0));
  cluster.now = cluster.now + Duration::seconds(5);
  cluster.step(CheckTimers{});
  ASSERT_EQ(cluster.attempts.size(), 8U);
  EXPECT_EQ(fail_all(), 8);
  ASSERT_EQ(record().state, ExperimentState::paused);
  cluster.step(ResumeExperiment{id});
  ASSERT_EQ(cluster.attempts.size(), 3U);
  const Explanation explained = explain(record(), TrialNumber(7), cluster.engine.workers(), cluster.now);
  const auto wait = std::get<WaitForFirstReport>(std::get<NextSlots>(explained.next).wait);
  EXPECT_EQ(wait.failed, 0U);
  EXPECT_EQ(wait.running, 3U);
  EXPECT_EQ(wait.why, "");
  EXPECT_EQ(wait.remaining, Duration::seconds(5));
}

}  // namespace
}  // namespace hpsearch::engine
