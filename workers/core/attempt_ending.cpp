// AttemptMachine: how its program ends, by itself or with help.

#include <algorithm>
#include <array>
#include <utility>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/workers/core/attempt_machine.hpp"
#include "hpsearch/workers/core/log_text.hpp"
#include "hpsearch/workers/core/setup_failure.hpp"

namespace hpsearch::workers {

using engine::Duration;
using engine::ExitReport;
using engine::Instant;
using engine::Lsn;

namespace {

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

void AttemptMachine::ask_to_end(Instant now, AttemptOutput& out) {
  if (!reports_for_attempt()) {
    if (spec_.launch.kind == jobs::LaunchKind::mpi) {
      terminate(now, out);  // What it runs only keeps the slots.
    } else if (takes_checkpoint_signal()) {
      ask_by_signal(now, out);
    } else {
      expect_end_within(patience(), now);  // It ends with rank 0, which was asked.
    }
    return;
  }
  if (!asking_.empty()) {
    for (const QuestionId question : std::exchange(asking_, {})) {
      answer(question, now, out);
    }
    return;
  }
  const bool finishes = end_as_ == engine::Directive::stop && may_finish() && is_wanted_at_its_end();
  if (speaks_ != Speaks::socket && takes_checkpoint_signal() && !finishes) {
    ask_by_signal(now, out);
    return;
  }
  if (speaks_ != Speaks::lines) {
    expect_end_within(patience(), now);  // It hears at its next report, if it makes one.
    return;
  }
  if (may_finish() && is_wanted_at_its_end()) {
    expect_end_within(patience(), now);  // Most end there by themselves.
  } else if (forcing_ == Forcing::asked && !finishes_ && !trains_on()) {
    expect_end_within(rules_.grace, now);  // It was let finish, and is not any longer.
  } else if (forcing_ < Forcing::terminated) {
    note_its_end(out);
    terminate(now, out);
  }
}

/// It has reported what comes after the report that its searcher decided upon.
bool AttemptMachine::trains_on() const noexcept {
  return length_reported_ && last_step_ && *last_step_ > *length_reported_;
}

/// It is at its length, and what it does there it may finish: evaluate its model, save it.
bool AttemptMachine::may_finish() const noexcept {
  return finishes_ && length_reported_ && *length_reported_ >= length_ && !trains_on();
}

/// What it may have left to save is wanted: the checkpoint of a trial that is paused, or the model of one
/// that went all the way.
bool AttemptMachine::is_wanted_at_its_end() const noexcept {
  return end_as_ == engine::Directive::pause || length_ >= spec_.max_length;
}

/// For a program whose end is decided to end by itself. Of an attempt on several workers only rank 0 reports,
/// and ends the others with it.
Duration AttemptMachine::patience() const noexcept {
  const bool finishes = reports_for_attempt() ? may_finish() : finishes_;
  return finishes ? std::max(rules_.grace, spec_.finish_within) : rules_.grace;
}

/// Who only prints cannot know that its searcher has decided: a report from beyond its length says so. Who
/// was told and reports from there has not obeyed.
void AttemptMachine::end_if_it_trains_on(bool asks, Instant now, AttemptOutput& out) {
  const bool asked = end_as_ && forcing_ == Forcing::asked;
  if (asked && asks && told_ && trains_on() && force_at_ && *force_at_ > now + rules_.grace) {
    force_at_ = now + rules_.grace;
  }
  if (asked && !asks && speaks_ == Speaks::lines && !signaled_by_us_ && (trains_on() || !length_reported_)) {
    note_its_end(out);
    terminate(now, out);
  }
}

/// What it would have left behind at its end is lost, which its author should know.
void AttemptMachine::note_its_end(AttemptOutput& out) {
  if (!reports_for_attempt() || !length_reported_ || *length_reported_ < length_ || !is_wanted_at_its_end()) {
    return;
  }
  const std::string there = engine::amount(*length_reported_, spec_.unit);
  const bool paused = end_as_ == engine::Directive::pause;
  std::string text;
  if (trains_on()) {
    text = "its program trained on past " + there + ", where its trial " +
           (paused ? "is paused" : "was complete") + ": it was ended with SIGTERM at " +
           engine::amount(*last_step_, spec_.unit) +
           ", and what it saves at its end is missing. Let it train for HPSEARCH_LENGTH only" +
           (paused ? "" : ", or raise searcher.max_length to what it trains");
  } else {
    text = "its program had reached " + there + " and was still running " +
           std::to_string(patience().in_micros() / 1'000'000) + " s later" +
           (finishes_ ? " (environment.finish_within)" : ", when its experiment was ending") +
           ": it was ended with SIGTERM, and what it saves at its end may be missing";
  }
  note(Flaw::ended, text, out);
}

bool AttemptMachine::takes_checkpoint_signal() const {
  return !spec_.checkpoint_signal.empty();
}

/// For who does not hear answers, or will not ask in time.
void AttemptMachine::ask_by_signal(Instant now, AttemptOutput& out) {
  expect_end_within(rules_.grace, now);
  signaled_by_us_ = true;  // That it ends then is no decision of its own.
  if (phase_ == Phase::running) {
    out.effects.emplace_back(SignalProgram{spec_.key, false, true});
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
    out.effects.emplace_back(SignalProgram{.key = spec_.key, .grace = rules_.grace});
  }
}

void AttemptMachine::end_now(Instant now, AttemptOutput& out) {
  if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::ended_by_agent, "the worker ended before it started", out);
    return;
  }
  if (alive() && !ended_here_) {
    ended_here_ = true;
    spool_.ask_at_once();  // Or the agent after this one would let live what survives SIGTERM.
  }
  if (alive() && forcing_ == Forcing::none && takes_checkpoint_signal()) {
    ask_by_signal(now, out);
  } else if (alive() && forcing_ < Forcing::terminated) {
    terminate(now, out);
  }
}

