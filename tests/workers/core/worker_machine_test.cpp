#include "hpsearch/workers/core/worker_machine.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workers/core/stage.hpp"

namespace hpsearch::workers::test {
namespace {

// --- the session ---

TEST(Session, BeginsWithHelloOnANewConnection) {
  Stage stage;
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  const auto hellos = stage.said<proto::Hello>();
  ASSERT_EQ(hellos.size(), 1U);
  EXPECT_EQ(hellos[0].uid, "u");
  EXPECT_EQ(hellos[0].incarnation, 4U);
  EXPECT_EQ(hellos[0].slots, 2U);
  EXPECT_EQ(stage.sends()[0].envelope.cluster, 0U);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
}

TEST(Session, NobodyThereMeansTryingAgainMoreAndMoreSeldom) {
  Stage stage;
  std::vector<Duration> waits;
  for (int i = 0; i < 12; ++i) {
    stage.clear();
    stage.step(SendRefused{});
    const Instant before = stage.now();
    ASSERT_TRUE(stage.machine().next_wake());
    waits.push_back(*stage.machine().next_wake() - before);
    stage.pass(waits.back());
    EXPECT_EQ(stage.said<proto::Hello>().size(), 1U);
    EXPECT_TRUE(stage.wanted<NewConnection>().empty()) << "the connection tries by itself";
  }
  EXPECT_LE(waits.front(), Duration::millis(100));
  EXPECT_GE(waits.back(), Duration::millis(2500));
  EXPECT_LE(waits.back(), Duration::seconds(5));
}

TEST(Session, AHelloWithoutAnswerIsRepeatedOnANewConnection) {
  Stage stage;
  stage.clear();
  stage.pass(Duration::seconds(7));
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Hello>().size(), 1U);
}

TEST(Session, ACrowdIsToldToComeLater) {
  Stage stage;
  stage.clear();
  stage.say(proto::RetryAfter{20'000}, proto::Envelope{.cluster = 77, .daemon_epoch = 5});
  ASSERT_TRUE(stage.machine().next_wake());
  EXPECT_LE(*stage.machine().next_wake() - stage.now(), Duration::seconds(20));
  stage.pass(Duration::seconds(20));
  EXPECT_GE(stage.said<proto::Hello>().size(), 1U);
  stage.welcome();
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  stage.clear();
  stage.say(proto::RetryAfter{20'000}, proto::Envelope{.cluster = 77, .daemon_epoch = 5});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready) << "a late answer to an older HELLO";
}

TEST(Session, WelcomeMakesItReadyAndItBeats) {
  Stage stage;
  stage.welcome();
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  stage.clear();
  stage.pass(Duration::seconds(50));
  const auto beats = stage.said<proto::Beat>();
  EXPECT_GE(beats.size(), 4U);
  EXPECT_LE(beats.size(), 6U);
  EXPECT_EQ(stage.sends()[0].envelope.session_epoch, 1U);
  EXPECT_EQ(stage.sends()[0].envelope.cluster, 77U);
  EXPECT_EQ(stage.sends()[0].envelope.daemon_epoch, 5U);
  EXPECT_GT(stage.sends()[1].envelope.msg_no, stage.sends()[0].envelope.msg_no);
}

TEST(Session, ResyncMakesANewOne) {
  Stage stage;
  stage.welcome();
  stage.pass(Duration::seconds(9));
  stage.clear();
  proto::Envelope restarted = stage.envelope();
  restarted.daemon_epoch = 6;
  restarted.session_epoch = 0;
  stage.say(proto::Resync{}, restarted);
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  stage.pass(Duration::millis(100));
  EXPECT_EQ(stage.said<proto::Hello>().size(), 1U);
}

TEST(Session, AConnectionThatTakesNothingIsLeft) {
  Stage stage;
  stage.welcome();
  stage.clear();
  stage.step(SendRefused{});
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
}

TEST(Session, AStaleDaemonIsNotHeard) {
  Stage stage;
  stage.welcome();
  stage.clear();
  proto::Envelope old = stage.envelope();
  old.daemon_epoch = 4;
  stage.say(lease_of(key_of(1, 10), 0), old);
  stage.say(proto::Resync{}, old);
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  EXPECT_TRUE(stage.wanted<NewConnection>().empty());
}

TEST(Session, AWelcomeOfASessionThatIsOverIsNotHeard) {
  Stage stage;
  stage.welcome({}, 3);
  stage.step(SendRefused{});
  stage.welcome({}, 3);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello) << "it comes once more, and answers no HELLO of now";
  stage.welcome({}, 4);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

// Found by hpsearch-sim: a HELLO that was played back made a session in which nothing was known of the leases since.
TEST(Session, TheAnswerToAHelloOfBeforeItEndsItAndIsNotObeyed) {
  Stage stage;
  stage.welcome({}, 3);  // To its first HELLO.
  stage.run(key_of(1, 10), 0);
  stage.clear();
  stage.envelope().session_epoch = 4;
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {{key_of(1, 10), Fate::fenced, 0}}, "", 1});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  stage.pass(Duration::seconds(10));
  ASSERT_GE(stage.said<proto::Hello>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Hello>().back().held.size(), 1U);
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {}, "", 1});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  stage.say(proto::Welcome{WorkerId{7}, 10'000, {{key_of(1, 10), Fate::go_on, 0}}, "", 2});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

TEST(Session, FramesOfAnOlderSessionAreNotHeard) {
  Stage stage;
  stage.welcome({}, 3);
  proto::Envelope old = stage.envelope();
  old.session_epoch = 2;
  stage.say(lease_of(key_of(1, 10), 0), old);
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
}

TEST(Session, NothingIsObeyedBeforeTheWelcome) {
  Stage stage;
  stage.say(lease_of(key_of(1, 10), 0));
  stage.say(proto::Resync{});
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  EXPECT_EQ(stage.wanted<NewConnection>().size(), 1U);
}

TEST(Session, AnotherDaemonIsNotObeyedWhileAttemptsOfTheFirstAreHeld) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(SendRefused{});
  stage.clear();
  proto::Envelope foreign{.cluster = 88, .daemon_epoch = 1, .session_epoch = 9, .msg_no = 1};
  stage.say(proto::Welcome{WorkerId{1}, 1000, {{key_of(1, 10), Fate::fenced, 0}}}, foreign);
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::hello);
  ASSERT_EQ(stage.wanted<Notice>().size(), 1U);
  EXPECT_EQ(stage.wanted<Notice>()[0].level, Notice::Level::error);
}

TEST(Session, AnotherDaemonIsWelcomeToAnIdleWorker) {
  Stage stage;
  stage.welcome();
  stage.step(SendRefused{});
  proto::Envelope foreign{.cluster = 88, .daemon_epoch = 1, .session_epoch = 9, .msg_no = 1};
  stage.say(proto::Welcome{WorkerId{1}, 1000, {}}, foreign);
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

TEST(Session, RefusedAndIdleMeansTheEnd) {
  Stage stage;
  stage.say(proto::Refused{"version 1 is too old"});
  const auto ends = stage.wanted<EndAgent>();
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_TRUE(ends[0].failed);
  EXPECT_EQ(ends[0].why, "version 1 is too old");
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::over);
}

TEST(Session, RefusedWithProgramsLetsThemFinish) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(proto::Refused{"upgraded"});
  EXPECT_TRUE(stage.wanted<EndAgent>().empty());
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  stage.step(ProgramEnded{key_of(1, 10), false, 1, ""});
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

// --- attempts over sessions ---

TEST(Attempts, ALeaseStartsAProgramOnce) {
  Stage stage;
  stage.welcome();
  stage.say(lease_of(key_of(1, 10), 0));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U);
  EXPECT_TRUE(stage.said<proto::Started>().empty());
  stage.step(ProgramStarted{key_of(1, 10)});
  EXPECT_EQ(stage.said<proto::Started>().size(), 1U);
  stage.say(lease_of(key_of(1, 10), 0));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Started>().size(), 2U);
}

