// AttemptMachine: what is kept for the daemon: in memory, in the spool, under way.

#include <algorithm>
#include <utility>
#include <variant>

#include "hpsearch/workers/core/attempt_machine.hpp"
#include "hpsearch/workers/core/log_text.hpp"

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
  last_decision_ = state.last_decision;
  length_ = std::max(length_, state.length);
  kill_decided_ = state.told == Directive::kill;
  if (!kill_decided_) {
    end_as_ = state.told;
    finishes_ = state.may_finish;
  }
  asking_ = state.asking;
  for (const QuestionId question : state.saved) {
    unsaid_checkpoints_.emplace_back(0, question);
  }
  speaks_ = state.speaks_socket ? Speaks::socket : state.speaks_lines ? Speaks::lines : Speaks::unknown;
  last_step_ = last_measured_ = state.last_step;
  length_reported_ = state.length_reported;
  reported_checkpoint_ = state.reported_checkpoint;
  reported_invalid_ = state.reported_invalid;
  no_progress_ = state.no_progress;
  ended_here_ = state.ended_here;
  paused_alone_ = state.paused_alone;
  leaked_processes_ = state.unkillable;
  lost_checkpoint_ = state.lost_checkpoint;
  log_ = state.exited && spec_.hand_over_log ? Log::waits : Log::none;
  to_publish_.assign(state.checkpoints.begin(), state.checkpoints.end());
  position_ = state.position;
  held_since_ = Instant::from_micros(static_cast<std::int64_t>(state.held_since));
  held_until_ = Instant::from_micros(static_cast<std::int64_t>(state.held_until));
  reports_.restore(state.acked, std::move(found.reports));
  spool_.restore({reports_.last(), position_, last_decision_, leaked_processes_});
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
  const bool is_wanted = !fenced_ || (leaked_processes_ && phase_ == Phase::exited);
  return is_wanted && !spool_.is_writing() && !finished_ && !never_ran_;
}

void AttemptMachine::spool(Instant now, AttemptOutput& out) {
  if (!may_spool() || !spool_.is_due(now)) {
    return;
  }
  const bool anew = spool_.is_anew(reports_.bytes());
  const std::uint64_t before = anew ? reports_.acked() : spool_.on_disk().reports;
  const std::vector<Report> reports = reports_.after(before);
  if (held_since_ == Instant{}) {
    held_since_ = now;  // The first write comes before its program.
  }
  if (held_until_ == Instant{} && phase_ == Phase::exited) {
    held_until_ = now;
  }
  const SpooledState state = state_to_spool();
  std::string bytes =
      anew ? spool_anew(spec_, state, before + 1, reports) : spool_more(state, before + 1, reports);
  const std::uint64_t write =
      spool_.begin({reports_.last(), position_, last_decision_, state.unkillable}, bytes.size());
  out.effects.emplace_back(WriteSpool{spec_.key, write, std::move(bytes), anew, position_});
}

void AttemptMachine::spool_written(std::uint64_t write, Instant now, AttemptOutput& out) {
  if (!spool_.succeeded(write)) {
    return;
  }
  std::erase_if(unacked_decisions_, [&](Lsn decision) {
    const bool durable = decision <= spool_.on_disk().decision;
    if (durable) {
      out.messages.emplace_back(proto::DecisionAck{spec_.key, decision});
    }
    return durable;
  });
  report_checkpoints(now, out);
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
    never_ran(ExitReport::Cause::lost, why, out);  // The worker's disk is to blame, not the program.
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
  state.last_decision = last_decision_;
  state.told = kill_decided_ ? std::optional(Directive::kill) : end_as_;
  state.may_finish = finishes_;
  state.length = length_;
  state.speaks_lines = speaks_ == Speaks::lines;
  state.speaks_socket = speaks_ == Speaks::socket;
  state.last_step = last_step_;
  state.length_reported = length_reported_;
  state.reported_checkpoint = reported_checkpoint_;
  state.reported_invalid = reported_invalid_;
  state.no_progress = no_progress_;
  state.ended_here = ended_here_;
  state.paused_alone = paused_alone_;
  state.unkillable =
      leaked_processes_ && phase_ == Phase::exited;  // Before that, the next agent finds it stuck by itself.
  state.held_since = static_cast<std::uint64_t>(held_since_.micros());
  state.held_until = static_cast<std::uint64_t>(held_until_.micros());
  state.lost_checkpoint = lost_checkpoint_;
  state.asking = asking_;
  for (const auto& [seq, question] : unsaid_checkpoints_) {
    state.saved.push_back(question);
  }
  // The one that a silent program leaves by ending well comes back with the journal's last line.
  if (phase_ != Phase::ended || reported_checkpoint_) {
    if (publishing_) {
      state.checkpoints.push_back(*publishing_);
    }
    state.checkpoints.insert(state.checkpoints.end(), to_publish_.begin(), to_publish_.end());
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
    // The daemon knows more than this spool, which is a copy of an older one: it goes on behind that.
    spool_.no_need_for(reports_.acked());
    spool_.ask_anew();
  }
  if (phase_ == Phase::exited && reports_.empty() && !leaked_processes_ && !log_pending()) {
    finish(true, out);
  }
}

void AttemptMachine::send(Instant now, std::size_t window, AttemptOutput& out) {
  if (!on_hold_ && !fenced_ && !finished_) {
    reports_.send(now, window, spool_.on_disk().reports, out.messages);
  }
}

}  // namespace hpsearch::workers
