#include "hpsearch/workers/core/attempt_machine.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::workers {

using engine::CheckpointReport;
using engine::Decision;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using engine::Instant;
using engine::InvalidHparamsReport;
using engine::MetricsReport;
using engine::Report;
using engine::Units;
using engine::Value;

namespace {

// A batch stays well below proto::max_frame_bytes whatever one report adds to it, and below what the decoder
// takes as elements of one list.
constexpr std::size_t batch_bytes = 64 * 1024;
constexpr std::size_t batch_reports = 512;
// One lost frame makes the daemon ask once per frame behind it; they all mean the same.
constexpr Duration one_nack_per = Duration::millis(200);

/// About what a report takes encoded; never much less.
struct EncodedSize {
  std::size_t operator()(const MetricsReport& report) const {
    std::size_t bytes = 48;
    for (const auto& [name, value] : report.metrics) {
      bytes += name.size() + 16;
    }
    return bytes;
  }
  std::size_t operator()(const CheckpointReport& report) const { return 96 + report.path.size(); }
  std::size_t operator()(const InvalidHparamsReport& report) const { return 48 + report.why.size(); }
  std::size_t operator()(const ExitReport& report) const {
    return 96 + report.message.size() + report.log_tail.size();
  }
};

std::string signal_text(int number) {
  constexpr std::array<std::pair<int, std::string_view>, 9> names{
      {{2, "SIGINT"},
       {4, "SIGILL"},
       {6, "SIGABRT"},
       {7, "SIGBUS"},
       {8, "SIGFPE"},
       {9, "SIGKILL; perhaps the machine ran out of memory"},
       {11, "SIGSEGV"},
       {13, "SIGPIPE"},
       {15, "SIGTERM"}}};
  std::string text = "ended by signal " + std::to_string(number);
  for (const auto& [known, name] : names) {
    if (known == number) {
      text.append(" (").append(name).append(")");
    }
  }
  return text;
}

std::string status_text(int code) {
  switch (code) {
    case 0:
      return "";
    case 75:
      return "exit status 75: it asks to be run again";
    case 126:
      return "exit status 126: the command is not executable";
    case 127:
      return "exit status 127: the command was not found";
    default:
      return "exit status " + std::to_string(code);
  }
}

}  // namespace

AttemptMachine::AttemptMachine(engine::LaunchSpec spec, AttemptRules rules)
    : spec_(std::move(spec)), rules_(rules), length_(spec_.length), resend_after_(rules.first_resend) {
}

engine::HeldAttempt AttemptMachine::held() const {
  return {.key = spec_.key,
          .exited = phase_ == Phase::exited,
          .last_seq = last_seq(),
          .last_decision = last_decision_,
          .first_seq = acked_ + 1,
          .slots = spec_.slots,
          .length = spec_.length};
}

std::optional<Instant> AttemptMachine::next_wake() const noexcept {
  std::optional<Instant> wake = resend_at_;
  const bool suspended = forcing_ == Forcing::asked && publishing_;
  if (force_at_ && !suspended) {
    wake = wake ? std::min(*wake, *force_at_) : *force_at_;
  }
  return wake;
}

// --- its program ---

void AttemptMachine::start(AttemptOutput& out) {
  HPSEARCH_CHECK(phase_ == Phase::waiting, "an attempt starts once");
  phase_ = Phase::starting;
  out.effects.emplace_back(StartProgram{spec_});
}

void AttemptMachine::refuse(const std::string& why, AttemptOutput& out) {
  never_ran(ExitReport::Cause::could_not_start, why, out);
}

void AttemptMachine::started(Instant now, AttemptOutput& out) {
  if (phase_ != Phase::starting) {
    return;
  }
  phase_ = Phase::running;
  was_started_ = true;
  if (!fenced_) {
    out.messages.emplace_back(proto::Started{spec_.key});
  }
  if (forcing_ == Forcing::killed) {
    out.effects.emplace_back(SignalProgram{spec_.key, true});
  } else if (forcing_ == Forcing::terminated) {
    out.effects.emplace_back(SignalProgram{spec_.key, false});
    force_at_ = now + rules_.grace;
  }
}

