#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/workers/core/attempt_machine.hpp"
#include "workers/core/program_line.hpp"

namespace hpsearch::workers::test {

using engine::AttemptKey;
using engine::AttemptNumber;
using engine::CheckpointReport;
using engine::Decision;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using engine::ExperimentId;
using engine::Instant;
using engine::InvalidHparamsReport;
using engine::LeaseId;
using engine::Lsn;
using engine::MetricsReport;
using engine::Report;
using engine::TrialNumber;
using engine::Units;
using jobs::LaunchSpec;

inline constexpr QuestionId first{1};
inline constexpr QuestionId second{2};

/// An attempt of length 3 with the metric "acc" in a session, and all it wanted so far.
class Conversation {
 public:
  explicit Conversation(AttemptRules rules = {}, LaunchSpec wanted = spec())
      : attempt_(std::move(wanted), at_once(rules)) {}

  /// Nothing here is about waiting for the disk.
  static AttemptRules at_once(AttemptRules rules) {
    rules.spool_within = Duration::seconds(0);
    return rules;
  }

  static LaunchSpec spec() {
    LaunchSpec spec;
    spec.key = AttemptKey{ExperimentId{1}, TrialNumber{2}, AttemptNumber{3}, LeaseId{40}};
    spec.length = Units{3};
    spec.metric = "acc";
    spec.checkpoint_root = "/c";
    spec.finish_within = Duration::seconds(600);
    return spec;
  }

  /// One whose experiment says `environment.checkpoint_signal: SIGUSR1`.
  static LaunchSpec signaled_spec() {
    LaunchSpec signaled = spec();
    signaled.checkpoint_signal = "SIGUSR1";
    return signaled;
  }

  static Conversation running(AttemptRules rules = {}, LaunchSpec wanted = spec()) {
    Conversation talk(rules, std::move(wanted));
    talk.attempt().start();
    talk.spool();
    talk.attempt().started(talk.now_, talk.out_);
    talk.clear();
    return talk;
  }

  AttemptMachine& attempt() { return attempt_; }
  AttemptOutput& out() { return out_; }
  [[nodiscard]] Instant now() const { return now_; }
  void pass(Duration time) {
    now_ = now_ + time;
    attempt_.check_timers(now_, out_);
  }
  void clear() { out_ = {}; }

  void report(std::optional<QuestionId> connection, int step, const std::string& metrics = R"("acc":0.5)") {
    const std::string line =
        connection ? R"({"type":"report","step":)" + std::to_string(step) + R"(,"metrics":{)" + metrics + "}}"
                   : R"({"step":)" + std::to_string(step) + "," + metrics + "}";
    tell(connection, line);
  }
  void say(const std::string& line) { tell(first, line); }
  void tell(std::optional<QuestionId> question, const std::string& line) {
    tell(question, message_in(question, line));
  }
  void tell(std::optional<QuestionId> question, ProgramMessage message) {
    attempt_.said({attempt_.key(), question, std::move(message)}, now_, out_);
    spool();
  }
  /// A disk that takes everything at once.
  void spool() {
    AttemptOutput out;
    attempt_.spool(now_, out);
    for (const Effect& effect : out.effects) {
      if (const auto* write = std::get_if<WriteSpool>(&effect)) {
        attempt_.spool_written(write->write, now_, out_);
      }
    }
  }
  void decide(std::uint64_t id, Directive directive, std::uint64_t length = 0) {
    attempt_.decided(Decision{Lsn{id}, directive, Units{length}}, now_, out_);
    spool();
  }
  /// As a searcher decides on a trial at its length: its program may finish what it does there.
  void decide_at_length(std::uint64_t id, Directive directive) {
    attempt_.decided(Decision{Lsn{id}, directive, Units{}, /*may_finish=*/true}, now_, out_);
    spool();
  }
  void publish(std::uint64_t step) {
    attempt_.published(CheckpointReport{Units{step}, "/c/1/2/3-" + std::to_string(step), 1, 10}, now_, out_);
    spool();
  }
  void end(bool by_signal, int code, const std::string& tail = "") {
    attempt_.ended({attempt_.key(), by_signal, code, tail}, out_);
    spool();
  }

