#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "workers/core/fixtures/program_line.hpp"
#include "workers/core/fixtures/stage.hpp"

// The time of an allocation is almost over: programs save what they have and end.

namespace hpsearch::workers::test {
namespace {

using engine::ExitReport;

constexpr Duration limit = Duration::seconds(3'600);
constexpr Duration give_back = Duration::seconds(180);

WorkerRules for_an_hour() {
  WorkerRules rules = Stage::rules();
  rules.time_limit = limit;
  rules.give_back = give_back;
  return rules;
}

class GiveBackTest : public testing::Test {
 protected:
  GiveBackTest() : stage(for_an_hour()) {
    stage.welcome();
    stage.run(key, 0);
    report(1);
    stage.clear();
  }
  void report(int step) {
    ++position_;
    stage.step(program_line(
        key, QuestionId{position_},
        R"({"type":"report","step":)" + std::to_string(step) + R"(,"metrics":{"acc":0.5}})", position_));
    stage.say(proto::Ack{key, position_});
  }
  bool is_asked_to_pause() {
    const auto answers = stage.wanted<AnswerProgram>();
    return !answers.empty() && answers.back().line.find(R"("pause")") != std::string::npos;
  }
  std::vector<bool> signals() {  ///< Whether each is SIGKILL.
    std::vector<bool> kills;
    for (const SignalProgram& signal : stage.wanted<SignalProgram>()) {
      kills.push_back(signal.kill);
    }
    return kills;
  }

  const AttemptKey key = key_of(1, 10);
  Stage stage;

 private:
  std::uint64_t position_ = 0;
};

TEST_F(GiveBackTest, ProgramsSaveAndEndBeforeTheEnd) {
  stage.pass(limit - give_back - Duration::seconds(1));
  report(2);
  EXPECT_FALSE(is_asked_to_pause());
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  stage.clear();
  stage.pass(Duration::seconds(1));
  ASSERT_FALSE(stage.said<proto::Beat>().empty());
  EXPECT_TRUE(stage.said<proto::Beat>().back().draining);
  report(2);
  EXPECT_TRUE(is_asked_to_pause());
  stage.step(program_line(key, QuestionId{9}, R"({"type":"checkpoint","step":2})", 9));
  stage.step(CheckpointPublished{key, {Units{2}, "/c/1", 1, 10}});
  stage.step(ProgramEnded{key, false, 1, ""});
  EXPECT_TRUE(signals().empty());
  const auto batches = stage.said<proto::Reports>();
  const auto& exit = std::get<ExitReport>(batches.back().reports.back());
  EXPECT_EQ(exit.cause, ExitReport::Cause::ended_by_agent) << "with any exit status";
  EXPECT_EQ(exit.message, "paused by its worker: its worker's time is over");
  EXPECT_TRUE(stage.said<proto::Goodbye>().empty());
  stage.say(proto::Ack{key, 100});
  ASSERT_EQ(stage.said<proto::Goodbye>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Goodbye>()[0].why, engine::left_at_its_end);
  ASSERT_EQ(stage.wanted<EndAgent>().size(), 1U);
  EXPECT_FALSE(stage.wanted<EndAgent>()[0].failed);
}

TEST_F(GiveBackTest, ProgramThatDoesNotEndIsTerminatedAMinuteBeforeTheEndThenKilled) {
  stage.pass(limit - Duration::seconds(61));
  EXPECT_TRUE(signals().empty());
  stage.pass(Duration::seconds(1));
  EXPECT_EQ(signals(), std::vector{false});
  stage.pass(Duration::seconds(30));
  EXPECT_EQ(signals(), (std::vector{false, true}));
}

TEST_F(GiveBackTest, ASecondSignalLeavesLessTimeAndNeverMore) {
  stage.step(GiveBackAsked{give_back, true});
  report(2);
  EXPECT_TRUE(is_asked_to_pause());
  stage.pass(Duration::seconds(5));
  stage.step(GiveBackAsked{Duration::seconds(30), false});
  stage.step(GiveBackAsked{Duration::seconds(30), false});
  stage.pass(Duration::seconds(9));
  EXPECT_TRUE(signals().empty()) << "it has a third of the time to save";
  stage.step(GiveBackAsked{Duration::seconds(30), false});
  stage.pass(Duration::seconds(1));
  EXPECT_EQ(signals(), std::vector{false});
  stage.pass(Duration::seconds(15));
  EXPECT_EQ(signals(), (std::vector{false, true}));
  stage.step(ProgramEnded{key, true, 9, ""});
  stage.say(proto::Ack{key, 100});
  ASSERT_EQ(stage.said<proto::Goodbye>().size(), 1U);
  EXPECT_NE(stage.said<proto::Goodbye>()[0].why, engine::left_at_its_end) << "the end was not near";
}

TEST_F(GiveBackTest, AWarningNearTheEndIsAboutTheWallTime) {
  stage.pass(limit - Duration::seconds(600));
  stage.step(GiveBackAsked{give_back, true});
  stage.step(ProgramEnded{key, false, 1, ""});
  stage.say(proto::Ack{key, 100});
  ASSERT_EQ(stage.said<proto::Goodbye>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Goodbye>()[0].why, engine::left_at_its_end);
}

TEST_F(GiveBackTest, APromotionDoesNotTakeTheOrderBack) {
  stage.step(GiveBackAsked{give_back, true});
  stage.say(proto::Decide{key, Decision{Lsn(50), Directive::train_on, Units{9}}});
  report(2);
  EXPECT_TRUE(is_asked_to_pause());
}

TEST_F(GiveBackTest, PrintingProgramIsTerminatedAtOnceAndHasUntilTheEnd) {
  const AttemptKey other = key_of(2, 20);
  stage.run(other, 1);
  stage.step(program_line(other, std::nullopt, R"({"step":1,"acc":0.5})", 1));
  stage.clear();
  stage.pass(limit - give_back - Duration::seconds(2));
  stage.pass(Duration::seconds(3));
  const auto sent = stage.wanted<SignalProgram>();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].key, other);
  EXPECT_FALSE(sent[0].kill);
  EXPECT_GE(sent[0].grace, Duration::seconds(149));
}

TEST(TimeLeft, IsADifferenceInHelloAndBeat) {
  Stage stage(for_an_hour());
  const auto hello = stage.said<proto::Hello>();
  ASSERT_EQ(hello.size(), 1U);
  ASSERT_TRUE(hello[0].time_left);
  EXPECT_EQ(hello[0].time_left->to_end, limit);
  EXPECT_EQ(hello[0].time_left->to_give_back, limit - give_back);
  stage.welcome();
  stage.pass(Duration::seconds(60));
  const auto beats = stage.said<proto::Beat>();
  ASSERT_FALSE(beats.empty());
  ASSERT_TRUE(beats.back().time_left);
  EXPECT_LT(beats.back().time_left->to_end, limit - Duration::seconds(40));
}

TEST(TimeLeft, AnExtendedJobGoesOn) {
  WorkerRules rules = for_an_hour();
  rules.asks_time_left = true;
  Stage stage(rules);
  EXPECT_EQ(stage.wanted<AskTimeLeft>().size(), 1U);
  stage.welcome();
  stage.step(TimeLeftLearned{limit});
  stage.pass(Duration::seconds(301));
  EXPECT_EQ(stage.wanted<AskTimeLeft>().size(), 2U) << "again in 5 minutes";
  stage.clear();
  stage.step(TimeLeftLearned{limit + limit});
  stage.pass(Duration::millis(1));
  ASSERT_EQ(stage.said<proto::Beat>().size(), 1U) << "the daemon is to know at once";
  EXPECT_EQ(stage.said<proto::Beat>()[0].time_left->to_end, limit + limit);
  stage.pass(limit);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

TEST(TimeLeft, IsAskedMoreOftenNearTheEndAndSilenceChangesNothing) {
  WorkerRules rules = for_an_hour();
  rules.asks_time_left = true;
  Stage stage(rules);
  stage.welcome();
  stage.step(TimeLeftLearned{give_back + Duration::seconds(80)});
  stage.clear();
  stage.pass(Duration::seconds(20));
  ASSERT_EQ(stage.wanted<AskTimeLeft>().size(), 1U);
  stage.step(TimeLeftLearned{});
  stage.clear();
  stage.pass(Duration::seconds(59));
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  stage.pass(Duration::seconds(2));
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::over) << "nothing runs there";
}

TEST(TimeLeft, AWorkerWithoutALimitHasNone) {
  Stage stage;
  EXPECT_FALSE(stage.said<proto::Hello>()[0].time_left);
  stage.welcome();
  stage.pass(Duration::seconds(86'400));
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

}  // namespace
}  // namespace hpsearch::workers::test