TEST(Attempts, AFinishedLeaseIsNotRunAgain) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(ProgramEnded{key_of(1, 10), false, 1, ""});
  stage.say(proto::Ack{key_of(1, 10), 1});
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  stage.say(lease_of(key_of(1, 10), 0));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U);
}

TEST(Attempts, ASlotIsNotUsedBeforeItsOldProgramIsGone) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(proto::Fenced{key_of(1, 10)});
  stage.say(lease_of(key_of(2, 11), 0));
  stage.say(lease_of(key_of(3, 12), 1));
  ASSERT_EQ(stage.wanted<StartProgram>().size(), 2U);
  EXPECT_EQ(stage.wanted<StartProgram>()[1].spec.key, key_of(3, 12)) << "the other slot is free";
  stage.step(ProgramEnded{key_of(1, 10), true, 9, ""});
  ASSERT_EQ(stage.wanted<StartProgram>().size(), 3U);
  EXPECT_EQ(stage.wanted<StartProgram>()[2].spec.key, key_of(2, 11));
}

TEST(Attempts, ASlotThatIsNotHereIsRefused) {
  Stage stage;
  stage.welcome();
  stage.say(lease_of(key_of(1, 10), 2));
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  const auto reports = stage.said<proto::Reports>();
  ASSERT_EQ(reports.size(), 1U);
  const auto& exit = std::get<engine::ExitReport>(reports[0].reports.at(0));
  EXPECT_EQ(exit.cause, engine::ExitReport::Cause::could_not_start);
  EXPECT_NE(exit.message.find("slot 2"), std::string::npos);
}