  /// Answers to the program since the last look, "connection line".
  std::vector<std::string> answers() {
    std::vector<std::string> lines;
    for (const Effect& effect : out_.effects) {
      if (const auto* answer = std::get_if<AnswerProgram>(&effect)) {
        lines.push_back(std::to_string(answer->question.number()) + " " + answer->line);
      }
    }
    std::erase_if(out_.effects,
                  [](const Effect& effect) { return std::holds_alternative<AnswerProgram>(effect); });
    return lines;
  }

  /// The answers for the program, in order: "answer", and "ahead" for those that its shim gives from then on.
  std::vector<std::string> answers_in_order() {
    std::vector<std::string> order;
    for (const Effect& effect : out_.effects) {
      if (std::holds_alternative<AnswerProgram>(effect)) {
        order.emplace_back("answer");
      } else if (std::holds_alternative<AnswerAhead>(effect)) {
        order.emplace_back("ahead");
      }
    }
    return order;
  }

  /// "CHECKPOINT", "TERM" and "KILL" since the last look.
  std::vector<std::string> signals() {
    std::vector<std::string> names;
    for (const Effect& effect : out_.effects) {
      if (const auto* signal = std::get_if<SignalProgram>(&effect)) {
        names.emplace_back(signal->kill ? "KILL" : signal->checkpoint ? "CHECKPOINT" : "TERM");
      }
    }
    std::erase_if(out_.effects,
                  [](const Effect& effect) { return std::holds_alternative<SignalProgram>(effect); });
    return names;
  }

  template <class Wanted>
  std::vector<Wanted> effects() {
    std::vector<Wanted> found;
    for (const Effect& effect : out_.effects) {
      if (const auto* wanted = std::get_if<Wanted>(&effect)) {
        found.push_back(*wanted);
      }
    }
    std::erase_if(out_.effects, [](const Effect& effect) { return std::holds_alternative<Wanted>(effect); });
    return found;
  }

  /// What REPORTS say now, batch by batch.
  std::vector<proto::Reports> sent() {
    spool();
    AttemptOutput out;
    attempt_.send(now_, 1024 * 1024, out);
    std::vector<proto::Reports> batches;
    for (proto::FromWorker& message : out.messages) {
      batches.push_back(std::get<proto::Reports>(std::move(message)));
    }
    return batches;
  }

  /// The kinds of notes among all reports so far, none of which is acknowledged.
  std::vector<std::string> notes() {
    std::vector<std::string> kinds;
    for (const engine::NoteReport& note : whole_notes()) {
      kinds.push_back(note.about);
    }
    return kinds;
  }
  std::vector<engine::NoteReport> whole_notes() {
    attempt_.session_lost();
    std::vector<engine::NoteReport> notes;
    for (const proto::Reports& batch : sent()) {
      for (const Report& report : batch.reports) {
        if (const auto* note = std::get_if<engine::NoteReport>(&report)) {
          notes.push_back(*note);
        }
      }
    }
    return notes;
  }

  /// The exit report, once it is the last thing to send.
  ExitReport exit_report() {
    attempt_.session_lost();
    const std::vector<proto::Reports> batches = sent();
    if (batches.empty() || !std::holds_alternative<ExitReport>(batches.back().reports.back())) {
      ADD_FAILURE() << "no exit report";
      return {};
    }
    return std::get<ExitReport>(batches.back().reports.back());
  }

 private:
  AttemptMachine attempt_;
  AttemptOutput out_;
  Instant now_ = Instant::from_micros(1'000'000'000);
};

using Lines = std::vector<std::string>;

}  // namespace hpsearch::workers::test
