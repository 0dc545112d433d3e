#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/test_cluster.hpp"
#include "messages.hpp"

// What trials were really trained, and programs whose steps are not quite those of their lengths.

namespace hpsearch::engine {
namespace {

std::vector<std::string> notes(const TestCluster& cluster, ExperimentId id) {
  std::vector<std::string> kinds;
  for (const ExperimentNote& note : cluster.engine.find(id)->notes) {
    kinds.push_back(note.about);
  }
  return kinds;
}

std::uint64_t trained(const TestCluster& cluster, ExperimentId id) {
  return static_cast<std::uint64_t>(cluster.engine.find(id)->tally.trained());
}

/// Steps first, …, last of a program, each with the metric `metric`.
void report_steps(TestCluster& cluster, const AttemptKey& key, std::uint64_t first, std::uint64_t last,
                  double metric) {
  for (std::uint64_t step = first; step <= last; ++step) {
    cluster.report(key, step, metric);
  }
}

class TrainedLength : public testing::Test {
 protected:
  TrainedLength() { cluster.join("a", 1); }
  ~TrainedLength() override { cluster.expect_replayable(); }

  [[nodiscard]] const TrialRecord& trial(ExperimentId id, std::uint64_t number) const {
    return cluster.trial(id, number);
  }

  TestCluster cluster;
};

TEST_F(TrainedLength, StepsFromZeroAreCountedFromOne) {
  const ExperimentId id = cluster.create(random_config(2, 1));
  AttemptKey key = cluster.live(id, 0);
  report_steps(cluster, key, 0, 7, 0.5);
  cluster.report(key, 8, 0.25);
  EXPECT_EQ(trial(id, 0).reached, Units{8});
  cluster.exit(key);
  EXPECT_EQ(trial(id, 0).state, TrialState::completed);
  EXPECT_EQ(trial(id, 0).reached, Units{9});
  EXPECT_EQ(trial(id, 0).trained, Units{9});
  EXPECT_EQ(trial(id, 0).best->step, Units{9});
  EXPECT_EQ(notes(cluster, id), std::vector<std::string>{"from_zero"});
  const auto reached = all<LengthReached>(cluster.log);
  ASSERT_EQ(reached.size(), 1U);
  EXPECT_EQ(reached[0].metric, 0.25);

  key = cluster.live(id, 1);
  report_steps(cluster, key, 0, 8, 0.125);
  cluster.exit(key);
  EXPECT_EQ(trial(id, 1).state, TrialState::completed);
  EXPECT_EQ(trial(id, 1).best->step, Units{1}) << "its first one";
  EXPECT_EQ(trained(cluster, id), 18U);
}

TEST_F(TrainedLength, AStoppedProgramThatCountsFromZeroIsCountedFromOneToo) {
  const ExperimentId id = cluster.create(asha_config(4, 1, true));
  for (std::uint64_t number = 0; number < 4; ++number) {
    const AttemptKey key = cluster.live(id, number);
    report_steps(cluster, key, 0, 8, number == 1 ? 0.1 : 0.5);
    cluster.exit(key);
    if (number == 0) {
      EXPECT_EQ(trial(id, 0).state, TrialState::completed) << "the first one of a rung goes on";
    }
  }
  EXPECT_EQ(trial(id, 3).state, TrialState::stopped);
  EXPECT_EQ(trial(id, 3).reached, Units{9}) << "it was stopped at 1, and trained on";
  EXPECT_EQ(trained(cluster, id), 36U);
}

TEST_F(TrainedLength, AProgramWhoseLastReportIsOneShortAndThatEndedWellHasCompletedIt) {
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey key = cluster.live(id, 0);
  report_steps(cluster, key, 1, 8, 0.5);
  cluster.exit(key);
  EXPECT_EQ(trial(id, 0).state, TrialState::completed);
  EXPECT_EQ(trial(id, 0).reached, Units{9});
  EXPECT_EQ(trial(id, 0).trained, Units{9});
  EXPECT_EQ(trial(id, 0).best->step, Units{1});
  EXPECT_EQ(notes(cluster, id), std::vector<std::string>{"one_short"});
}

TEST_F(TrainedLength, TwoStepsShortIsAsReportedAndAFailureIsNotComplete) {
  const ExperimentId id = cluster.create(random_config(2, 1, Value::Map{{"max_restarts", 0}}));
  AttemptKey key = cluster.live(id, 0);
  report_steps(cluster, key, 0, 7, 0.5);
  cluster.exit(key);
  EXPECT_EQ(trial(id, 0).state, TrialState::completed);
  EXPECT_EQ(trial(id, 0).reason.detail(), "its program ended at 7 epochs of 9 epochs");
  EXPECT_EQ(trial(id, 0).reached, Units{7});
  key = cluster.live(id, 1);
  report_steps(cluster, key, 0, 8, 0.5);
  cluster.exit(key, 1);
  EXPECT_EQ(trial(id, 1).state, TrialState::failed);
  EXPECT_EQ(trial(id, 1).reached, Units{8});
  EXPECT_EQ(notes(cluster, id), std::vector<std::string>{"own_length"});
}

TEST_F(TrainedLength, AProgramWithItsOwnLengthGetsANoteWhatToSet) {
  const ExperimentId id = cluster.create(random_config(1, 1));
  const AttemptKey key = cluster.live(id, 0);
  report_steps(cluster, key, 1, 5, 0.5);
  cluster.exit(key);
  const auto reached = all<LengthReached>(cluster.log);
  ASSERT_EQ(reached.size(), 1U);
  EXPECT_EQ(reached[0].step, Units{5});
  EXPECT_TRUE(reached[0].ended);
  EXPECT_MESSAGE(cluster.engine.find(id)->notes.at(0).text);
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
}

// It was started for 1 epoch, promoted in place, and trains 5, whatever it is asked for.
TEST_F(TrainedLength, AProgramThatPassedItsFirstLengthAndEndsBelowTheNextIsTrainedOnce) {
  const ExperimentId id = cluster.create(asha_config(1, 1, true));
  const AttemptKey key = cluster.live(id, 0);
  report_steps(cluster, key, 1, 5, 0.5);
  ASSERT_EQ(trial(id, 0).length, Units{9});
  cluster.exit(key);
  EXPECT_EQ(trial(id, 0).state, TrialState::completed);
  EXPECT_EQ(trial(id, 0).attempts, 1U);
  EXPECT_EQ(trained(cluster, id), 5U);
}

// It was promoted in place to 3, and reports 1 and 2: the third it did not report, or it counts from 0.
TEST_F(TrainedLength, AProgramThatPassedItsFirstLengthAndIsOneShortOfTheNextIsTrainedOnce) {
  const ExperimentId id = cluster.create(asha_config(1, 1, true));
  const AttemptKey key = cluster.live(id, 0);
  report_steps(cluster, key, 1, 2, 0.5);
  ASSERT_EQ(trial(id, 0).length, Units{3});
  cluster.exit(key);
  EXPECT_EQ(trial(id, 0).state, TrialState::completed);
  EXPECT_EQ(trial(id, 0).attempts, 1U);
  EXPECT_EQ(trial(id, 0).reached, Units{3});
}

TEST_F(TrainedLength, AProgramThatEndedWhileItsTrialWasPausedIsPromotedByWhatItReported) {
  const ExperimentId id = cluster.create(asha_config(9, 1));
  const AttemptKey first = cluster.live(id, 0);
  report_steps(cluster, first, 1, 5, 0.1);
  cluster.exit(first);
  ASSERT_EQ(trial(id, 0).state, TrialState::paused);
  cluster.run_all([](TrialNumber) { return 0.5; });
  EXPECT_EQ(trial(id, 0).attempts, 1U);
  EXPECT_EQ(trial(id, 0).length, Units{9}) << "promoted twice";
  EXPECT_EQ(trial(id, 0).state, TrialState::completed);
}

TEST_F(TrainedLength, ATrialThatEndedAtItsLengthRunsAgainForTheNext) {
  const ExperimentId id = cluster.create(asha_config(1, 1, true));
  const AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 2, 0.5);  // It measures every second epoch.
  ASSERT_EQ(trial(id, 0).length, Units{3});
  cluster.exit(key);
  EXPECT_EQ(cluster.live(id, 0).attempt, AttemptNumber(2)) << "it may obey its length";
}

// The program trains 1 epoch, which is the first rung too: it is seen when the first ones are run again.
TEST_F(TrainedLength, AfterTwoTrialsItIsKnownWhereProgramsEnd) {
  const ExperimentId id = cluster.create(asha_config(4, 1, true));
  for (std::uint64_t number = 0; number < 4; ++number) {
    while (trial(id, number).live) {
      const AttemptKey key = cluster.live(id, number);
      cluster.report(key, 1, 0.5 - 0.1 * static_cast<double>(number));
      cluster.exit(key);
    }
    EXPECT_EQ(trial(id, number).state, TrialState::completed);
    EXPECT_EQ(trial(id, number).attempts, number < 2 ? 2U : 1U) << number;
  }
}

TEST_F(TrainedLength, AMetricThatIsLastMeasuredBelowTheLengthCountsThere) {
  const ExperimentId id = cluster.create(random_config(2, 1));
  AttemptKey key = cluster.live(id, 0);
  cluster.report(key, 5, 0.5);  // Every fifth epoch.
  cluster.exit(key);
  key = cluster.live(id, 1);
  cluster.report(key, 5, 0.5);
  cluster.send(key, MetricsReport{Units{9}, {{"loss", 0.1}}});
  cluster.exit(key);
  const auto reached = all<LengthReached>(cluster.log);
  ASSERT_EQ(reached.size(), 2U);
  EXPECT_EQ(reached[0].metric, 0.5);
  EXPECT_EQ(reached[1].metric, 0.5);
  EXPECT_FALSE(reached[1].ended);
}

TEST_F(TrainedLength, ATrialThatIsPromotedWithoutACheckpointIsTrainedAgainAndNotedOnce) {
  const ExperimentId id = cluster.create(asha_config(3, 1));
  for (std::uint64_t number = 0; number < 3; ++number) {
    const AttemptKey key = cluster.live(id, number);
    cluster.report(key, 1, 0.5 + static_cast<double>(number));
    cluster.exit(key);
  }
  EXPECT_EQ(trained(cluster, id), 3U);
  const AttemptKey again = cluster.live(id, 0);
  EXPECT_EQ(notes(cluster, id), std::vector<std::string>{}) << "nobody knows yet where it begins";
  cluster.report(again, 1, 0.5);
  ASSERT_EQ(notes(cluster, id), std::vector<std::string>{"anew"});
  EXPECT_MESSAGE(cluster.engine.find(id)->notes[0].text);
  report_steps(cluster, again, 2, 3, 0.4);
  EXPECT_EQ(trial(id, 0).reached, Units{3});
  EXPECT_EQ(trial(id, 0).trained, Units{4});
  EXPECT_EQ(trained(cluster, id), 6U);
}

TEST_F(TrainedLength, ATrialThatGoesOnFromACheckpointIsTrainedOnce) {
  for (const bool keeps_its_own : {false, true}) {
    const ExperimentId id = cluster.create(asha_config(3, 1));
    for (std::uint64_t number = 0; number < 3; ++number) {
      const AttemptKey key = cluster.live(id, number);
      cluster.report(key, 1, 0.5 + static_cast<double>(number));
      if (!keeps_its_own) {
        cluster.send(key, CheckpointReport{Units{1}, "/c/" + std::to_string(number), 1, 1});
      }
      cluster.exit(key);
    }
    const AttemptKey again = cluster.live(id, 0);
    report_steps(cluster, again, 2, 3, 0.4);
    EXPECT_EQ(trial(id, 0).trained, Units{3}) << keeps_its_own;
    EXPECT_EQ(notes(cluster, id), std::vector<std::string>{}) << keeps_its_own;
    cluster.run_all([](TrialNumber) { return 0.5; });
  }
}

TEST_F(TrainedLength, ACheckpointThatWasNotTakenDoesNotCount) {
  const ExperimentId id = cluster.create(random_config(1, 1));
  AttemptKey key = cluster.live(id, 0);
  report_steps(cluster, key, 1, 5, 0.5);
  cluster.send(key, CheckpointReport{Units{5}, "/c/5", 1, 1});
  cluster.exit(key, 1);
  key = cluster.live(id, 0);
  report_steps(cluster, key, 1, 9, 0.5);
  EXPECT_EQ(trial(id, 0).trained, Units{14});
}

TEST_F(TrainedLength, APromotionIsDecidedFromWhatTheProgramReportedAlready) {
  const ExperimentId id = cluster.create(asha_config(3, 1));
  const AttemptKey first = cluster.live(id, 0);
  report_steps(cluster, first, 1, 2, 0.1);
  cluster.report(first, 3, 0.3);
  report_steps(cluster, first, 4, 8, 0.4);
  cluster.report(first, 9, 0.9);
  cluster.exit(first);
  ASSERT_EQ(trial(id, 0).state, TrialState::paused);
  for (std::uint64_t number = 1; number < 3; ++number) {
    const AttemptKey key = cluster.live(id, number);
    cluster.report(key, 1, 0.5);
    cluster.exit(key);
  }
  const auto reached = all<LengthReached>(cluster.log);
  ASSERT_EQ(reached.size(), 4U);
  EXPECT_EQ(reached.back().length, Units{3});
  EXPECT_EQ(reached.back().step, Units{3});
  EXPECT_EQ(reached.back().metric, 0.3) << "not its last one, at 9";
  EXPECT_EQ(trial(id, 0).attempts, 1U);
  EXPECT_EQ(trained(cluster, id), 11U) << "what it trained beyond its rung counts";
}

TEST_F(TrainedLength, AnAttemptWithoutAReportTrainedAnUnknownLength) {
  const ExperimentId id = cluster.create(random_config(2, 1, Value::Map{{"max_restarts", 0}}));
  cluster.exit(cluster.live(id, 0), 1);
  EXPECT_TRUE(trial(id, 0).trained_unreported);
  EXPECT_EQ(cluster.engine.find(id)->unreported, 1U);
  const AttemptKey key = cluster.live(id, 1);
  report_steps(cluster, key, 1, 9, 0.5);
  cluster.exit(key);
  EXPECT_FALSE(trial(id, 1).trained_unreported);
  EXPECT_EQ(cluster.engine.find(id)->unreported, 1U);
}

TEST_F(TrainedLength, AnAttemptThatNeverRanTrainedNothing) {
  const ExperimentId id = cluster.create(random_config(1, 1, Value::Map{{"max_restarts", 0}}));
  ExitReport report;
  report.cause = ExitReport::Cause::could_not_start;
  cluster.send(cluster.live(id, 0), report);
  EXPECT_FALSE(trial(id, 0).trained_unreported);
}

}  // namespace
}  // namespace hpsearch::engine
