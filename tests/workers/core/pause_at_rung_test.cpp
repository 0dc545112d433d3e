#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "workers/core/fixtures/program_line.hpp"
#include "workers/core/fixtures/stage.hpp"

// A missing daemon, and programs that wait for its decision.

namespace hpsearch::workers::test {
namespace {

using engine::ExitReport;

constexpr Duration patience = Duration::seconds(120);

WorkerRules pausing() {
  WorkerRules rules = Stage::rules();
  rules.orphans_pause_after = patience;
  return rules;
}

/// `position` counts the program's messages.
ProgramMessageReceived said(const AttemptKey& key, bool by_socket, std::uint64_t position, int step) {
  const std::string line =
      R"({"type":"report","step":)" + std::to_string(step) + R"(,"metrics":{"acc":0.5}})";
  const std::string printed = R"({"step":)" + std::to_string(step) + R"(,"acc":0.5})";
  return program_line(key, by_socket ? std::optional(QuestionId{position}) : std::nullopt,
                      by_socket ? line : printed, position);
}

std::vector<AttemptKey> paused(Stage& stage) {
  std::vector<AttemptKey> keys;
  for (const AnswerProgram& answer : stage.wanted<AnswerProgram>()) {
    if (answer.line.find(R"("pause")") != std::string::npos) {
      keys.push_back(answer.key);
    }
  }
  return keys;
}

std::vector<engine::Report> reports(Stage& stage) {
  std::vector<engine::Report> all;
  for (const proto::Reports& batch : stage.said<proto::Reports>()) {
    all.insert(all.end(), batch.reports.begin(), batch.reports.end());
  }
  return all;
}

class PauseAtRung : public testing::Test {
 protected:
  /// In a session, one program has reported its length and waits there.
  void waits_at_its_length(Stage& stage) const {
    stage.welcome();
    stage.run(key, 0);
    stage.step(said(key, true, 1, 3));
  }
  static void lose_the_daemon(Stage& stage) {
    stage.step(SendRefused{});
    stage.clear();
  }
  const AttemptKey key = key_of(1, 10);
  const AttemptKey other = key_of(2, 20);
};

TEST_F(PauseAtRung, PausesWaitingProgramsDuringALongOutage) {
  Stage stage(pausing());
  waits_at_its_length(stage);
  stage.run(other, 1);
  stage.step(said(other, true, 1, 2));
  lose_the_daemon(stage);
  stage.pass(Duration::seconds(119));
  EXPECT_TRUE(paused(stage).empty()) << "a daemon that is started again is back by then";
  stage.pass(Duration::seconds(1));
  EXPECT_EQ(paused(stage), std::vector{key});
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty()) << "it is asked first";
  stage.pass(Duration::seconds(20));
  EXPECT_EQ(paused(stage), std::vector{key}) << "the other one has work to do";
  stage.step(said(other, true, 2, 3));
  EXPECT_EQ(paused(stage), (std::vector{key, other})) << "and now it waits too";
}

TEST_F(PauseAtRung, DoesNotPauseInASession) {
  Stage stage(pausing());
  waits_at_its_length(stage);
  stage.say(proto::Ack{key, 1});
  stage.pass(Duration::seconds(86'400));
  EXPECT_TRUE(paused(stage).empty());
}

TEST_F(PauseAtRung, IsOffByDefault) {
  Stage stage;
  waits_at_its_length(stage);
  lose_the_daemon(stage);
  stage.pass(Duration::seconds(86'400));
  EXPECT_TRUE(paused(stage).empty());
  EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
}

TEST_F(PauseAtRung, TimeStartsAgainAfterEachSession) {
  Stage stage(pausing());
  waits_at_its_length(stage);
  for (std::uint64_t session = 2; session < 5; ++session) {
    stage.step(SendRefused{});
    stage.pass(Duration::seconds(100));
    stage.welcome({{key, Fate::go_on, 0}}, session);
  }
  EXPECT_TRUE(paused(stage).empty());
}

TEST_F(PauseAtRung, ExitFollowsTheReportOfTheLengthAndIsNoFailure) {
  for (const int code : {0, 1}) {
    Stage stage(pausing());
    waits_at_its_length(stage);
    lose_the_daemon(stage);
    stage.pass(patience);
    ASSERT_EQ(paused(stage).size(), 1U);
    stage.step(program_line(key, QuestionId{2}, R"({"type":"checkpoint","step":3})", 2));
    ASSERT_EQ(stage.wanted<PublishCheckpoint>().size(), 1U);
    stage.step(CheckpointPublished{key, {Units{3}, "/c/1", 1, 10}});
    stage.step(ProgramEnded{key, false, code, ""});
    stage.clear();
    stage.welcome({{key, Fate::go_on, 0}}, 2);
    const std::vector<engine::Report> all = reports(stage);
    ASSERT_EQ(all.size(), 3U) << code;
    EXPECT_TRUE(std::holds_alternative<engine::MetricsReport>(all[0]));
    EXPECT_TRUE(std::holds_alternative<engine::CheckpointReport>(all[1]));
    const auto& exit = std::get<ExitReport>(all[2]);
    EXPECT_EQ(exit.cause, ExitReport::Cause::ended_by_agent) << code;
    EXPECT_NE(exit.message.find("paused by its worker"), std::string::npos) << exit.message;
  }
}

TEST_F(PauseAtRung, ProgramThatDoesNotPauseIsTerminatedThenKilled) {
  Stage stage(pausing());
  waits_at_its_length(stage);
  lose_the_daemon(stage);
  stage.pass(patience + Stage::rules().attempt.grace);
  ASSERT_EQ(stage.wanted<SignalProgram>().size(), 1U);
  EXPECT_FALSE(stage.wanted<SignalProgram>()[0].kill);
  EXPECT_EQ(stage.wanted<SignalProgram>()[0].grace, Stage::rules().attempt.grace)
      << "the shim has to know it too";
  stage.pass(Stage::rules().attempt.grace);
  ASSERT_EQ(stage.wanted<SignalProgram>().size(), 2U);
  EXPECT_TRUE(stage.wanted<SignalProgram>()[1].kill);
}

TEST_F(PauseAtRung, IsRememberedByTheNextAgent) {
  Stage stage(pausing());
  waits_at_its_length(stage);
  stage.step(SendRefused{});
  stage.pass(patience);
  std::string spool;
  for (const WriteSpool& write : stage.wanted<WriteSpool>()) {
    spool = write.anew ? write.bytes : spool + write.bytes;
  }
  auto found = read_spool(spool);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_FALSE(found->state.paused_because.empty());
  std::vector<SpooledAttempt> attempts;
  attempts.push_back(*std::move(found));
  Stage next(std::move(attempts), KnownDaemon{77, 5}, pausing());
  next.step(ProgramStarted{key});
  next.step(ProgramEnded{key, false, 1, ""});
  next.clear();
  next.welcome({{key, Fate::go_on, 0}}, 2);
  const std::vector<engine::Report> all = reports(next);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(std::get<ExitReport>(all[1]).cause, ExitReport::Cause::ended_by_agent);
}

TEST_F(PauseAtRung, PausesPrintingProgramsOnlyWithACheckpointSignal) {
  for (const bool signal : {false, true}) {
    Stage stage(pausing());
    stage.welcome();
    proto::Lease lease = lease_of(key, 0);
    if (signal) {
      lease.spec.checkpoint_signal = "SIGUSR1";
    }
    stage.say(lease);
    stage.step(ProgramStarted{key});
    stage.step(said(key, false, 1, 3));
    lose_the_daemon(stage);
    stage.pass(patience + Duration::seconds(5));
    const auto signals = stage.wanted<SignalProgram>();
    ASSERT_EQ(signals.size(), signal ? 1U : 0U);
    EXPECT_TRUE(!signal || signals[0].checkpoint);
  }
}

TEST_F(PauseAtRung, OnSeveralWorkersOnlyAnswersPause) {
  for (const bool by_socket : {false, true}) {
    Stage stage(pausing());
    stage.welcome();
    proto::Lease lease = lease_of(key, 0);
    lease.spec.checkpoint_signal = "SIGUSR1";
    lease.spec.rendezvous = {0, {"10.0.0.1", "10.0.0.2"}, 23'456};
    stage.say(lease);
    stage.step(ProgramStarted{key});
    stage.step(said(key, by_socket, 1, 3));
    lose_the_daemon(stage);
    stage.pass(patience + Duration::seconds(5));
    EXPECT_EQ(paused(stage).size(), by_socket ? 1U : 0U);
    EXPECT_TRUE(stage.wanted<SignalProgram>().empty());
  }
}

TEST_F(PauseAtRung, LateDecisionDoesNotChangeTheEnd) {
  Stage stage(pausing());
  waits_at_its_length(stage);
  lose_the_daemon(stage);
  stage.pass(patience);
  stage.welcome({{key, Fate::go_on, 0}}, 2);
  stage.clear();
  stage.say(proto::Decide{key, {Lsn{50}, Directive::train_on, Units{9}}}, stage.envelope());
  EXPECT_EQ(stage.said<proto::DecisionAck>().size(), 1U);
  stage.step(ProgramEnded{key, false, 0, ""});
  stage.step(CheckpointPublished{key, {Units{3}, "/c/1", 1, 10}});
  const std::vector<engine::Report> all = reports(stage);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(std::get<ExitReport>(all.back()).cause, ExitReport::Cause::ended_by_agent)
      << "the program had been told, and goes on in another attempt";
}

}  // namespace
}  // namespace hpsearch::workers::test
