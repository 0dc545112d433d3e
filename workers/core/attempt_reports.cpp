// AttemptMachine: data for the daemon in memory, in the spool and in transit.

#include <algorithm>
#include <utility>
#include <variant>

#include "hpsearch/workers/core/attempt_machine.hpp"

namespace hpsearch::workers {

using engine::Directive;
using engine::ExitReport;
using engine::Instant;
using engine::Lsn;
using engine::Report;

AttemptMachine::AttemptMachine(SpooledAttempt found, AttemptRules rules)
    : AttemptMachine(std::move(found.spec), rules) {
  const SpooledState& state = found.state;
  phase_ = state.exited ? Phase::exited : Phase::starting;
  found_ = true;
  orders_.last_decision = state.last_decision;
  orders_.length = std::max(orders_.length, state.length);
  orders_.kill = state.order == Directive::kill;
  if (!orders_.kill) {
    orders_.end_as = state.order;
    orders_.may_finish = state.may_finish;
  }
  dialogue_.restore(state.speaks_socket, state.speaks_lines, state.asking);
  for (const QuestionId question : state.saved) {
    checkpoints_.answer_when_written(0, question);
  }
  last_step_ = state.last_step;
  review_.restore(last_step_);
  length_reported_ = state.length_reported;
  reported_checkpoint_ = state.reported_checkpoint;
  reported_invalid_ = state.reported_invalid;
  end_.no_progress = state.no_progress;
  end_.ended_here = state.ended_here;
  end_.paused_because = state.paused_because;
  end_.leaked_processes = state.unkillable;
  end_.lost_checkpoint = state.lost_checkpoint;
  if (state.exited && spec_.hand_over_log) {
    log_.ask();
  }
  for (const WantedCheckpoint& wanted : state.checkpoints) {
    checkpoints_.add(wanted);
  }
  position_ = state.position;
  slots_held_.since = Instant::from_micros(static_cast<std::int64_t>(state.held_since));
  slots_held_.until = Instant::from_micros(static_cast<std::int64_t>(state.held_until));
  reports_.restore(state.acked, std::move(found.reports));
  spool_.restore({reports_.last(), position_, orders_.last_decision, end_.leaked_processes});
}

void AttemptMachine::keep(Report report, bool decisive) {
  if (fenced_ || (!reports_for_attempt() && !std::holds_alternative<ExitReport>(report))) {
    return;
  }
  if (decisive) {
    spool_.ask_at_once();
  }
  spool_.ask_soon(reports_.add(std::move(report)));
  if (never_ran_) {
    spool_.no_need_for(reports_.last());
  }
}

bool AttemptMachine::may_spool() const noexcept {
  const bool is_wanted = !fenced_ || (end_.leaked_processes && phase_ == Phase::exited);
  return is_wanted && !spool_.is_writing() && !finished_ && !never_ran_;
}

void AttemptMachine::spool(Instant now, AttemptOutput& out) {
  if (!may_spool() || !spool_.is_due(now)) {
    return;
  }
  const bool anew = spool_.is_anew(reports_.bytes());
  const std::uint64_t before = anew ? reports_.acked() : spool_.on_disk().reports;
  const std::vector<Report> reports = reports_.after(before);
  if (slots_held_.since == Instant{}) {
    slots_held_.since = now;  // The first write precedes its program.
  }
  if (slots_held_.until == Instant{} && phase_ == Phase::exited) {
    slots_held_.until = now;
  }
  const SpooledState state = state_to_spool();
  std::string bytes =
      anew ? spool_anew(spec_, state, before + 1, reports) : spool_more(state, before + 1, reports);
  const std::uint64_t write =
      spool_.begin({reports_.last(), position_, orders_.last_decision, state.unkillable}, bytes.size());
  out.effects.emplace_back(WriteSpool{spec_.key, write, std::move(bytes), anew, position_});
}

void AttemptMachine::spool_written(std::uint64_t write, Instant now, AttemptOutput& out) {
  if (!spool_.succeeded(write)) {
    return;
  }
  std::erase_if(orders_.unacknowledged, [&](Lsn decision) {
    const bool durable = decision <= spool_.on_disk().decision;
    if (durable) {
      out.messages.emplace_back(proto::DecisionAck{spec_.key, decision});
    }
    return durable;
  });
  answer_written_checkpoints(now, out);
  if (phase_ == Phase::preparing) {
    phase_ = Phase::starting;
    out.effects.emplace_back(StartProgram{spec_});
  }
}

void AttemptMachine::spool_not_written(std::uint64_t write, const std::string& why, Instant now,
                                       AttemptOutput& out) {
  if (!spool_.failed(write)) {
    return;
  }
  if (phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::lost, why, out);  // The cause is the worker's disk, not the program.
    return;
  }
  if (spool_.try_again(now)) {
    notice(Notice::Level::warning, "its reports wait until they can be written down here: " + why, out);
  }
}

