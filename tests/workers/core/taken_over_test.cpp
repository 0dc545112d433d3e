// An attempt whose agent dies at any moment and is continued by the next one.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/workers/core/attempt_machine.hpp"
#include "workers/core/fixtures/program_line.hpp"

namespace hpsearch::workers {
namespace {

using engine::AttemptKey;
using engine::AttemptNumber;
using engine::CheckpointReport;
using engine::Decision;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using engine::ExperimentId;
using engine::Instant;
using engine::LeaseId;
using engine::Lsn;
using engine::MetricsReport;
using engine::Report;
using engine::TrialNumber;
using engine::Units;
using jobs::LaunchSpec;

LaunchSpec spec() {
  LaunchSpec spec;
  spec.key = AttemptKey{ExperimentId{1}, TrialNumber{2}, AttemptNumber{3}, LeaseId{40}};
  spec.entrypoint = jobs::Entrypoint{std::string("true")};
  spec.length = Units{2};
  spec.metric = "acc";
  return spec;
}

/// The things that outlive the agent: the disk, the shim with its journal and the program, the daemon.
class EngineState {
 public:
  explicit EngineState(std::size_t effects_until_death) : left_(effects_until_death) {
    attempt_.emplace(spec(), AttemptRules{});
    attempt_->start();
    settle();
  }

  /// The program sends everything, the daemon decides, and the agent dies once.
  void run() {
    for (int turn = 0; turn < 200 && !over_; ++turn) {
      now_ = now_ + Duration::millis(700);
      if (!attempt_) {
        take_over();
      } else {
        attempt_->check_timers(now_, out_);
        settle();
      }
    }
  }

  [[nodiscard]] bool died() const { return died_; }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] const std::vector<Report>& reported() const { return daemon_; }
  [[nodiscard]] const std::map<std::uint64_t, std::string>& answers() const { return answers_; }
  [[nodiscard]] int starts() const { return starts_; }

 private:
  struct Line {
    std::optional<QuestionId> question;
    std::string text;
  };

  void take_over() {
    if (spool_.empty()) {
      over_ = true;  // It died before the intent was on disk: the daemon leases it again.
      return;
    }
    auto found = read_spool(spool_);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    attempt_.emplace(*std::move(found), AttemptRules{});
    attempt_->attach(out_);
    attempt_->go_on(daemon_.size(), out_);
    if (decided_ > acked_decision_) {
      decide();
    }
    settle();
  }

  /// Carries out effects until the agent dies or none is left.
  void settle() {
    for (bool more = true; more && attempt_;) {
      attempt_->spool(now_, out_);
      attempt_->send(now_, 1024 * 1024, out_);
      AttemptOutput out = std::exchange(out_, {});
      more = !out.effects.empty() || !out.messages.empty();
      for (const Effect& effect : out.effects) {
        if (!alive()) {
          return;
        }
        std::visit([this](const auto& known) { carry_out(known); }, effect);
      }
      for (const proto::FromWorker& message : out.messages) {
        if (!alive()) {
          return;
        }
        std::visit([this](const auto& known) { on_event(known); }, message);
      }
      more = more || say_more();
    }
  }

  bool alive() {
    if (left_ == 0 && !died_) {
      died_ = true;
      attempt_.reset();
      out_ = {};
      return false;
    }
    left_ -= left_ > 0 ? 1 : 0;
    return attempt_.has_value();
  }

  // --- the disk and the shim ---
  void carry_out(const WriteSpool& write) {
    spool_ = (write.anew ? std::string() : spool_) + write.bytes;
    if (alive()) {
      attempt_->spool_written(write.write, Instant(), out_);
    }
  }
  void carry_out(const StartProgram& /*start*/) {
    ++starts_;
    running_ = true;
    journal_.push_back({QuestionId{1}, R"({"type":"report","step":1,"metrics":{"acc":0.1}})"});
    if (alive()) {
      attempt_->started(now_, out_);
    }
  }
  void carry_out(const AttachProgram& attach) {
    heard_ = attach.position;
    if (!running_) {
      attempt_->lost("never started", out_);
    } else {
      attempt_->started(now_, out_);
    }
  }
  void carry_out(const AnswerProgram& answer) {
    if (!answers_.emplace(answer.question.number(), answer.line).second) {
      return;  // It was answered before.
    }
    const std::uint64_t next = answer.question.number() + 1;
    const auto say = [&](const std::string& text) { journal_.push_back({QuestionId{next}, text}); };
    switch (next) {
      case 2:
        say(R"({"type":"checkpoint","step":2})");
        break;
      case 3:
        say(R"({"type":"report","step":2,"metrics":{"acc":0.2}})");
        break;
      case 4:
        say(R"({"type":"report","step":3,"metrics":{"acc":0.3}})");
        break;
      case 5:
        say(R"({"type":"report","step":4,"metrics":{"acc":0.4}})");
        break;
      case 6:
        ended_ = true;
        break;
      default:
        ADD_FAILURE() << "an answer to question " << answer.question.number();
    }
  }
  void carry_out(const PublishCheckpoint& publish) {
    if (alive()) {
      attempt_->published(CheckpointReport{publish.step, "/c", 1, 1}, now_, out_);
    }
  }
  void carry_out(const DeleteAttempt& /*remove*/) {
    over_ = true;
    attempt_.reset();
  }
  void carry_out(const AnswerAhead& /*ahead*/) {}
  void carry_out(const SignalProgram& /*signal*/) { ADD_FAILURE() << "nobody asked for its end"; }
  template <class Other>
  void carry_out(const Other& /*other*/) {}