void AttemptMachine::not_started(const std::string& why, AttemptOutput& out) {
  if (phase_ != Phase::starting) {
    return;
  }
  never_ran(ExitReport::Cause::could_not_start, why, out);
}

void AttemptMachine::said(std::optional<ConnectionId> connection, std::string_view line, Instant now,
                          AttemptOutput& out) {
  if (phase_ != Phase::running) {
    return;
  }
  const engine::Result<ProgramMessage> message =
      connection ? parse_socket_line(line) : parse_stdout_payload(line);
  if (!message) {
    if (connection) {
      answer_error(*connection, message.error().message, out);
    }
    if (!std::exchange(noticed_bad_line_, true)) {
      notice(Notice::Level::warning,
             "a message of the program was not understood: " + message.error().message, out);
    }
    return;
  }
  if (connection) {
    speaks_ = Speaks::socket;
  } else if (speaks_ == Speaks::unknown) {
    speaks_ = Speaks::lines;
  }
  std::visit([&](const auto& known) { take(known, connection, now, out); }, *message);
}

void AttemptMachine::take(const SaidMetrics& said, std::optional<ConnectionId> connection, Instant now,
                          AttemptOutput& out) {
  MetricsReport report{.step = said.step, .metrics = said.metrics};
  last_step_ = std::max(last_step_.value_or(Units{}), said.step);
  if (!said.ignored.empty() && !std::exchange(noticed_ignored_, true)) {
    notice(Notice::Level::warning,
           "the program reports \"" + said.ignored.front() + "\", which is no number; left out", out);
  }
  const bool asks = decides(report);
  if (asks && connection && !asking_.empty() && length_reported_ == said.step) {
    asking_.push_back(*connection);  // The same question on another connection.
    return;
  }
  if (asks) {
    length_reported_ = said.step;
  }
  if (asks || kept_bytes_ < rules_.kept_bytes) {
    keep(std::move(report));
  } else if (!std::exchange(noticed_thinning_, true)) {
    notice(Notice::Level::warning,
           "the daemon is silent and too many reports wait for it; values between lengths are left out from "
           "now on",
           out);
  }
  if (!connection) {
    return;
  }
  if (asks && !end_as_) {
    asking_.push_back(*connection);
  } else {
    answer(*connection, now, out);
  }
}

void AttemptMachine::take(const SaidCheckpoint& said, std::optional<ConnectionId> connection, Instant /*now*/,
                          AttemptOutput& out) {
  said_checkpoint_ = true;
  const Units step = said.step.value_or(last_step_.value_or(spec_.latest_step));
  to_publish_.push_back({.step = step, .connection = connection});
  publish_next(out);
}

void AttemptMachine::take(const SaidRemark& /*said*/, std::optional<ConnectionId> connection, Instant now,
                          AttemptOutput& out) {
  if (connection) {
    answer(*connection, now, out);
  }
}

void AttemptMachine::take(const SaidInvalid& said, std::optional<ConnectionId> connection, Instant now,
                          AttemptOutput& out) {
  if (!std::exchange(said_invalid_, true)) {
    keep(InvalidHparamsReport{said.why});
  }
  end_as_ = Directive::stop;
  if (connection) {
    answer(*connection, now, out);
  }
}

void AttemptMachine::published(const CheckpointReport& report, Instant now, AttemptOutput& out) {
  if (!publishing_) {
    return;
  }
  const std::optional<ConnectionId> connection = publishing_->connection;
  keep(report);
  if (connection) {
    answer(*connection, now, out);
  }
  checkpoint_settled(now, out);
}

void AttemptMachine::not_published(bool was_empty, const std::string& why, Instant now, AttemptOutput& out) {
  if (!publishing_) {
    return;
  }
  const std::optional<ConnectionId> connection = publishing_->connection;
  const bool nobody_asked = phase_ == Phase::ended && !said_checkpoint_;
  if (connection) {
    answer_error(*connection, why, out);
  }
  if (!(nobody_asked && was_empty)) {
    notice(Notice::Level::warning, "a checkpoint was not taken: " + why, out);
    lost_checkpoint_ = why;
  }
  checkpoint_settled(now, out);
}

