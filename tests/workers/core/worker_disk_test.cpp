// A worker whose files can't be written.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "messages.hpp"
#include "workers/core/fixtures/program_line.hpp"
#include "workers/core/fixtures/stage.hpp"

namespace hpsearch::workers::test {
namespace {

const std::string full = "cannot write /state/spool: No space left on device";

engine::ExitReport exit_in(const std::vector<proto::Reports>& batches) {
  for (const proto::Reports& batch : batches) {
    for (const engine::Report& report : batch.reports) {
      if (const auto* exit = std::get_if<engine::ExitReport>(&report)) {
        return *exit;
      }
    }
  }
  ADD_FAILURE() << "no exit report";
  return {};
}

class Disk : public testing::Test {
 protected:
  Disk() {
    stage_.welcome();
    stage_.clear();
  }
  std::size_t reported_troubles() {
    const auto beats = stage_.said<proto::Beat>();
    return beats.empty() ? 99 : beats.back().troubles.size();
  }

  Stage stage_;
};

TEST_F(Disk, FullDiskIsNoFailureOfPrograms) {
  stage_.bad_disk(full);
  stage_.say(lease_of(key_of(1, 10), 0));
  const engine::ExitReport exit = exit_in(stage_.said<proto::Reports>());
  EXPECT_EQ(exit.cause, engine::ExitReport::Cause::lost);
  EXPECT_MESSAGE(exit.message);
}

TEST_F(Disk, FullDiskIsReportedForAllSlotsBeforeTheExit) {
  stage_.bad_disk(full);
  stage_.say(lease_of(key_of(1, 10), 0));
  EXPECT_EQ(reported_troubles(), 2U);
  std::vector<std::string> order;
  for (const SendMessage& send : stage_.sends()) {
    order.emplace_back(std::holds_alternative<proto::Beat>(send.message) ? "beat" : "reports");
  }
  EXPECT_EQ(order, (std::vector<std::string>{"beat", "reports"})) << "or its trial comes back at once";
}

TEST_F(Disk, FullDiskDuringPreparationIsNoFailure) {
  stage_.say(lease_of(key_of(1, 10), 0));
  stage_.bad_disk(full);
  stage_.step(ProgramNotStarted{key_of(1, 10), full, false, true});
  stage_.bad_disk("");
  stage_.pass(Duration::seconds(2));
  EXPECT_EQ(exit_in(stage_.said<proto::Reports>()).cause, engine::ExitReport::Cause::lost);
  EXPECT_EQ(reported_troubles(), 2U);
}

TEST_F(Disk, FailingDiskGetsNoNewLeasesAndKeepsItsPrograms) {
  stage_.run(key_of(1, 10), 0);
  stage_.bad_disk(full);
  stage_.step(
      program_line(key_of(1, 10), QuestionId{1}, R"({"type":"report","step":3,"metrics":{"acc":0.5}})"));
  stage_.clear();
  stage_.say(lease_of(key_of(2, 20), 1));
  EXPECT_TRUE(stage_.wanted<WriteSpool>().empty()) << "it is not even tried";
  EXPECT_EQ(exit_in(stage_.said<proto::Reports>()).cause, engine::ExitReport::Cause::lost);
  EXPECT_TRUE(stage_.wanted<SignalProgram>().empty());
  stage_.step(SendRefused{});
  stage_.clear();
  stage_.pass(Duration::seconds(1));
  EXPECT_EQ(stage_.said<proto::Hello>().at(0).troubles.size(), 2U) << "the next session hears of it too";
}

/// Other attempts continue, and this one is written again, in a directory that is made again.
TEST_F(Disk, RemovedAttemptDirectoryIsNoFailingDisk) {
  stage_.run(key_of(1, 10), 0);
  stage_.slow_disk();
  stage_.step(
      program_line(key_of(1, 10), QuestionId{1}, R"({"type":"report","step":3,"metrics":{"acc":0.5}})"));
  stage_.pass(Duration::seconds(2));
  const std::vector<WriteSpool> writes = stage_.wanted<WriteSpool>();
  ASSERT_FALSE(writes.empty());
  stage_.clear();
  stage_.step(
      SpoolNotWritten{key_of(1, 10), writes.back().write, "cannot open /state/attempts/1-1-1", false});
  stage_.pass(Duration::seconds(2));
  EXPECT_TRUE(stage_.wanted<ProbeDisk>().empty());
  ASSERT_FALSE(stage_.wanted<WriteSpool>().empty());
  EXPECT_TRUE(stage_.wanted<WriteSpool>().back().anew);
  stage_.say(lease_of(key_of(2, 20), 1));
  EXPECT_EQ(stage_.wanted<WriteSpool>().size(), 2U) << "its worker takes another trial";
}

TEST_F(Disk, RecoveryIsDetectedAndReported) {
  stage_.bad_disk(full);
  stage_.say(lease_of(key_of(1, 10), 0));
  stage_.say(proto::Ack{key_of(1, 10), 1});
  stage_.pass(Duration::seconds(20));
  EXPECT_GE(stage_.wanted<ProbeDisk>().size(), 2U);
  EXPECT_EQ(reported_troubles(), 2U);
  stage_.bad_disk("");
  stage_.pass(Duration::seconds(7));
  EXPECT_EQ(reported_troubles(), 0U);
  const std::size_t probes = stage_.wanted<ProbeDisk>().size();
  stage_.pass(Duration::seconds(600));
  EXPECT_EQ(stage_.wanted<ProbeDisk>().size(), probes);
  stage_.say(lease_of(key_of(2, 20), 0));
  EXPECT_EQ(stage_.wanted<StartProgram>().size(), 1U);
}

TEST_F(Disk, FullDiskOfAJournalStopsNewTrials) {
  stage_.say(lease_of(key_of(1, 10), 0));
  stage_.bad_disk(full);
  stage_.step(JournalNotWritten{full});
  EXPECT_EQ(reported_troubles(), 2U);
  const std::size_t starts = stage_.wanted<StartProgram>().size();
  EXPECT_EQ(stage_.wanted<SignalProgram>().size(), 0U) << "what runs runs on";
  stage_.step(JournalNotWritten{full});
  stage_.say(lease_of(key_of(2, 20), 0));
  EXPECT_EQ(stage_.wanted<StartProgram>().size(), starts);
  stage_.bad_disk("");
  stage_.pass(Duration::seconds(7));
  EXPECT_EQ(reported_troubles(), 0U);
}

/// A program may damage its own files. The slots of other attempts stay in use.
TEST_F(Disk, SuccessfulProbeMeansThatTheProgramIsAtFault) {
  stage_.run(key_of(1, 10), 0);
  stage_.clear();
  for (int i = 0; i < 20; ++i) {
    stage_.step(JournalNotWritten{full});
    stage_.pass(Duration::millis(500));
  }
  for (const proto::Beat& beat : stage_.said<proto::Beat>()) {
    EXPECT_TRUE(beat.troubles.empty());
  }
  const std::size_t probes = stage_.wanted<ProbeDisk>().size();
  EXPECT_GE(probes, 2U) << "each is about the moment it was made";
  EXPECT_LE(probes, 3U) << "and costs something";
  stage_.say(lease_of(key_of(2, 20), 1));
  EXPECT_EQ(stage_.wanted<StartProgram>().size(), 1U);
  stage_.say(lease_of(key_of(3, 30), 1));
  stage_.step(ProgramNotStarted{key_of(2, 20), full, false, true});
  EXPECT_EQ(exit_in(stage_.said<proto::Reports>()).cause, engine::ExitReport::Cause::lost);
}

TEST_F(Disk, DiskOnWhichOnlyProbesSucceedIsRetriedWithGrowingWaits) {
  std::vector<Duration> waits;
  for (std::uint64_t trial = 0; trial < 10; ++trial) {
    stage_.say(lease_of(key_of(trial, 10 + trial), 0));
    stage_.bad_disk(full);
    stage_.step(ProgramNotStarted{key_of(trial, 10 + trial), full, false, true});
    stage_.bad_disk("");
    stage_.pass(Duration::millis(1));
    stage_.say(proto::Ack{key_of(trial, 10 + trial), 1});
    const Instant failed = stage_.now();
    const std::size_t probes = stage_.wanted<ProbeDisk>().size();
    for (int i = 0; i < 5000 && stage_.wanted<ProbeDisk>().size() == probes; ++i) {
      stage_.pass(Duration::millis(100));
    }
    waits.push_back(stage_.now() - failed);
  }
  EXPECT_LE(waits.front(), Duration::seconds(7));
  EXPECT_GE(waits.back(), Duration::seconds(240));
  EXPECT_LE(waits.back(), Duration::seconds(361));
  stage_.pass(Duration::seconds(301));
  stage_.say(lease_of(key_of(50, 60), 0));
  stage_.bad_disk(full);
  stage_.step(ProgramNotStarted{key_of(50, 60), full, false, true});
  stage_.bad_disk("");
  stage_.clear();
  stage_.pass(Duration::seconds(7));
  EXPECT_EQ(stage_.wanted<ProbeDisk>().size(), 1U) << "that was long ago";
}

}  // namespace
}  // namespace hpsearch::workers::test