  /// Returns the next line of the journal, or the end after the last.
  bool say_more() {
    if (!attempt_ || !running_) {
      return false;
    }
    if (heard_ < journal_.size()) {
      const Line& line = journal_[heard_++];
      attempt_->said(program_line(spec().key, line.question, line.text, heard_), now_, out_);
      return true;
    }
    if (ended_ && attempt_->alive()) {
      attempt_->ended({spec().key, false, 0, ""}, out_);
      return true;
    }
    return false;
  }

  // --- the daemon ---
  void on_event(const proto::Reports& reports) {
    ASSERT_LE(reports.first_seq, daemon_.size() + 1) << "a gap";
    for (std::size_t i = 0; i < reports.reports.size(); ++i) {
      if (reports.first_seq + i > daemon_.size()) {
        daemon_.push_back(reports.reports[i]);
        const auto* metrics = std::get_if<MetricsReport>(&daemon_.back());
        if (metrics != nullptr && (metrics->step == Units{2} || metrics->step == Units{4})) {
          decided_ = decided_ + 1;
        }
      }
    }
    attempt_->acknowledged(daemon_.size(), out_);
    if (attempt_ && decided_ > acked_decision_) {
      decide();
    }
  }
  void on_event(const proto::DecisionAck& ack) { acked_decision_ = ack.decision.number(); }
  template <class Other>
  void on_event(const Other& /*other*/) {}
  void decide() {
    const Decision decision = decided_ == 1 ? Decision{Lsn{1}, Directive::train_on, Units{4}}
                                            : Decision{Lsn{2}, Directive::stop, Units{4}};
    attempt_->decided(decision, now_, out_);
  }