TEST(Attempts, RunOnWhileTheDaemonIsAwayAndTellEverythingAfterwards) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(ProgramSaid{key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"});
  stage.say(proto::Ack{key_of(1, 10), 1});
  stage.step(SendRefused{});
  stage.clear();
  stage.step(ProgramSaid{key_of(1, 10), std::nullopt, R"({"step":2,"acc":0.2})"});
  stage.step(ProgramEnded{key_of(1, 10), false, 1, ""});
  EXPECT_TRUE(stage.said<proto::Reports>().empty());
  stage.pass(Duration::seconds(1));
  const auto hellos = stage.said<proto::Hello>();
  ASSERT_FALSE(hellos.empty());
  ASSERT_EQ(hellos.back().held.size(), 1U);
  EXPECT_EQ(hellos.back().held[0].key, key_of(1, 10));
  EXPECT_EQ(hellos.back().held[0].last_seq, 3U);
  EXPECT_TRUE(hellos.back().held[0].exited);
  stage.welcome({{key_of(1, 10), Fate::go_on, 1}}, 2);
  const auto reports = stage.said<proto::Reports>();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].first_seq, 2U);
  EXPECT_EQ(reports[0].reports.size(), 2U);
}

TEST(Attempts, FatesOfTheWelcomeAreObeyed) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.run(key_of(2, 11), 1);
  stage.say(proto::Resync{});
  stage.clear();
  stage.welcome({{key_of(1, 10), Fate::fenced, 0}, {key_of(2, 11), Fate::hold, 0}}, 2);
  ASSERT_EQ(stage.wanted<SignalProgram>().size(), 1U);
  EXPECT_EQ(stage.wanted<SignalProgram>()[0].key, key_of(1, 10));
  stage.step(ProgramSaid{key_of(2, 11), std::nullopt, R"({"step":1,"acc":0.1})"});
  EXPECT_TRUE(stage.said<proto::Reports>().empty());
}

