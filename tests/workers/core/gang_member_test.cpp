#include <gtest/gtest.h>

#include <vector>

#include "hpsearch/workers/core/attempt_machine.hpp"
#include "workers/core/fixtures/program_line.hpp"

// A worker with a part of an attempt that doesn't report for it.

namespace hpsearch::workers {
namespace {

using engine::Decision;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using engine::Instant;
using engine::Lsn;
using engine::Report;
using engine::Units;
using jobs::LaunchKind;
using jobs::LaunchSpec;

/// Rank 1 of two, running.
struct Member {
  explicit Member(LaunchKind kind = LaunchKind::pytorch) : attempt(spec(kind), rules()) {
    attempt.start();
    spool();
    attempt.started(now, out);
    out = {};
  }

  static LaunchSpec spec(LaunchKind kind) {
    LaunchSpec spec;
    spec.length = Units{3};
    spec.metric = "acc";
    spec.launch.kind = kind;
    spec.rendezvous = {1, {"10.0.0.1", "10.0.0.2"}, 23'456};
    spec.progress_timeout = Duration::seconds(600);
    return spec;
  }
  static AttemptRules rules() {
    AttemptRules rules;
    rules.spool_within = Duration::seconds(0);
    return rules;
  }

  void spool() {
    AttemptOutput written;
    attempt.spool(now, written);
    for (const Effect& effect : written.effects) {
      if (const auto* write = std::get_if<WriteSpool>(&effect)) {
        attempt.spool_written(write->write, now, out);
      }
    }
  }
  std::vector<Report> reports() {
    spool();
    AttemptOutput sent;
    attempt.send(now, 1024 * 1024, sent);
    std::vector<Report> all;
    for (const proto::FromWorker& message : sent.messages) {
      for (const Report& report : std::get<proto::Reports>(message).reports) {
        all.push_back(report);
      }
    }
    return all;
  }
  template <class Wanted>
  [[nodiscard]] std::vector<Wanted> effects() const {
    std::vector<Wanted> found;
    for (const Effect& effect : out.effects) {
      if (const auto* wanted = std::get_if<Wanted>(&effect)) {
        found.push_back(*wanted);
      }
    }
    return found;
  }
  void pass(Duration time) {
    now = now + time;
    attempt.check_timers(now, out);
  }
  void tell(Directive directive) { attempt.decided(Decision{Lsn{7}, directive, Units{3}}, now, out); }

  AttemptMachine attempt;
  AttemptOutput out;
  Instant now = Instant::from_micros(1'000'000);
};

TEST(GangMember, ReportsItsExitAndNothingElse) {
  Member member;
  member.attempt.said(program_line(member.attempt.key(), std::nullopt, R"({"step":3,"acc":0.5})"), member.now,
                      member.out);
  member.attempt.said(program_line(member.attempt.key(), std::nullopt, "not a message"), member.now,
                      member.out);
  EXPECT_TRUE(member.reports().empty());
  member.attempt.ended({member.attempt.key(), false, 0, ""}, member.out);
  const std::vector<Report> reports = member.reports();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(std::get<ExitReport>(reports[0]).code, 0);
}

TEST(GangMember, PublishesNoCheckpointWhenItEndsWell) {
  Member member;
  member.attempt.ended({member.attempt.key(), false, 0, ""}, member.out);
  EXPECT_TRUE(member.effects<PublishCheckpoint>().empty());
}

TEST(GangMember, AnswersQuestions) {
  Member member;
  member.attempt.said(
      program_line(member.attempt.key(), QuestionId{1}, R"({"type":"report","step":3,"metrics":{"acc":1}})"),
      member.now, member.out);
  EXPECT_EQ(member.effects<AnswerProgram>().size(), 1U);
}

TEST(GangMember, HasNoProgressTimeout) {
  Member member;
  member.pass(Duration::seconds(10'000));
  EXPECT_TRUE(member.effects<SignalProgram>().empty());
}

TEST(GangMember, HasTheGracePeriodToFollowRank0) {
  Member member;
  member.attempt.said(program_line(member.attempt.key(), std::nullopt, R"({"step":1,"acc":0.5})"), member.now,
                      member.out);
  member.tell(Directive::stop);
  EXPECT_TRUE(member.effects<SignalProgram>().empty());
  member.pass(Duration::seconds(30));
  ASSERT_EQ(member.effects<SignalProgram>().size(), 1U);
  EXPECT_FALSE(member.effects<SignalProgram>()[0].kill);
  member.pass(Duration::seconds(30));
  EXPECT_TRUE(member.effects<SignalProgram>().back().kill);
}

TEST(GangMember, MpiMemberOnlyHoldsTheSlotsAndEndsAtOnce) {
  Member member(LaunchKind::mpi);
  member.tell(Directive::stop);
  EXPECT_EQ(member.effects<SignalProgram>().size(), 1U);
}

TEST(GangMember, IsKilledWhenAnotherIsLost) {
  Member member;
  member.tell(Directive::kill);
  ASSERT_EQ(member.effects<SignalProgram>().size(), 1U);
  EXPECT_TRUE(member.effects<SignalProgram>()[0].kill);
  member.attempt.ended({member.attempt.key(), true, 9, ""}, member.out);
  EXPECT_EQ(std::get<ExitReport>(member.reports().at(0)).cause, ExitReport::Cause::ended_by_agent);
}

TEST(GangMember, LostBeforeItsKillIsReportedAsLost) {
  // The failure of another part doesn't count: it may have failed because this one was lost.
  Member member;
  member.tell(Directive::kill);
  member.attempt.lost("the machine was started anew", member.out);
  EXPECT_EQ(std::get<ExitReport>(member.reports().at(0)).cause, ExitReport::Cause::lost);
}

}  // namespace
}  // namespace hpsearch::workers
