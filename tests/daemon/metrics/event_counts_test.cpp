#include "daemon/metrics/event_counts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {
namespace {

using namespace engine;

/// Events of one experiment with trials of nine epochs, at whole seconds.
class Story {
 public:
  explicit Story(EventCounts& counts, const std::string& pool = "") : counts_(counts) {
    ExperimentCreated created;
    created.experiment = experiment;
    created.config =
        *proto::parse_json(R"({"searcher": {"name": "async_halving", "max_length": {"epochs": 9}},
                                            "resources": {"resource_pool": ")" +
                           pool + R"("}})");
    tell(0, created);
  }

  template <class Event>
  void tell(std::int64_t second, Event event) {
    counts_.note({Lsn(++lsn_), Instant::from_micros(second * 1'000'000), EventBody(std::move(event))});
  }
  void create(std::int64_t second, TrialNumber trial) {
    tell(second, TrialCreated{experiment, trial, TrialId(1), Value(), Units(1), Reason()});
  }
  void lease(std::int64_t second, TrialNumber trial, std::size_t slots) {
    LeaseGranted granted;
    granted.experiment = experiment;
    granted.trial = trial;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      granted.slots.emplace_back(slot);
    }
    tell(second, granted);
  }
  void start(std::int64_t second, TrialNumber trial) { tell(second, AttemptStarted{key(trial)}); }
  void report(std::int64_t second, TrialNumber trial, std::uint64_t step) {
    tell(second, ReportTaken{key(trial), 1, MetricsReport{Units(step), {{"loss", 0.5}}}});
  }
  void exit(std::int64_t second, TrialNumber trial) {
    tell(second, ReportTaken{key(trial), 2, ExitReport{}});
  }
  void end(std::int64_t second, TrialNumber trial, TrialState state) {
    tell(second, TrialEnded{experiment, trial, state, Reason()});
  }

  ExperimentId experiment{1};

 private:
  [[nodiscard]] AttemptKey key(TrialNumber trial) const {
    return {experiment, trial, AttemptNumber(1), LeaseId(1)};
  }

  EventCounts& counts_;
  std::uint64_t lsn_ = 0;
};

TEST(EventCounts, SavedSlotSecondsFollowTheSpeedOfTheTrial) {
  EventCounts counts;
  Story story(counts);
  const TrialNumber trial(0);
  story.create(0, trial);
  story.lease(5, trial, 2);
  story.start(10, trial);
  story.report(30, trial, 2);
  story.report(40, trial, 3);  // 30 s with two slots for three epochs: 20 slot seconds for each.
  story.end(41, trial, TrialState::stopped);
  EXPECT_DOUBLE_EQ(counts.pools.at("default").slot_seconds_saved, 6 * 20.0);
}

TEST(EventCounts, TimeBetweenProgramsIsNotCountedAsTraining) {
  EventCounts counts;
  Story story(counts, "big");
  const TrialNumber trial(3);
  story.create(0, trial);
  story.lease(0, trial, 1);
  story.start(0, trial);
  story.report(10, trial, 1);
  story.tell(10, TrialPaused{story.experiment, trial, Reason()});
  story.exit(11, trial);
  story.tell(500, TrialPromoted{story.experiment, trial, Units(3), false, Reason()});
  story.lease(600, trial, 1);
  story.start(600, trial);
  story.report(620, trial, 3);
  story.tell(620, TrialPaused{story.experiment, trial, Reason()});
  story.exit(621, trial);
  story.end(900, trial, TrialState::stopped);
  EXPECT_DOUBLE_EQ(counts.pools.at("big").slot_seconds_saved, 6 * 10.0);
  EXPECT_EQ(counts.pools.at("big").schedule_wait.sum, 100);
  EXPECT_EQ(counts.pool_of(story.experiment), "big");
}

TEST(EventCounts, QuarantinesAreCountedByTheirReason) {
  EventCounts counts;
  Story story(counts);
  WorkerQuarantined failed{WorkerId(1), "3 trials failed there"};
  failed.probation_after = Duration::seconds(60);
  story.tell(1, failed);
  story.tell(2, WorkerQuarantined{WorkerId(2), "requested by an operator"});
  story.tell(3, WorkerQuarantined{WorkerId(3), "a fan is broken", "token ann"});
  story.tell(4, SlotsQuarantined{WorkerId(1), {}, {SlotIndex(0), SlotIndex(1)}});
  story.tell(5, SlotWithdrawn{WorkerId(1), SlotIndex(2), "Xid 79"});
  EXPECT_EQ(counts.failure_quarantines, 1U);
  EXPECT_EQ(counts.operator_quarantines, 2U);
  EXPECT_EQ(counts.slots_quarantined, 2U);
  EXPECT_EQ(counts.slots_withdrawn, 1U);
}

TEST(EventCounts, OnlyPausesThatNoUserAskedForAreSelfPauses) {
  EventCounts counts;
  Story story(counts);
  story.tell(1, ExperimentPaused{story.experiment, "", "token ann"});
  story.tell(2, ExperimentPaused{story.experiment, "its first 3 trials failed"});
  EXPECT_EQ(counts.self_pauses, 1U);
}

TEST(EventCounts, OnlyStoppedTrialsThatTrainedSaveTime) {
  EventCounts counts;
  Story story(counts);
  for (const auto& [number, state] : {std::pair{0U, TrialState::completed}, std::pair{1U, TrialState::failed},
                                      std::pair{2U, TrialState::canceled}}) {
    const TrialNumber trial(number);
    story.create(0, trial);
    story.lease(0, trial, 1);
    story.start(0, trial);
    story.report(10, trial, 1);
    story.end(11, trial, state);
  }
  story.create(0, TrialNumber(3));
  story.end(20, TrialNumber(3), TrialState::stopped);  // It never ran.
  EXPECT_EQ(counts.pools.at("default").slot_seconds_saved, 0);
  EXPECT_EQ(counts.trials_ended.at(TrialState::stopped), 1U);
}

}  // namespace
}  // namespace hpsearch::daemon