bool AttemptMachine::waits_at_length() const {
  const bool at_length = length_reported_ && *length_reported_ >= length_;
  const bool to_end = end_as_ || kill_decided_ || fenced_ || forcing_ != Forcing::none;
  // Other ranks would not be signalled, and who loses a peer fails; an answer is shared with them.
  const bool hears_signal =
      speaks_ != Speaks::socket && takes_checkpoint_signal() && spec_.rendezvous.addresses.empty();
  return phase_ == Phase::running && reports_for_attempt() && at_length && !to_end &&
         (!asking_.empty() || hears_signal);
}

void AttemptMachine::pause_alone(Instant now, AttemptOutput& out) {
  end_as_ = engine::Directive::pause;
  paused_alone_ = true;
  spool_.ask_at_once();
  notice(Notice::Level::warning,
         "it reached its length without a connection to the daemon: it is paused (--orphan-policy)", out);
  answer_ahead(out);
  ask_to_end(now, out);
}

/// Not while the checkpoint it was asked for is on its way, and not when there is nothing left to force.
bool AttemptMachine::may_force() const noexcept {
  const bool suspended = forcing_ == Forcing::asked && publishing_;
  return force_at_ && !suspended && phase_ != Phase::ended && phase_ != Phase::exited;
}

void AttemptMachine::kill_now(AttemptOutput& out) {
  force_at_.reset();
  if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::ended_by_agent, "it was told to end before it started", out);
    return;
  }
  if (!alive() || forcing_ == Forcing::killed) {
    return;
  }
  forcing_ = Forcing::killed;
  signaled_by_us_ = true;
  if (alive()) {  // Also one of which nobody has heard yet that it runs, because its disk is full.
    out.effects.emplace_back(SignalProgram{spec_.key, true});
  }
}

void AttemptMachine::ended(const ProgramEnded& end, AttemptOutput& out) {
  if (leaked_processes_) {
    no_more_leaked_processes(out);
    return;
  }
  if (phase_ != Phase::running) {
    return;
  }
  over(end, out);
}

/// How its program ended is known.
void AttemptMachine::over(const ProgramEnded& end, AttemptOutput& out) {
  judge_buffering(out);
  phase_ = Phase::ended;
  end_ = end;
  signaled_by_us_ = signaled_by_us_ || end.asked;
  force_at_.reset();
  asking_.clear();
  if (publishing_) {
    return;
  }
  if (fenced_ && leaked_processes_) {
    stay_with_leaked_processes();
    return;
  }
  if (fenced_) {
    finish(false, out);
    return;
  }
  if (!end.by_signal && end.code == 0 && !reported_checkpoint_ && reports_for_attempt()) {
    // Whoever reports nothing may still leave a checkpoint: ending well says that it is complete.
    to_publish_.push_back({.step = last_step_.value_or(length_), .question = std::nullopt});
    publish_next(out);
    return;
  }
  make_exit_report();
}

/// Its trial goes on elsewhere; its slots do not.
void AttemptMachine::stuck(const std::string& why, AttemptOutput& out,
                           const std::optional<ProgramEnded>& end) {
  if (!alive()) {
    return;
  }
  leaked_processes_ = true;
  stuck_because_ = why;
  notice(Notice::Level::error, why + "; its slots stay out of use until that is gone", out);
  if (end) {
    over(*end, out);
    return;
  }
  phase_ = Phase::ended;
  force_at_.reset();
  asking_.clear();
  to_publish_.clear();  // Whether it is whole nobody can say.
  if (publishing_) {
    return;
  }
  if (fenced_) {
    stay_with_leaked_processes();
  } else {
    make_exit_report();
  }
}

void AttemptMachine::node_failed(const std::string& why, AttemptOutput& out) {
  if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::lost, why, out);
  } else if (alive() && node_failure_.empty()) {
    node_failure_ = why;
    notice(Notice::Level::error, why + "; it is ended, and runs again where it can", out);
    kill_now(out);
  }
}