TEST(Attempts, AnAdoptedOneSpeaksUnderItsNewLeaseAndIsKnownByItsFirst) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(proto::Resync{});
  stage.clear();
  stage.welcome({{key_of(1, 10), Fate::go_on, 0, LeaseId{50}}}, 2);
  stage.step(ProgramSaid{key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"});
  ASSERT_EQ(stage.said<proto::Reports>().size(), 1U);
  EXPECT_EQ(stage.said<proto::Reports>()[0].key, key_of(1, 50));
  stage.say(proto::Ack{key_of(1, 50), 1});
  stage.say(proto::Decide{key_of(1, 50), Decision{Lsn{60}, Directive::stop, Units{3}}});
  ASSERT_EQ(stage.said<proto::DecisionAck>().size(), 1U);
  EXPECT_EQ(stage.said<proto::DecisionAck>()[0].key, key_of(1, 50));
  ASSERT_EQ(stage.wanted<SignalProgram>().size(), 1U);
  EXPECT_EQ(stage.wanted<SignalProgram>()[0].key, key_of(1, 10)) << "its program is the one that was started";
  stage.clear();
  stage.say(proto::Resync{});
  stage.pass(Duration::seconds(1));
  ASSERT_FALSE(stage.said<proto::Hello>().empty());
  const auto held = stage.said<proto::Hello>()[0].held;
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].key, key_of(1, 10));
  EXPECT_EQ(held[0].first_seq, 2U);
}

TEST(Attempts, WhatTheWelcomeDoesNotNameIsLeftAlone) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.say(proto::Resync{});
  stage.clear();
  stage.welcome({}, 2);
  stage.step(ProgramSaid{key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"});
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  EXPECT_TRUE(stage.said<proto::Reports>().empty());
}

TEST(Attempts, ALostFrameIsSentAgain) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(ProgramSaid{key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"});
  stage.clear();
  stage.pass(Duration::seconds(1));
  EXPECT_EQ(stage.said<proto::Reports>().size(), 1U);
}

TEST(Attempts, ADaemonThatNeverAcknowledgesGetsANewSession) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(ProgramSaid{key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"});
  stage.clear();
  stage.pass(Duration::seconds(40));
  EXPECT_GE(stage.wanted<NewConnection>().size(), 1U);
  EXPECT_GE(stage.said<proto::Hello>().size(), 1U);
}

TEST(Attempts, ADaemonThatSaysItHasNoRoomIsNotLeft) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(ProgramSaid{key_of(1, 10), std::nullopt, R"({"step":1,"acc":0.1})"});
  proto::Envelope older = stage.envelope();
  older.session_epoch = 0;
  for (int times = 0; times < 60; ++times) {
    stage.clear();
    stage.pass(Duration::seconds(6));
    EXPECT_GE(stage.said<proto::Reports>().size(), 1U) << "it is sent again as often as that";
    stage.say(proto::RetryAfter{4'000});
  }
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
  stage.clear();
  for (int times = 0; times < 60; ++times) {
    stage.pass(Duration::seconds(6));
    stage.say(proto::RetryAfter{4'000}, older);
  }
  EXPECT_FALSE(stage.wanted<NewConnection>().empty()) << "that answers a HELLO, not reports";
}

TEST(Attempts, ADecisionAboutNobodyIsAcknowledged) {
  Stage stage;
  stage.welcome();
  stage.say(proto::Decide{key_of(9, 9), Decision{Lsn{5}, Directive::stop, Units{}}});
  EXPECT_EQ(stage.said<proto::DecisionAck>().size(), 1U);
}

TEST(Attempts, LogsAreReadByTheShellAndAnswered) {
  Stage stage;
  stage.welcome();
  proto::ReadLog request;
  request.request = 12;
  stage.say(request);
  ASSERT_EQ(stage.wanted<ReadLogPart>().size(), 1U);
  proto::LogPart part;
  part.request = 12;
  part.text = "hello";
  stage.step(LogWasRead{part});
  ASSERT_EQ(stage.said<proto::LogPart>().size(), 1U);
  EXPECT_EQ(stage.said<proto::LogPart>()[0].text, "hello");
}

// --- the end ---

TEST(Drain, AnIdleWorkerSaysGoodbyeAndEnds) {
  Stage stage;
  stage.welcome();
  stage.step(StopAsked{});
  EXPECT_EQ(stage.said<proto::Goodbye>().size(), 1U);
  ASSERT_EQ(stage.wanted<EndAgent>().size(), 1U);
  EXPECT_FALSE(stage.wanted<EndAgent>()[0].failed);
  EXPECT_EQ(stage.machine().next_wake(), std::nullopt);
}

TEST(Drain, ProgramsEndTheirExitsAreToldThenGoodbye) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::draining);
  ASSERT_EQ(stage.wanted<SignalProgram>().size(), 1U);
  EXPECT_FALSE(stage.wanted<SignalProgram>()[0].kill);
  stage.say(lease_of(key_of(2, 11), 1));
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U) << "nothing new";
  stage.step(ProgramEnded{key_of(1, 10), true, 15, ""});
  const auto reports = stage.said<proto::Reports>();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(std::get<engine::ExitReport>(reports[0].reports[0]).cause,
            engine::ExitReport::Cause::ended_by_agent);
  EXPECT_TRUE(stage.said<proto::Goodbye>().empty());
  stage.say(proto::Ack{key_of(1, 10), 1});
  EXPECT_EQ(stage.said<proto::Goodbye>().size(), 1U);
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Drain, IgnoringSigtermCostsTheGrace) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  stage.pass(Duration::seconds(30));
  const auto signals = stage.wanted<SignalProgram>();
  ASSERT_EQ(signals.size(), 2U);
  EXPECT_TRUE(signals[1].kill);
}

TEST(Drain, AskedTwiceKillsAtOnce) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  stage.step(StopAsked{});
  const auto signals = stage.wanted<SignalProgram>();
  ASSERT_EQ(signals.size(), 2U);
  EXPECT_TRUE(signals[1].kill);
}

TEST(Drain, AnExitThatIsNotOnTheDiskYetIsWaitedForLonger) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  stage.bad_disk("cannot write /state/spool: Input/output error");
  stage.step(ProgramEnded{key_of(1, 10), true, 15, ""});
  stage.pass(Duration::seconds(20));
  EXPECT_TRUE(stage.wanted<EndAgent>().empty()) << "its trial would count as lost with its worker";
  stage.bad_disk("");
  stage.pass(Duration::seconds(20));
  EXPECT_FALSE(stage.said<proto::Reports>().empty());
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Drain, AnExitThatNeverGetsToTheDiskIsNotWaitedForForEver) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(StopAsked{});
  stage.bad_disk("cannot write /state/spool: Input/output error");
  stage.step(ProgramEnded{key_of(1, 10), true, 15, ""});
  stage.pass(Duration::seconds(61));
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

