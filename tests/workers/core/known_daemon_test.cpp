// Which daemon a worker follows, across sessions and its own restarts.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "messages.hpp"
#include "workers/core/fixtures/stage.hpp"

namespace hpsearch::workers::test {
namespace {

constexpr std::uint64_t ours = 77;
constexpr std::uint64_t foreign = 88;

/// The spool of a running attempt.
SpooledAttempt held() {
  SpooledAttempt attempt;
  attempt.spec = lease_of(key_of(1, 10), 0).spec;
  return attempt;
}

proto::Welcome fencing() {
  return {WorkerId{1}, 1000, {{key_of(1, 10), Fate::fenced, 0}}};
}

proto::Envelope from(std::uint64_t cluster, std::uint64_t epoch = 5) {
  return {.cluster = cluster, .daemon_epoch = epoch, .session_epoch = 9, .msg_no = 1};
}

std::vector<KnownDaemon> remembered(Stage& stage) {
  std::vector<KnownDaemon> all;
  for (const RememberDaemon& one : stage.wanted<RememberDaemon>()) {
    all.push_back(one.daemon);
  }
  return all;
}

bool ends_its_program(Stage& stage) {
  stage.step(ProgramStarted{key_of(1, 10)});
  return !stage.wanted<SignalProgram>().empty();
}

TEST(KnownDaemon, IsStoredBeforeAnyOtherEffect) {
  Stage stage;
  stage.welcome();
  EXPECT_EQ(remembered(stage), (std::vector{KnownDaemon{ours, 5}}));
  stage.welcome({}, 2);
  EXPECT_EQ(remembered(stage).size(), 1U) << "nothing is new";
  stage.step(SendRefused{});
  stage.envelope().daemon_epoch = 6;
  stage.clear();
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {}});
  EXPECT_EQ(remembered(stage), (std::vector{KnownDaemon{ours, 6}}));
}

TEST(KnownDaemon, AnotherStoreDoesNotEndProgramsOfTheEarlierAgent) {
  Stage stage({held()}, {ours, 5});
  EXPECT_EQ(stage.sends().at(0).envelope.cluster, ours);
  EXPECT_EQ(stage.sends().at(0).envelope.daemon_epoch, 5U);
  stage.say(fencing(), from(foreign));
  EXPECT_FALSE(ends_its_program(stage));
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
}

TEST(KnownDaemon, StaleDaemonDoesNotEndProgramsOfTheEarlierAgent) {
  Stage stage({held()}, {ours, 5});
  stage.say(fencing(), from(ours, 4));
  EXPECT_FALSE(ends_its_program(stage));
  ASSERT_EQ(stage.wanted<Notice>().size(), 1U);
  EXPECT_MESSAGE(stage.wanted<Notice>()[0].text);
  stage.say(fencing(), from(ours, 4));
  EXPECT_EQ(stage.wanted<Notice>().size(), 1U) << "once";
  stage.say(fencing(), from(ours, 5));
  EXPECT_TRUE(ends_its_program(stage)) << "the right one is obeyed";
}

TEST(KnownDaemon, NewAgentAcceptsAnyStore) {
  Stage stage({}, {ours, 5});
  EXPECT_EQ(stage.sends().at(0).envelope.cluster, 0U) << "or another store would refuse it";
  stage.say(proto::Welcome{WorkerId{1}, 1000, {}}, from(foreign, 1));
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  EXPECT_EQ(remembered(stage), (std::vector{KnownDaemon{foreign, 1}}));
}

TEST(KnownDaemon, NewAgentRejectsAStaleDaemon) {
  Stage stage({}, {ours, 5});
  stage.say(proto::Welcome{WorkerId{1}, 1000, {}}, from(ours, 4));
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  stage.clear();
  stage.pass(Duration::seconds(7));
  ASSERT_GE(stage.sends().size(), 1U);
  EXPECT_EQ(stage.sends().back().envelope.daemon_epoch, 5U) << "so that it hears why it is not obeyed";
}

TEST(KnownDaemon, FirstAnswerDecidesIfNoneIsKnown) {
  Stage stage({held()}, {});  // A release that didn't store it.
  stage.say(proto::Welcome{WorkerId{1}, 1000, {{key_of(1, 10), Fate::go_on, 0}}}, from(foreign));
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

// --- refusals ---

class Refusals : public testing::Test {
 protected:
  Refusals() {
    stage_.welcome();
    stage_.run(key_of(1, 10), 0);
    stage_.step(SendRefused{});
    stage_.clear();
  }
  [[nodiscard]] std::size_t hellos_within(Duration time) {
    stage_.clear();
    stage_.pass(time);
    return stage_.said<proto::Hello>().size();
  }

  Stage stage_;
};

TEST_F(Refusals, FromAnotherStoreAreIgnored) {
  for (int i = 0; i < 3; ++i) {
    stage_.say(proto::Refused{"belongs to another store", 4},
               proto::Envelope{.cluster = foreign, .daemon_epoch = 1});
    EXPECT_TRUE(stage_.wanted<EndAgent>().empty());
    EXPECT_EQ(stage_.wanted<Notice>().size(), i == 0 ? 1U : 0U);
    EXPECT_EQ(hellos_within(Duration::seconds(6)), 1U);
  }
  EXPECT_TRUE(stage_.wanted<SignalProgram>().empty());
  stage_.welcome({{key_of(1, 10), Fate::go_on, 0}}, 2);
  EXPECT_EQ(stage_.machine().state(), WorkerMachine::State::ready) << "the first one is back";
}

TEST_F(Refusals, FromAnotherReleaseAreIgnored) {
  stage_.say(proto::Refused{"this daemon speaks version 9", 4});
  EXPECT_EQ(hellos_within(Duration::seconds(6)), 1U);
  stage_.step(ProgramEnded{key_of(1, 10), false, 1, ""});
  EXPECT_TRUE(stage_.wanted<EndAgent>().empty()) << "its exit is not told yet";
}

TEST_F(Refusals, AreIgnoredInASession) {
  stage_.welcome({{key_of(1, 10), Fate::go_on, 0}}, 2);
  stage_.say(proto::Refused{"belongs to another store", 4},
             proto::Envelope{.cluster = foreign, .daemon_epoch = 1});
  EXPECT_EQ(stage_.machine().state(), WorkerMachine::State::hello);
  EXPECT_EQ(hellos_within(Duration::seconds(6)), 1U);
}

TEST_F(Refusals, AreFinalWithoutHeldAttempts) {
  stage_.say(proto::Refused{"belongs to another store", 4},
             proto::Envelope{.cluster = foreign, .daemon_epoch = 1});
  stage_.welcome({{key_of(1, 10), Fate::go_on, 0}}, 2);
  stage_.step(ProgramEnded{key_of(1, 10), false, 1, ""});
  stage_.say(proto::Ack{key_of(1, 10), 1});
  stage_.step(SendRefused{});
  stage_.say(proto::Refused{"belongs to another store", 4},
             proto::Envelope{.cluster = foreign, .daemon_epoch = 1});
  EXPECT_EQ(stage_.wanted<EndAgent>().size(), 1U);
}

TEST_F(Refusals, EndAReplacedWorkerAfterItsPrograms) {
  stage_.say(proto::Refused{"a later start has taken its place", 0});
  EXPECT_EQ(hellos_within(Duration::seconds(20)), 0U);
  stage_.step(ProgramEnded{key_of(1, 10), false, 1, ""});
  EXPECT_EQ(stage_.wanted<EndAgent>().size(), 1U);
}

}  // namespace
}  // namespace hpsearch::workers::test