void AttemptMachine::ended(const ProgramEnded& end, AttemptOutput& out) {
  if (phase_ != Phase::running) {
    return;
  }
  phase_ = Phase::ended;
  end_ = end;
  force_at_.reset();
  asking_.clear();
  if (publishing_) {
    return;
  }
  if (fenced_) {
    finish(false, out);
    return;
  }
  if (!end.by_signal && end.code == 0 && !said_checkpoint_) {
    // Whoever reports nothing may still leave a checkpoint: ending well says that it is complete.
    to_publish_.push_back({.step = last_step_.value_or(length_), .connection = std::nullopt});
    publish_next(out);
    return;
  }
  make_exit_report();
}

// --- the daemon ---

void AttemptMachine::lease_again(AttemptOutput& out) {
  on_hold_ = false;
  if (was_started_ && !fenced_) {
    out.messages.emplace_back(proto::Started{spec_.key});
  }
}

void AttemptMachine::decided(const Decision& decision, Instant now, AttemptOutput& out) {
  out.messages.emplace_back(proto::DecisionAck{spec_.key, decision.id});
  if (decision.id <= last_decision_) {
    return;
  }
  last_decision_ = decision.id;
  if (phase_ == Phase::ended || phase_ == Phase::exited || fenced_) {
    return;
  }
  switch (decision.directive) {
    case Directive::train_on: {
      length_ = std::max(length_, decision.length);
      if (end_as_ && !told_ && forcing_ <= Forcing::asked) {
        end_as_.reset();
        forcing_ = Forcing::none;
        force_at_.reset();
      }
      for (const ConnectionId connection : std::exchange(asking_, {})) {
        answer(connection, now, out);
      }
      break;
    }
    case Directive::pause:
    case Directive::stop:
      if (phase_ == Phase::waiting) {
        never_ran(ExitReport::Cause::ended_by_agent, "it was told to end before it started", out);
        return;
      }
      end_as_ = decision.directive;
      ask_to_end(now, out);
      break;
    case Directive::kill:
      kill_now(out);
      break;
  }
}

void AttemptMachine::fenced(AttemptOutput& out) {
  if (finished_ || fenced_) {
    return;
  }
  fenced_ = true;
  acked_ = last_seq();
  kept_.clear();
  kept_bytes_ = 0;
  forget_sent();
  if (alive()) {
    kill_now(out);
  } else if (!publishing_) {
    finish(false, out);
  }
}

void AttemptMachine::hold() noexcept {
  on_hold_ = true;
  forget_sent();
}

void AttemptMachine::go_on(std::uint64_t upto, AttemptOutput& out) {
  on_hold_ = false;
  forget_sent();
  if (upto < acked_) {
    notice(Notice::Level::error,
           "the daemon knows its reports only up to " + std::to_string(upto) +
               ", but acknowledged them up to " + std::to_string(acked_) + ": its store is older than it was",
           out);
  }
  acknowledged(upto, out);
}

void AttemptMachine::acknowledged(std::uint64_t upto, AttemptOutput& out) {
  if (fenced_ || finished_) {
    return;
  }
  const std::uint64_t last = std::min(upto, last_seq());
  if (last > acked_) {
    unanswered_ = 0;
    resend_after_ = rules_.first_resend;
    resend_at_.reset();
  }
  for (; acked_ < last; ++acked_) {
    kept_bytes_ -= kept_.front().bytes;
    if (acked_ < sent_) {
      in_flight_bytes_ -= kept_.front().bytes;
    }
    kept_.pop_front();
  }
  sent_ = std::max(sent_, acked_);
  if (phase_ == Phase::exited && kept_.empty()) {
    finish(true, out);
  }
}

void AttemptMachine::resend_from(std::uint64_t expect, Instant now) noexcept {
  const bool again = last_nack_at_ && now - *last_nack_at_ < one_nack_per;
  if (again || expect > sent_) {
    return;
  }
  last_nack_at_ = now;
  sent_ = acked_;
  in_flight_bytes_ = 0;
  for (std::uint64_t seq = acked_ + 1; seq < expect; ++seq) {
    in_flight_bytes_ += kept_[static_cast<std::size_t>(seq - acked_ - 1)].bytes;
    sent_ = seq;
  }
}