TEST(Drain, AnAbsentDaemonIsWaitedForOnlyShortly) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(SendRefused{});
  stage.step(StopAsked{});
  stage.step(ProgramEnded{key_of(1, 10), true, 15, ""});
  stage.pass(Duration::seconds(4));
  EXPECT_TRUE(stage.wanted<EndAgent>().empty());
  stage.pass(Duration::seconds(2));
  EXPECT_EQ(stage.wanted<EndAgent>().size(), 1U);
}

// --- how its programs are ---

TEST(Beats, SayHowFarEachProgramIsAndSinceWhenItIsSilent) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(ProgramSaid{key_of(1, 10), QuestionId{1}, R"({"type":"report","step":2,"metrics":{"loss":1}})"});
  stage.clear();
  stage.pass(Duration::seconds(13));
  const auto beats = stage.said<proto::Beat>();
  ASSERT_FALSE(beats.empty());
  ASSERT_EQ(beats[0].progress.size(), 1U);
  EXPECT_EQ(beats[0].progress[0].key, key_of(1, 10));
  EXPECT_EQ(beats[0].progress[0].step, Units{2});
  EXPECT_GE(beats[0].progress[0].silent_ms, 8'000U);
  EXPECT_LE(beats[0].progress[0].silent_ms, 13'000U);
  EXPECT_TRUE(beats[0].remains.empty());
}

TEST(Beats, SayAtOnceWhatSurvivesSigkillAndThatItIsGone) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 1);
  stage.clear();
  stage.step(ProgramStuck{key_of(1, 10), "process 7 survives SIGKILL"});
  stage.pass(Duration::millis(1));
  auto beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U);
  ASSERT_EQ(beats[0].remains.size(), 1U);
  EXPECT_EQ(beats[0].remains[0].key, key_of(1, 10));
  EXPECT_EQ(beats[0].remains[0].slots, std::vector{SlotIndex{1}});
  const auto reports = stage.said<proto::Reports>();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_TRUE(std::get<engine::ExitReport>(reports[0].reports.back()).unkillable);
  stage.say(proto::Ack{key_of(1, 10), 1});
  stage.clear();
  stage.step(ProgramEnded{key_of(1, 10), true, 9, ""});
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  stage.pass(Duration::millis(1));
  beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U);
  EXPECT_TRUE(beats[0].remains.empty());
}

