// AttemptMachine: the end of its program, voluntary or forced.

#include <algorithm>
#include <utility>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/workers/core/attempt_machine.hpp"

namespace hpsearch::workers {

using engine::Duration;
using engine::ExitReport;
using engine::Instant;
using engine::Lsn;

void AttemptMachine::ask_to_end(Instant now, AttemptOutput& out) {
  if (!reports_for_attempt()) {
    if (spec_.launch.kind == jobs::LaunchKind::mpi) {
      terminate(now, out);  // Its process only holds the slots.
    } else if (takes_checkpoint_signal()) {
      ask_by_signal(now, out);
    } else {
      ask(patience(), now);  // It ends with rank 0, which was asked.
    }
    return;
  }
  if (!dialogue_.waiting().empty()) {
    answer_waiting(now, out);
    return;
  }
  const bool finishes = orders_.end_as == engine::Directive::stop && may_finish() && is_wanted_at_its_end();
  if (!dialogue_.has_socket() && takes_checkpoint_signal() && !finishes) {
    ask_by_signal(now, out);
    return;
  }
  if (!dialogue_.prints_lines()) {
    ask(patience(), now);  // The answer to its next report, if there is one, is this decision.
    return;
  }
  if (is_at_its_length() && is_wanted_at_its_end()) {
    ask(patience(), now);  // Most programs end there by themselves.
  } else if (ladder_.rung() < Rung::terminated) {
    note_its_end(out);
    terminate(now, out);
  }
}

/// Whether it has reported steps after the report that its searcher decided on.
bool AttemptMachine::trains_on() const noexcept {
  return length_reported_ && last_step_ && *last_step_ > *length_reported_;
}

/// Whether it reported its length and has not trained on.
bool AttemptMachine::is_at_its_length() const noexcept {
  return length_reported_ && *length_reported_ >= orders_.length && !trains_on();
}

/// Whether it is at its length and may finish its work there: evaluating or saving its model.
bool AttemptMachine::may_finish() const noexcept {
  return orders_.may_finish && is_at_its_length();
}

/// Whether the files that it saves at its end are needed: the checkpoint of a paused trial, or the model of a
/// trial that reached its full length.
bool AttemptMachine::is_wanted_at_its_end() const noexcept {
  return orders_.end_as == engine::Directive::pause || orders_.length >= spec_.max_length;
}

/// The time that a program has to end voluntarily after the decision. If an attempt runs on several
/// workers, only rank 0 reports, and the others end with it.
Duration AttemptMachine::patience() const noexcept {
  const bool finishes = reports_for_attempt() ? may_finish() : orders_.may_finish;
  return finishes ? std::max(rules_.grace, spec_.finish_within) : rules_.grace;
}

/// A program that only prints doesn't get the decision, so a report beyond its length shows that it continues
/// training. A program that got the answer to end and reports beyond its length ignores the answer.
void AttemptMachine::end_if_it_trains_on(bool asks, Instant now, AttemptOutput& out) {
  const bool asked = orders_.end_as && ladder_.rung() == Rung::asked;
  if (asked && asks && dialogue_.knows_end() && trains_on()) {
    ladder_.shorten(now + rules_.grace);
  }
  if (asked && !asks && dialogue_.prints_lines() && !end_.signaled_by_us &&
      (trains_on() || !length_reported_)) {
    note_its_end(out);
    terminate(now, out);
  }
}

/// Notes for the author that files which the program should save at its end are missing.
void AttemptMachine::note_its_end(AttemptOutput& out) {
  if (!reports_for_attempt() || !length_reported_ || *length_reported_ < orders_.length ||
      !is_wanted_at_its_end()) {
    return;
  }
  const std::string there = engine::amount(*length_reported_, spec_.unit);
  const bool paused = orders_.end_as == engine::Directive::pause;
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
           (orders_.may_finish ? " (environment.finish_within)" : ", when its experiment was ending") +
           ": it was ended with SIGTERM, and what it saves at its end may be missing";
  }
  note("ended", text, out);
}

bool AttemptMachine::takes_checkpoint_signal() const {
  return !spec_.checkpoint_signal.empty();
}

