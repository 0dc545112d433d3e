#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/workers/core/worker_machine.hpp"
#include "workers/core/fixtures/program_line.hpp"
#include "workers/core/fixtures/stage.hpp"

namespace hpsearch::workers::test {
namespace {

UnusableSlot broken(std::uint64_t slot) {
  return {SlotIndex{slot}, "GPU " + std::to_string(slot) + " is lost", true};
}
UnusableSlot unanswered(std::uint64_t slot) {
  return {SlotIndex{slot}, "the driver does not answer", false};
}

engine::ExitReport exit_in(const std::vector<proto::Reports>& reports) {
  return std::get<engine::ExitReport>(reports.at(0).reports.back());
}

TEST(Devices, BrokenOnesEndTheirProgramsWithoutAFailure) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.run(key_of(2, 20), 1);
  stage.clear();
  stage.step(DevicesJudged{{broken(1)}});
  const auto signals = stage.wanted<SignalProgram>();
  ASSERT_EQ(signals.size(), 1U);
  EXPECT_EQ(signals[0].key, key_of(2, 20));
  EXPECT_TRUE(signals[0].kill);
  stage.pass(Duration::millis(1));
  const auto beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U) << "the daemon hears at once";
  ASSERT_EQ(beats[0].troubles.size(), 1U);
  EXPECT_EQ(beats[0].troubles[0].slot, SlotIndex{1});
  stage.clear();
  stage.step(ProgramEnded{key_of(2, 20), true, 9, "tail"});
  const engine::ExitReport exit = exit_in(stage.said<proto::Reports>());
  EXPECT_EQ(exit.cause, engine::ExitReport::Cause::lost);
  EXPECT_EQ(exit.message, "its node failed: GPU 1 is lost");
  stage.clear();
  stage.step(DevicesJudged{{broken(1)}});
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty()) << "nothing new";
  stage.step(DevicesJudged{});
  stage.pass(Duration::millis(1));
  EXPECT_TRUE(stage.said<proto::Beat>().at(0).troubles.empty());
}

TEST(Devices, BrokenOnesExplainASimultaneousFailure) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.run(key_of(2, 20), 1);
  stage.step(DevicesJudged{{broken(0), broken(1)}});
  stage.clear();
  stage.step(ProgramEnded{key_of(1, 10), false, 1, "CUDA error"});
  EXPECT_EQ(exit_in(stage.said<proto::Reports>()).cause, engine::ExitReport::Cause::lost);
}

TEST(Devices, UnresponsiveOnesKeepTheirProgramsAndGetNoNewOnes) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.clear();
  stage.step(DevicesJudged{{unanswered(0), unanswered(1)}});
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  stage.say(lease_of(key_of(2, 20), 1));
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  EXPECT_EQ(exit_in(stage.said<proto::Reports>()).cause, engine::ExitReport::Cause::lost);
  proto::Lease knowing = lease_of(key_of(3, 30), 1);
  knowing.spec.despite_leaked_processes = true;
  stage.say(knowing);
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U) << "an operator has decided";
}

TEST(Devices, SlotStaysInUseWhileTheDeviceListsTheProgram) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 1);
  stage.step(program_line(key_of(1, 10), QuestionId{1}, R"({"type":"checkpoint","step":1})"));
  stage.step(CheckpointPublished{key_of(1, 10), {Units{1}, "/c", 1, 1}});
  stage.clear();
  const ProgramEnded end{key_of(1, 10), false, 3, "tail"};
  stage.step(ProgramStuck{key_of(1, 10), "its GPU still lists process 7", end});
  const engine::ExitReport exit = exit_in(stage.said<proto::Reports>());
  EXPECT_EQ(exit.cause, engine::ExitReport::Cause::exited) << "how it ended is known";
  EXPECT_EQ(exit.code, 3);
  EXPECT_TRUE(exit.unkillable);
  EXPECT_EQ(exit.message, "exit status 3; its GPU still lists process 7");
  stage.pass(Duration::millis(1));
  ASSERT_EQ(stage.said<proto::Beat>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Beat>()[0].leaked_processes.size(), 1U);
  stage.say(proto::Ack{key_of(1, 10), 2});
  stage.clear();
  stage.step(end);
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  stage.pass(Duration::millis(1));
  EXPECT_TRUE(stage.said<proto::Beat>().at(0).leaked_processes.empty());
}

TEST(Devices, FencedProgramAlsoWaitsForItsDevices) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 1);
  stage.say(proto::Fenced{key_of(1, 10)});
  stage.clear();
  stage.step(
      ProgramStuck{key_of(1, 10), "its GPU still lists process 7", ProgramEnded{key_of(1, 10), true, 9, ""}});
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().empty());
  stage.say(lease_of(key_of(2, 20), 1));
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  stage.step(ProgramEnded{key_of(1, 10), true, 9, ""});
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U);
}

}  // namespace
}  // namespace hpsearch::workers::test