TEST(Beats, SayOfWhatSurvivesSigkillWhenAnAgentAfterThisOneWouldSayItToo) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 1);
  stage.say(proto::Fenced{key_of(1, 10)});
  stage.slow_disk();
  stage.clear();
  stage.step(ProgramStuck{key_of(1, 10), "process 7 survives SIGKILL"});
  const auto writes = stage.wanted<WriteSpool>();
  ASSERT_EQ(writes.size(), 1U) << "fenced or not, who starts next must know of it";
  stage.pass(Duration::seconds(13));
  auto beats = stage.said<proto::Beat>();
  ASSERT_FALSE(beats.empty());
  EXPECT_TRUE(beats[0].remains.empty());
  stage.clear();
  stage.step(SpoolWritten{writes[0].key, writes[0].write});
  stage.pass(Duration::millis(1));
  beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U);
  EXPECT_EQ(beats[0].remains.size(), 1U);
}

TEST(Session, AFencedProgramThatStillLivesIsNotSpokenOf) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.run(key_of(2, 11), 1);
  stage.say(proto::Fenced{key_of(1, 10)});
  ASSERT_FALSE(stage.wanted<SignalProgram>().empty());
  stage.clear();
  stage.step(SendRefused{});
  stage.pass(Duration::seconds(1));
  const auto hellos = stage.said<proto::Hello>();
  ASSERT_FALSE(hellos.empty());
  ASSERT_EQ(hellos.back().held.size(), 1U) << "or the daemon may give the trial back to what is being killed";
  EXPECT_EQ(hellos.back().held[0].key, key_of(2, 11));
}

TEST(Session, AnotherStartsRefusalIsNotHeeded) {
  Stage stage;
  stage.clear();
  const proto::Refused refused{"an old copy", 5};  // This one is the fourth.
  stage.say(refused, proto::Envelope{.cluster = 77, .daemon_epoch = 5});
  stage.welcome();
  EXPECT_EQ(stage.machine().state(), WorkerMachine::State::ready);
}

class Orphans : public testing::Test {
 protected:
  static WorkerRules rules(Duration end_after) {
    WorkerRules rules = Stage::rules();
    rules.orphans_end_after = end_after;
    return rules;
  }
};