/// For programs that get no answers, or don't ask in time.
void AttemptMachine::ask_by_signal(Instant now, AttemptOutput& out) {
  ask(rules_.grace, now);
  end_.signaled_by_us = true;  // If it ends now, that isn't its own decision.
  if (phase_ == Phase::running) {
    out.effects.emplace_back(SignalProgram{spec_.key, false, true});
  }
}

void AttemptMachine::terminate(Instant now, AttemptOutput& out) {
  const Duration grace = ends_by_ ? std::max(ends_by_->kill_at - now, Duration{}) : rules_.grace;
  ladder_.terminate(grace, now);
  end_.signaled_by_us = true;
  if (phase_ == Phase::running) {
    out.effects.emplace_back(SignalProgram{.key = spec_.key, .grace = grace});
  }
}

/// If its worker ends soon, it has until then instead.
void AttemptMachine::ask(Duration patience, Instant now) {
  ladder_.ask(ends_by_ ? std::max(ends_by_->terminate_at - now, Duration{}) : patience, now);
}

void AttemptMachine::give_back(const GiveBack& order, Instant now, AttemptOutput& out) {
  if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::ended_by_agent, "the worker ended before it started", out);
    return;
  }
  if (!alive() || ladder_.rung() == Rung::killed) {
    return;
  }
  ends_by_ = order;
  if (ladder_.rung() != Rung::none) {
    ladder_.shorten(ladder_.rung() == Rung::asked ? order.terminate_at : order.kill_at);
    return;
  }
  if (!orders_.end_as) {
    orders_.end_as = engine::Directive::pause;
    end_.paused_because = order.why;
    spool_.ask_at_once();
    answer_ahead(out);
  }
  ask_to_end(now, out);
}

void AttemptMachine::end_now(Instant now, AttemptOutput& out) {
  if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::ended_by_agent, "the worker ended before it started", out);
    return;
  }
  if (alive() && !end_.ended_here) {
    end_.ended_here = true;
    spool_.ask_at_once();  // Otherwise the next agent would not kill processes that survive SIGTERM.
  }
  if (alive() && ladder_.rung() == Rung::none && takes_checkpoint_signal()) {
    ask_by_signal(now, out);
  } else if (alive() && ladder_.rung() < Rung::terminated) {
    terminate(now, out);
  }
}

bool AttemptMachine::waits_at_length() const {
  const bool at_length = length_reported_ && *length_reported_ >= orders_.length;
  const bool to_end = orders_.end_as || orders_.kill || fenced_ || ladder_.rung() != Rung::none;
  // Other ranks would get no signal and fail when this one ends; an answer reaches them.
  const bool hears_signal =
      !dialogue_.has_socket() && takes_checkpoint_signal() && spec_.rendezvous.addresses.empty();
  return phase_ == Phase::running && reports_for_attempt() && at_length && !to_end &&
         (!dialogue_.waiting().empty() || hears_signal);
}

void AttemptMachine::pause_alone(Instant now, AttemptOutput& out) {
  orders_.end_as = engine::Directive::pause;
  end_.paused_because = "at its length, and no daemon to decide";
  spool_.ask_at_once();
  notice(Notice::Level::warning,
         "it reached its length without a connection to the daemon: it is paused (--orphan-policy)", out);
  answer_ahead(out);
  ask_to_end(now, out);
}

/// False while the requested checkpoint is being published, and if nothing is left to force.
bool AttemptMachine::may_force() const noexcept {
  const bool suspended = ladder_.rung() == Rung::asked && checkpoints_.publishing();
  return ladder_.due() && !suspended && phase_ != Phase::ended && phase_ != Phase::exited;
}

void AttemptMachine::kill_now(AttemptOutput& out) {
  ladder_.stop();
  if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::ended_by_agent, "it was told to end before it started", out);
    return;
  }
  if (!alive() || ladder_.rung() == Rung::killed) {
    return;
  }
  ladder_.kill();
  end_.signaled_by_us = true;
  if (alive()) {  // Even if its start isn't known yet, because its disk is full.
    out.effects.emplace_back(SignalProgram{spec_.key, true});
  }
}