  std::size_t left_;
  bool died_ = false;
  bool over_ = false;
  Instant now_;
  std::optional<AttemptMachine> attempt_;
  AttemptOutput out_;
  std::string spool_;
  int starts_ = 0;
  bool running_ = false;
  bool ended_ = false;
  std::vector<Line> journal_;
  std::uint64_t heard_ = 0;
  std::map<std::uint64_t, std::string> answers_;
  std::vector<Report> daemon_;
  std::uint64_t decided_ = 0;
  std::uint64_t acked_decision_ = 0;
};

/// "1 2C 2 3 4 E": steps, checkpoints and the exit.
std::string story(const std::vector<Report>& reports) {
  std::string text;
  for (const Report& report : reports) {
    if (const auto* metrics = std::get_if<MetricsReport>(&report)) {
      text += std::to_string(count(metrics->step)) + " ";
    } else if (const auto* checkpoint = std::get_if<CheckpointReport>(&report)) {
      text += std::to_string(count(checkpoint->step)) + "C ";
    } else if (const auto* exit = std::get_if<ExitReport>(&report)) {
      text += exit->cause == ExitReport::Cause::exited ? "E" : "E(" + exit->message + ")";
    }
  }
  return text;
}

TEST(TakenOver, AtEveryEffectEachReportIsSentOnce) {
  bool died = true;
  std::size_t deaths = 0;
  for (std::size_t effects = 0; died && effects < 1000; ++effects) {
    EngineState state(effects);
    state.run();
    died = state.died();
    deaths += died ? 1 : 0;
    ASSERT_TRUE(state.over()) << "died after " << effects << " effects: " << story(state.reported());
    EXPECT_LE(state.starts(), 1);
    if (state.starts() == 0) {
      EXPECT_TRUE(state.reported().empty() || story(state.reported()) == "E(never started)") << effects;
      continue;
    }
    EXPECT_EQ(story(state.reported()), "1 2C 2 3 4 E") << "died after " << effects << " effects";
    ASSERT_EQ(state.answers().size(), 5U) << effects;
    EXPECT_EQ(state.answers().at(5), R"({"directive":"stop","length":4})");
  }
  EXPECT_GT(deaths, 20U);
  EXPECT_FALSE(died) << "every moment of its life was a last one";
}

TEST(TakenOver, IntentWithoutAProgramIsLostAndNoFailure) {
  AttemptMachine attempt(SpooledAttempt{spec(), {}, {}}, AttemptRules{});
  AttemptOutput out;
  attempt.attach(out);
  attempt.lost("it was never started", out);
  out = {};
  attempt.spool(Instant(), out);
  ASSERT_EQ(out.effects.size(), 1U);
  EXPECT_TRUE(std::get<WriteSpool>(out.effects[0]).anew);
  attempt.spool_written(1, Instant(), out);
  attempt.send(Instant(), 1024, out);
  const auto& reports = std::get<proto::Reports>(out.messages.at(0)).reports;
  EXPECT_EQ(std::get<ExitReport>(reports.at(0)).cause, ExitReport::Cause::lost);
  EXPECT_EQ(std::get<ExitReport>(reports.at(0)).message, "it was never started");
}

TEST(TakenOver, DecidedKillIsCarriedOut) {
  SpooledAttempt found{spec(), {}, {}};
  found.state.order = Directive::kill;
  found.state.last_decision = Lsn{9};
  AttemptMachine attempt(std::move(found), AttemptRules{});
  AttemptOutput out;
  attempt.attach(out);
  attempt.started(Instant(), out);
  ASSERT_EQ(out.effects.size(), 3U);
  EXPECT_TRUE(std::get<SignalProgram>(out.effects[1]).kill);
  EXPECT_EQ(count(std::get<AnswerAhead>(out.effects[2]).below), 0U);
}

TEST(TakenOver, ReportIsNotSentBeforeItIsSpooled) {
  AttemptMachine attempt(spec(), AttemptRules{});
  AttemptOutput out;
  attempt.start();
  attempt.spool(Instant(), out);
  attempt.spool_written(1, Instant(), out);
  attempt.started(Instant(), out);
  attempt.said(program_line(spec().key, QuestionId{1}, R"({"type":"report","step":2,"metrics":{"acc":1}})"),
               Instant(), out);
  out = {};
  attempt.spool(Instant(), out);
  attempt.send(Instant(), 1024, out);
  ASSERT_EQ(out.effects.size(), 1U);
  EXPECT_TRUE(out.messages.empty());
  attempt.spool_written(2, Instant(), out);
  attempt.send(Instant(), 1024, out);
  EXPECT_EQ(out.messages.size(), 1U);
}

TEST(TakenOver, ReportsThatDecideNothingAreWrittenTogether) {
  AttemptRules rules;
  rules.spool_within = Duration::seconds(1);
  AttemptMachine attempt(spec(), rules);
  AttemptOutput out;
  attempt.start();
  attempt.spool(Instant(), out);
  attempt.spool_written(1, Instant(), out);
  attempt.started(Instant(), out);
  attempt.said(program_line(spec().key, QuestionId{1}, R"({"type":"report","step":1,"metrics":{"acc":1}})"),
               Instant(), out);
  out = {};
  attempt.spool(Instant(), out);
  EXPECT_TRUE(out.effects.empty());
  ASSERT_TRUE(attempt.next_wake().has_value());
  attempt.spool(*attempt.next_wake(), out);
  EXPECT_EQ(out.effects.size(), 1U);
}

TEST(TakenOver, EverythingIsWrittenAgainAfterAFullDisk) {
  AttemptMachine attempt(spec(), AttemptRules{});
  AttemptOutput out;
  attempt.start();
  attempt.spool(Instant(), out);
  attempt.spool_written(1, Instant(), out);
  attempt.started(Instant(), out);
  attempt.said(program_line(spec().key, QuestionId{1}, R"({"type":"report","step":2,"metrics":{"acc":1}})"),
               Instant(), out);
  attempt.spool(Instant(), out);
  out = {};
  attempt.spool_not_written(2, "No space left on device", Instant(), out);
  ASSERT_EQ(out.effects.size(), 1U);
  EXPECT_EQ(std::get<Notice>(out.effects[0]).level, Notice::Level::warning);
  out = {};
  attempt.spool(Instant(), out);
  EXPECT_TRUE(out.effects.empty()) << "it asks again at once";
  ASSERT_TRUE(attempt.next_wake().has_value());
  attempt.spool(*attempt.next_wake(), out);
  ASSERT_EQ(out.effects.size(), 1U);
  EXPECT_TRUE(std::get<WriteSpool>(out.effects[0]).anew);
  const auto found = read_spool(std::get<WriteSpool>(out.effects[0]).bytes);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->reports.size(), 1U);
}

}  // namespace
}  // namespace hpsearch::workers