TEST_F(Orphans, RunOnForEverUnlessTheOperatorSaysOtherwise) {
  Stage stage(rules(Duration()));
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(SendRefused{});
  stage.clear();
  stage.pass(Duration::seconds(30L * 86'400));
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
}

TEST_F(Orphans, AreEndedOnceWhenNoDaemonCameBackInTime) {
  Stage stage(rules(Duration::seconds(600)));
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.pass(Duration::seconds(3'600));
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty()) << "time in a session does not count";
  stage.step(SendRefused{});
  stage.clear();
  stage.pass(Duration::seconds(599));
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  stage.pass(Duration::seconds(2));
  const auto signals = stage.wanted<SignalProgram>();
  ASSERT_EQ(signals.size(), 1U);
  EXPECT_FALSE(signals[0].kill) << "gently first";
}

TEST_F(Orphans, ADaemonThatComesBackStartsTheTimeAnew) {
  Stage stage(rules(Duration::seconds(600)));
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  for (std::uint64_t session = 2; session < 5; ++session) {
    stage.step(SendRefused{});
    stage.pass(Duration::seconds(500));
    stage.welcome({{key_of(1, 10), Fate::go_on, 0}}, session);
  }
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
}

TEST(Drain, IsToldBeforeTheExitsOfItsPrograms) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.clear();
  stage.step(StopAsked{});
  auto beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U);
  EXPECT_TRUE(beats[0].draining);
  stage.step(SendRefused{});
  stage.pass(Duration::seconds(1));
  stage.clear();
  stage.welcome({{key_of(1, 10), Fate::go_on, 0}}, 2);
  stage.pass(Duration::millis(1));
  beats = stage.said<proto::Beat>();
  ASSERT_EQ(beats.size(), 1U) << "a new session must not be leased anything either";
  EXPECT_TRUE(beats[0].draining);
}

TEST(Slots, OfTheUnkillableAreUsedOnlyByWhomTheDaemonLets) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.step(ProgramStuck{key_of(1, 10), "process 7 survives SIGKILL"});
  stage.clear();
  stage.say(lease_of(key_of(2, 20), 0));
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  proto::Lease knowing = lease_of(key_of(3, 30), 0);
  knowing.spec.despite_remains = true;
  stage.say(knowing);
  ASSERT_EQ(stage.wanted<StartProgram>().size(), 1U);
  EXPECT_EQ(stage.wanted<StartProgram>()[0].spec.key, key_of(3, 30));
}

// --- devices ---

AilingSlot broken(std::uint64_t slot) {
  return {SlotIndex{slot}, "GPU " + std::to_string(slot) + " is lost", true};
}
AilingSlot unanswered(std::uint64_t slot) {
  return {SlotIndex{slot}, "the driver does not answer", false};
}

engine::ExitReport exit_in(const std::vector<proto::Reports>& reports) {
  return std::get<engine::ExitReport>(reports.at(0).reports.back());
}

TEST(Devices, ThatBreakEndTheirProgramsWhichIsNoFailureOfTheirs) {
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

TEST(Devices, ThatBreakAreToBlameForAProgramThatFailsJustThen) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 0);
  stage.run(key_of(2, 20), 1);
  stage.step(DevicesJudged{{broken(0), broken(1)}});
  stage.clear();
  stage.step(ProgramEnded{key_of(1, 10), false, 1, "CUDA error"});
  EXPECT_EQ(exit_in(stage.said<proto::Reports>()).cause, engine::ExitReport::Cause::lost);
}

TEST(Devices, ThatCannotBeAskedKeepTheirProgramsAndGetNoNewOnes) {
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
  knowing.spec.despite_remains = true;
  stage.say(knowing);
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U) << "an operator has decided";
}

TEST(Devices, ThatKeepAProgramThatHasEndedKeepItsSlotToo) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 1);
  stage.step(ProgramSaid{key_of(1, 10), QuestionId{1}, R"({"type":"checkpoint","step":1})"});
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
  EXPECT_EQ(stage.said<proto::Beat>()[0].remains.size(), 1U);
  stage.say(proto::Ack{key_of(1, 10), 2});
  stage.clear();
  stage.step(end);
  EXPECT_EQ(stage.wanted<DeleteAttempt>().size(), 1U);
  stage.pass(Duration::millis(1));
  EXPECT_TRUE(stage.said<proto::Beat>().at(0).remains.empty());
}

TEST(Devices, OfAFencedProgramAreWaitedForToo) {
  Stage stage;
  stage.welcome();
  stage.run(key_of(1, 10), 1);
  stage.say(proto::Fenced{key_of(1, 10)});
  stage.clear();
  stage.step(ProgramStuck{key_of(1, 10), "its GPU still lists process 7", ProgramEnded{key_of(1, 10), true, 9, ""}});
  EXPECT_TRUE(stage.wanted<DeleteAttempt>().empty());
  stage.say(lease_of(key_of(2, 20), 1));
  EXPECT_TRUE(stage.wanted<StartProgram>().empty());
  stage.step(ProgramEnded{key_of(1, 10), true, 9, ""});
  EXPECT_EQ(stage.wanted<StartProgram>().size(), 1U);
}

}  // namespace
}  // namespace hpsearch::workers::test