void AttemptMachine::ended(const ProgramEnded& end, AttemptOutput& out) {
  if (end_.leaked_processes) {
    no_more_leaked_processes(out);
    return;
  }
  if (phase_ != Phase::running) {
    return;
  }
  over(end, out);
}

/// The end of its program is known.
void AttemptMachine::over(const ProgramEnded& end, AttemptOutput& out) {
  if (!fenced_ && !dialogue_.has_socket()) {
    review_.ended(spec_, noter(out));
  }
  phase_ = Phase::ended;
  end_.program = end;
  end_.signaled_by_us = end_.signaled_by_us || end.asked;
  ladder_.stop();
  static_cast<void>(dialogue_.take_waiting());
  if (checkpoints_.publishing()) {
    return;
  }
  if (fenced_ && end_.leaked_processes) {
    stay_with_leaked_processes();
    return;
  }
  if (fenced_) {
    finish(false, out);
    return;
  }
  if (!end.by_signal && end.code == 0 && !reported_checkpoint_ && reports_for_attempt()) {
    // A program that reports no checkpoint may have saved one: exit status 0 means that it is complete.
    checkpoints_.add({.step = last_step_.value_or(orders_.length), .question = std::nullopt});
    publish_next(out);
    return;
  }
  make_exit_report();
}

/// The trial continues elsewhere; the slots stay in use.
void AttemptMachine::stuck(const std::string& why, AttemptOutput& out,
                           const std::optional<ProgramEnded>& end) {
  if (!alive()) {
    return;
  }
  end_.leaked_processes = true;
  end_.stuck_because = why;
  notice(Notice::Level::error, why + "; its slots stay out of use until that is gone", out);
  if (end) {
    over(*end, out);
    return;
  }
  phase_ = Phase::ended;
  ladder_.stop();
  static_cast<void>(dialogue_.take_waiting());
  checkpoints_.drop_waiting();  // They may be incomplete.
  if (checkpoints_.publishing()) {
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
  } else if (alive() && end_.node_failure.empty()) {
    end_.node_failure = why;
    notice(Notice::Level::error, why + "; it is ended, and runs again where it can", out);
    kill_now(out);
  }
}

/// A fenced attempt sends no more reports, but the next agent has to know which slots it blocks.
void AttemptMachine::stay_with_leaked_processes() noexcept {
  phase_ = Phase::exited;
  spool_.ask_at_once();
}

void AttemptMachine::no_more_leaked_processes(AttemptOutput& out) {
  end_.leaked_processes = false;
  notice(Notice::Level::info, "nothing of it is left any more", out);
  if (phase_ == Phase::exited && (fenced_ || reports_.empty()) && !log_pending()) {
    finish(!fenced_ || had_exited_, out);
  }
}

void AttemptMachine::lost(const std::string& why, AttemptOutput& out) {
  if (end_.leaked_processes) {
    no_more_leaked_processes(out);
    return;
  }
  if (!alive()) {
    return;
  }
  phase_ = Phase::ended;
  end_.lost_because = why;
  ladder_.stop();
  static_cast<void>(dialogue_.take_waiting());
  checkpoints_.drop_waiting();  // They may be incomplete.
  if (checkpoints_.publishing()) {
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
  ladder_.stop();
  if (fenced_) {
    finish(false, out);
    return;
  }
  for (const Lsn decision : std::exchange(orders_.unacknowledged, {})) {
    out.messages.emplace_back(proto::DecisionAck{spec_.key, decision});
  }
  keep(ExitReport{.cause = cause, .code = code, .message = message, .log_tail = ""}, true);
}

void AttemptMachine::make_exit_report() {
  phase_ = Phase::exited;
  keep(exit_report(end_, orders_.kill, spec_), true);
  if (spec_.hand_over_log) {
    log_.ask();
  }
}

void AttemptMachine::finish(bool keep_logs, AttemptOutput& out) {
  phase_ = Phase::exited;
  finished_ = true;
  reports_.stop_timer();
  ladder_.stop();
  log_.end();
  out.effects.emplace_back(DeleteAttempt{spec_.key, keep_logs});
}

}  // namespace hpsearch::workers