void AttemptMachine::session_lost() noexcept {
  forget_sent();
}

void AttemptMachine::forget_sent() noexcept {
  sent_ = acked_;
  in_flight_bytes_ = 0;
  resend_at_.reset();
  resend_after_ = rules_.first_resend;
  last_nack_at_.reset();
  unanswered_ = 0;
}

void AttemptMachine::send(Instant now, std::size_t window, AttemptOutput& out) {
  if (on_hold_ || fenced_ || finished_) {
    return;
  }
  while (sent_ < last_seq() && in_flight_bytes_ < window) {
    proto::Reports batch{.key = spec_.key, .first_seq = sent_ + 1, .reports = {}};
    std::size_t bytes = 0;
    while (sent_ < last_seq() && batch.reports.size() < batch_reports) {
      const Kept& next = kept_[static_cast<std::size_t>(sent_ - acked_)];
      if (!batch.reports.empty() && bytes + next.bytes > batch_bytes) {
        break;
      }
      bytes += next.bytes;
      batch.reports.push_back(next.report);
      ++sent_;
    }
    in_flight_bytes_ += bytes;
    out.messages.emplace_back(std::move(batch));
  }
  if (sent_ > acked_ && !resend_at_) {
    resend_at_ = now + resend_after_;
  }
}

// --- the worker ---

void AttemptMachine::end_now(Instant now, AttemptOutput& out) {
  if (phase_ == Phase::waiting) {
    never_ran(ExitReport::Cause::ended_by_agent, "the worker ended before it started", out);
  } else if (alive() && forcing_ < Forcing::terminated) {
    terminate(now, out);
  }
}

void AttemptMachine::kill_now(AttemptOutput& out) {
  if (phase_ == Phase::waiting) {
    never_ran(ExitReport::Cause::ended_by_agent, "it was told to end before it started", out);
    return;
  }
  if (!alive() || forcing_ == Forcing::killed) {
    return;
  }
  forcing_ = Forcing::killed;
  force_at_.reset();
  signaled_by_us_ = true;
  if (phase_ == Phase::running) {
    out.effects.emplace_back(SignalProgram{spec_.key, true});
  }
}

void AttemptMachine::look_at_clock(Instant now, AttemptOutput& out) {
  const bool suspended = forcing_ == Forcing::asked && publishing_;
  if (force_at_ && now >= *force_at_ && !suspended) {
    if (forcing_ == Forcing::asked) {
      terminate(now, out);
    } else {
      kill_now(out);
    }
  }
  if (resend_at_ && now >= *resend_at_) {
    sent_ = acked_;
    in_flight_bytes_ = 0;
    resend_at_.reset();
    resend_after_ = std::min(rules_.longest_resend, resend_after_ + resend_after_);
    ++unanswered_;
  }
}

// --- inside ---

void AttemptMachine::answer(ConnectionId connection, Instant now, AttemptOutput& out) {
  const char* directive = "continue";
  if (end_as_) {
    directive = *end_as_ == Directive::pause ? "pause" : "stop";
    if (!told_) {  // Asking again and again does not buy time.
      expect_end_within(rules_.grace, now);
    }
    told_ = true;
  }
  Value::Map line;
  line["directive"] = directive;
  line["length"] = static_cast<std::int64_t>(count(length_));
  out.effects.emplace_back(
      AnswerProgram{spec_.key, connection, engine::compact_json(Value(std::move(line)))});
}

void AttemptMachine::answer_error(ConnectionId connection, const std::string& what,
                                  AttemptOutput& out) const {
  Value::Map line;
  line["error"] = what;
  out.effects.emplace_back(
      AnswerProgram{spec_.key, connection, engine::compact_json(Value(std::move(line)))});
}

void AttemptMachine::publish_next(AttemptOutput& out) {
  if (publishing_ || to_publish_.empty()) {
    return;
  }
  publishing_ = to_publish_.front();
  to_publish_.pop_front();
  out.effects.emplace_back(PublishCheckpoint{spec_.key, publishing_->step, spec_.checkpoint_root});
}