SpooledState AttemptMachine::state_to_spool() const {
  SpooledState state;
  state.exited = phase_ == Phase::exited;
  state.position = position_;
  state.acked = reports_.acked();
  state.last_decision = orders_.last_decision;
  state.order = orders_.kill ? std::optional(Directive::kill) : orders_.end_as;
  state.may_finish = orders_.may_finish;
  state.length = orders_.length;
  state.speaks_lines = dialogue_.prints_lines();
  state.speaks_socket = dialogue_.has_socket();
  state.last_step = last_step_;
  state.length_reported = length_reported_;
  state.reported_checkpoint = reported_checkpoint_;
  state.reported_invalid = reported_invalid_;
  state.no_progress = end_.no_progress;
  state.ended_here = end_.ended_here;
  state.paused_because = end_.paused_because;
  state.unkillable =
      end_.leaked_processes && phase_ == Phase::exited;  // Before that, the next agent detects it as stuck.
  state.held_since = static_cast<std::uint64_t>(slots_held_.since.micros());
  state.held_until = static_cast<std::uint64_t>(slots_held_.until.micros());
  state.lost_checkpoint = end_.lost_checkpoint;
  state.asking = dialogue_.waiting();
  state.saved = checkpoints_.unanswered();
  // The checkpoint that a silent program leaves by exiting with 0 is derived again from the journal's last
  // record.
  if (phase_ != Phase::ended || reported_checkpoint_) {
    state.checkpoints = checkpoints_.unpublished();
  }
  return state;
}

void AttemptMachine::acknowledged(std::uint64_t upto, AttemptOutput& out) {
  if (fenced_ || finished_) {
    return;
  }
  reports_.acknowledge(upto);
  after_acknowledgement(out);
}

void AttemptMachine::answered(std::uint64_t upto, Instant now, AttemptOutput& out) {
  if (fenced_ || finished_) {
    return;
  }
  reports_.answered(upto, now);
  after_acknowledgement(out);
}

void AttemptMachine::after_acknowledgement(AttemptOutput& out) {
  if (reports_.acked() > spool_.on_disk().reports) {
    // The daemon has later reports than this spool, which is an old copy: numbers continue after them.
    spool_.no_need_for(reports_.acked());
    spool_.ask_anew();
  }
  if (phase_ == Phase::exited && reports_.empty() && !end_.leaked_processes && !log_pending()) {
    finish(true, out);
  }
}

void AttemptMachine::send(Instant now, std::size_t window, AttemptOutput& out) {
  if (!on_hold_ && !fenced_ && !finished_) {
    reports_.send(now, window, spool_.on_disk().reports, out.messages);
  }
}

// --- its log ---

void AttemptMachine::hand_over_log(Instant now, AttemptOutput& out) {
  if (!log_.waits()) {
    return;
  }
  // A little less, so that the shell can still report the reason of a failure.
  const engine::Duration within = engine::Duration::micros(rules_.log_within.in_micros() / 30 * 29);
  out.effects.emplace_back(HandOverLog{spec_.key, log_.begin(now + rules_.log_within), within});
}

void AttemptMachine::log_handed_over(std::uint64_t delivery, const std::string& problem, AttemptOutput& out) {
  if (!log_.is_under_way(delivery)) {
    return;  // It belongs to an earlier session, or is too late.
  }
  if (problem.empty()) {
    log_over(out);
  } else {
    give_up_log(problem, out);
  }
}

void AttemptMachine::give_up_log(const std::string& why, AttemptOutput& out) {
  if (!log_pending()) {
    return;
  }
  notice(Notice::Level::warning, "the daemon does not keep its log: " + why, out);
  out.messages.emplace_back(proto::LogNotKept{spec_.key, why});
  log_over(out);
}

void AttemptMachine::session_lost() noexcept {
  reports_.forget_sent();
  log_.take_back();
}

void AttemptMachine::log_over(AttemptOutput& out) {
  log_.end();
  if (phase_ == Phase::exited && (fenced_ || reports_.empty()) && !end_.leaked_processes) {
    finish(true, out);
  }
}

}  // namespace hpsearch::workers