/// A fenced attempt reports nothing more. But the agent after this one has to know what is in its slots.
void AttemptMachine::stay_with_leaked_processes() noexcept {
  phase_ = Phase::exited;
  spool_.ask_at_once();
}

void AttemptMachine::no_more_leaked_processes(AttemptOutput& out) {
  leaked_processes_ = false;
  notice(Notice::Level::info, "nothing of it is left any more", out);
  if (phase_ == Phase::exited && (fenced_ || reports_.empty()) && !log_pending()) {
    finish(!fenced_ || had_exited_, out);
  }
}

void AttemptMachine::lost(const std::string& why, AttemptOutput& out) {
  if (leaked_processes_) {
    no_more_leaked_processes(out);
    return;
  }
  if (!alive()) {
    return;
  }
  phase_ = Phase::ended;
  lost_because_ = why;
  force_at_.reset();
  asking_.clear();
  to_publish_.clear();  // Whether it is whole nobody can say.
  if (publishing_) {
    return;
  }
  if (fenced_) {
    finish(false, out);
  } else {
    make_exit_report();
  }
}

void AttemptMachine::never_ran(ExitReport::Cause cause, const std::string& message, AttemptOutput& out,
                               int code) {
  phase_ = Phase::exited;
  never_ran_ = true;
  force_at_.reset();
  if (fenced_) {
    finish(false, out);
    return;
  }
  for (const Lsn decision : std::exchange(unacked_decisions_, {})) {
    out.messages.emplace_back(proto::DecisionAck{spec_.key, decision});
  }
  keep(ExitReport{.cause = cause, .code = code, .message = message, .log_tail = ""}, true);
}

void AttemptMachine::make_exit_report() {
  phase_ = Phase::exited;
  ExitReport report;
  report.code = end_ ? end_->code : 0;
  const bool failed = end_ && (end_->by_signal || end_->code != 0);
  // A part of an attempt is killed because another part failed, and that failure does not count where a
  // machine was lost: what went before the kill could reach it must not look as if the kill had ended it.
  const bool lost_part = lost_because_ && kill_decided_ && !spec_.rendezvous.addresses.empty();
  report.unkillable = leaked_processes_;
  const char* alone =
      paused_alone_ && !kill_decided_ ? "paused by its worker: at its length, and no daemon to decide" : "";
  const bool killed_here = !lost_part && (signaled_by_us_ || (lost_because_ && kill_decided_));
  // However it ended: nobody had decided, so the exit is neither a failure nor a success.
  const bool ended_undecided = paused_alone_ && end_.has_value() && !lost_because_.has_value();
  if (!node_failure_.empty() && (failed || !end_)) {
    report.cause = ExitReport::Cause::lost;
    report.message = node_failure_;
    report.log_tail = end_ ? end_->log_tail : "";
  } else if (no_progress_) {
    report.cause = ExitReport::Cause::no_progress;
    report.message =
        "ended: " + (stands_.empty() ? "no report from it for " +
                                           std::to_string(spec_.progress_timeout.in_micros() / 1'000'000) +
                                           " s (progress_timeout)"
                                     : stands_);
    report.log_tail = end_ ? end_->log_tail : "";
  } else if (killed_here || ended_undecided) {
    report.cause = ExitReport::Cause::ended_by_agent;
    report.message = alone;
  } else if (!end_ && !lost_because_) {
    report.cause =
        ExitReport::Cause::lost;  // How its first process ended was not told before the rest is gone.
  } else if (lost_because_) {
    report.cause = ExitReport::Cause::lost;
    report.message = *lost_because_;
  } else if (failed && end_->out_of_memory) {
    report.cause = ExitReport::Cause::out_of_memory;
    report.message = "ended by the kernel: its memory limit was reached";
    report.log_tail = end_->log_tail;
  } else {
    report.cause = end_->by_signal ? ExitReport::Cause::signaled : ExitReport::Cause::exited;
    report.message = end_->by_signal ? signal_text(end_->code) : status_text(end_->code);
    report.log_tail = failed ? end_->log_tail : "";
    if (const auto setup = failed && !end_->by_signal ? setup_failure_of(end_->log_tail) : std::nullopt) {
      report.cause = ExitReport::Cause::could_not_start;
      report.code = status_same_everywhere;
      report.message = *setup;
    }
  }
  if (leaked_processes_) {
    report.message.append(report.message.empty() ? "" : "; ").append(stuck_because_);
  }
  if (!lost_checkpoint_.empty()) {
    report.message.append(report.message.empty() ? "" : "; ")
        .append("a checkpoint was not taken: " + lost_checkpoint_);
  }
  keep(std::move(report), true);
  log_ = spec_.hand_over_log ? Log::waits : Log::none;
}

void AttemptMachine::finish(bool keep_logs, AttemptOutput& out) {
  phase_ = Phase::exited;
  finished_ = true;
  reports_.stop_timer();
  force_at_.reset();
  log_ = Log::over;
  log_due_.reset();
  out.effects.emplace_back(DeleteAttempt{spec_.key, keep_logs});
}

}  // namespace hpsearch::workers