void AttemptMachine::checkpoint_settled(Instant now, AttemptOutput& out) {
  publishing_.reset();
  if (phase_ == Phase::ended && fenced_) {
    finish(false, out);
    return;
  }
  if (!to_publish_.empty()) {
    publish_next(out);
    return;
  }
  if (phase_ == Phase::ended) {
    make_exit_report();
  } else if (forcing_ == Forcing::asked && !waited_for_checkpoint_) {
    waited_for_checkpoint_ = true;         // Once: a program that saves for ever is ended too.
    expect_end_within(rules_.grace, now);  // It could not end while it waited for us.
  }
}

void AttemptMachine::ask_to_end(Instant now, AttemptOutput& out) {
  if (!asking_.empty()) {
    for (const ConnectionId connection : std::exchange(asking_, {})) {
      answer(connection, now, out);
    }
    return;
  }
  if (speaks_ != Speaks::lines) {
    expect_end_within(rules_.grace, now);  // It hears at its next report, if it makes one.
    return;
  }
  const bool at_length = length_reported_ && *length_reported_ >= length_;
  if (at_length) {
    expect_end_within(rules_.quiet_end, now);  // Most end there by themselves.
  } else if (forcing_ < Forcing::terminated) {
    terminate(now, out);
  }
}

void AttemptMachine::expect_end_within(Duration patience, Instant now) noexcept {
  if (forcing_ < Forcing::terminated) {
    forcing_ = Forcing::asked;
    force_at_ = now + patience;
  }
}

void AttemptMachine::terminate(Instant now, AttemptOutput& out) {
  forcing_ = Forcing::terminated;
  force_at_ = now + rules_.grace;
  signaled_by_us_ = true;
  if (phase_ == Phase::running) {
    out.effects.emplace_back(SignalProgram{spec_.key, false});
  }
}

void AttemptMachine::never_ran(ExitReport::Cause cause, const std::string& message, AttemptOutput& out) {
  phase_ = Phase::exited;
  force_at_.reset();
  if (fenced_) {
    finish(false, out);
    return;
  }
  keep(ExitReport{.cause = cause, .code = 0, .message = message, .log_tail = ""});
}

void AttemptMachine::make_exit_report() {
  phase_ = Phase::exited;
  ExitReport report;
  report.code = end_->code;
  const bool failed = end_->by_signal || end_->code != 0;
  if (signaled_by_us_) {
    report.cause = ExitReport::Cause::ended_by_agent;
  } else {
    report.cause = end_->by_signal ? ExitReport::Cause::signaled : ExitReport::Cause::exited;
    report.message = end_->by_signal ? signal_text(end_->code) : status_text(end_->code);
    report.log_tail = failed ? end_->log_tail : "";
  }
  if (!lost_checkpoint_.empty()) {
    report.message.append(report.message.empty() ? "" : "; ")
        .append("a checkpoint was not taken: " + lost_checkpoint_);
  }
  keep(std::move(report));
}

void AttemptMachine::keep(Report report) {
  if (fenced_) {
    return;
  }
  const std::size_t bytes = std::visit(EncodedSize{}, report);
  kept_bytes_ += bytes;
  kept_.push_back({std::move(report), bytes});
}

void AttemptMachine::finish(bool keep_logs, AttemptOutput& out) {
  phase_ = Phase::exited;
  finished_ = true;
  resend_at_.reset();
  force_at_.reset();
  out.effects.emplace_back(DeleteAttempt{spec_.key, keep_logs});
}

void AttemptMachine::notice(Notice::Level level, const std::string& text, AttemptOutput& out) const {
  out.effects.emplace_back(Notice{level, "experiment " + std::to_string(spec_.key.experiment.number()) +
                                             " trial " + std::to_string(spec_.key.trial.number()) +
                                             " attempt " + std::to_string(spec_.key.attempt.number()) + ": " +
                                             text});
}

bool AttemptMachine::decides(const MetricsReport& report) const {
  const auto names_metric = [this](const auto& named) { return named.first == spec_.metric; };
  return report.step >= length_ && std::any_of(report.metrics.begin(), report.metrics.end(), names_metric);
}

}  // namespace hpsearch::workers
