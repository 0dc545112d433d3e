#include "hpsearch/workers/core/attempt_machine.hpp"

#include <algorithm>
#include <utility>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::workers {

using engine::Decision;
using engine::Directive;
using engine::ExitReport;
using engine::Instant;

std::string attempt_text(const engine::AttemptKey& key) {
  return "experiment " + std::to_string(key.experiment.number()) + " trial " +
         std::to_string(key.trial.number()) + " attempt " + std::to_string(key.attempt.number());
}

AttemptMachine::AttemptMachine(jobs::LaunchSpec spec, AttemptRules rules)
    : spec_(std::move(spec)),
      rules_(rules),
      orders_{.length = spec_.length},
      spool_(rules.spool_within),
      reports_(spec_.key, {rules.first_resend, rules.longest_resend, rules.batch_bytes}) {
}

engine::HeldAttempt AttemptMachine::held() const {
  return {.key = spec_.key,
          .exited = phase_ == Phase::exited && all_written(),
          .last_seq = spool_.on_disk().reports,
          .last_decision = orders_.last_decision,
          .first_seq = reports_.acked() + 1,
          .slots = spec_.slots,
          .length = spec_.length,
          .unkillable = reports_leaked_processes(),
          .waits = phase_ == Phase::waiting || phase_ == Phase::preparing};
}

engine::Duration AttemptMachine::held_for(Instant now) const noexcept {
  const Instant until = slots_held_.until == Instant{} ? now : slots_held_.until;
  return slots_held_.since == Instant{} ? engine::Duration{}
                                        : std::max(until - slots_held_.since, engine::Duration{});
}

std::optional<Instant> AttemptMachine::next_wake() const noexcept {
  std::optional<Instant> wake = reports_.next_wake();
  for (const auto& due : {may_force() ? ladder_.due() : std::nullopt, progress_due(), log_.due(),
                          may_spool() ? spool_.next_wake() : std::nullopt}) {
    if (due) {
      wake = wake ? std::min(*wake, *due) : *due;
    }
  }
  return wake;
}

void AttemptMachine::start() {
  HPSEARCH_CHECK(phase_ == Phase::waiting, "an attempt starts once");
  phase_ = Phase::preparing;
  spool_.ask_at_once();  // The lease is written first: a program that no spool lists would hold its slots
                         // forever.
}

void AttemptMachine::attach(AttemptOutput& out) {
  HPSEARCH_CHECK(found_, "only a found attempt has a program to attach to");
  if (phase_ == Phase::starting || end_.leaked_processes) {
    out.effects.emplace_back(AttachProgram{spec_.key, position_});
  }
}

void AttemptMachine::refuse(const std::string& why, AttemptOutput& out) {
  never_ran(ExitReport::Cause::could_not_start, why, out);
}

void AttemptMachine::started(Instant now, AttemptOutput& out) {
  if (phase_ != Phase::starting) {
    return;
  }
  phase_ = Phase::running;
  silent_since_ = now;
  review_.began(now);
  was_started_ = true;
  if (!fenced_) {
    out.messages.emplace_back(proto::Started{spec_.key});
  }
  if (ladder_.rung() == Rung::killed) {
    out.effects.emplace_back(SignalProgram{spec_.key, true});
  } else if (ladder_.rung() == Rung::terminated) {
    terminate(now, out);
  } else if (found_) {
    carry_out_stored_decisions(now, out);
  }
  answer_ahead(out);
}

/// Carries out decisions that an earlier agent may not have carried out.
void AttemptMachine::carry_out_stored_decisions(Instant now, AttemptOutput& out) {
  answer_written_checkpoints(now, out);  // An earlier agent may have answered these.
  publish_next(out);
  if (orders_.kill) {
    kill_now(out);
  } else if (end_.no_progress || end_.ended_here) {
    terminate(now, out);
  } else if (orders_.end_as) {
    ask_to_end(now, out);
  }
}

void AttemptMachine::not_started(const std::string& why, ExitReport::Cause cause, int status,
                                 AttemptOutput& out) {
  if (phase_ != Phase::starting) {
    return;
  }
  never_ran(cause, why, out, status);
}

void AttemptMachine::lease_again(AttemptOutput& out) {
  on_hold_ = false;
  if (was_started_ && !fenced_) {
    out.messages.emplace_back(proto::Started{spec_.key});
  }
}

void AttemptMachine::decided(const Decision& decision, Instant now, AttemptOutput& out) {
  const bool forgettable = never_ran_ || fenced_ || finished_;
  if (forgettable || decision.id <= spool_.on_disk().decision) {
    out.messages.emplace_back(proto::DecisionAck{spec_.key, decision.id});
  } else if (std::find(orders_.unacknowledged.begin(), orders_.unacknowledged.end(), decision.id) ==
             orders_.unacknowledged.end()) {
    orders_.unacknowledged.push_back(decision.id);
  }
  if (decision.id <= orders_.last_decision) {
    return;
  }
  orders_.last_decision = decision.id;
  spool_.ask_at_once();
  if (phase_ == Phase::ended || phase_ == Phase::exited || fenced_) {
    return;
  }
  switch (decision.directive) {
    case Directive::train_on: {
      orders_.length = std::max(orders_.length, decision.length);
      if (orders_.end_as && !ends_by_ && !dialogue_.knows_end() && ladder_.rung() <= Rung::asked) {
        orders_.end_as.reset();
        orders_.may_finish = false;
        ladder_.withdraw();
      }
      answer_ahead(out);  // First: after the answer, no later answer may have the previous length.
      answer_waiting(now, out);
      break;
    }
    case Directive::pause:
    case Directive::stop:
      if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
        never_ran(ExitReport::Cause::ended_by_agent, "it was told to end before it started", out);
        return;
      }
      orders_.end_as = decision.directive;
      orders_.may_finish = decision.may_finish;
      answer_ahead(out);
      ask_to_end(now, out);
      break;
    case Directive::kill:
      orders_.kill = true;
      kill_now(out);
      break;
  }
}

void AttemptMachine::fenced(AttemptOutput& out) {
  if (finished_ || fenced_) {
    return;
  }
  fenced_ = true;
  had_exited_ = phase_ == Phase::exited;
  reports_.drop_all();
  spool_.no_need_for(reports_.last());
  if (alive()) {
    kill_now(out);
  } else if (!checkpoints_.publishing() && !end_.leaked_processes && !log_pending()) {
    finish(had_exited_, out);
  }
}

void AttemptMachine::hold() noexcept {
  on_hold_ = true;
  reports_.forget_sent();
  log_.take_back();
}

void AttemptMachine::go_on(std::uint64_t upto, AttemptOutput& out) {
  on_hold_ = false;
  reports_.forget_sent();
  if (upto < reports_.acked()) {
    notice(Notice::Level::error,
           "the daemon knows its reports only up to " + std::to_string(upto) +
               ", but acknowledged them up to " + std::to_string(reports_.acked()) +
               ": its store is older than it was",
           out);
  }
  acknowledged(upto, out);
  if (was_started_ && reports_.acked() == 0 && !finished_) {
    out.messages.emplace_back(
        proto::Started{spec_.key});  // It may have started after the HELLO, before the session.
  }
}

void AttemptMachine::check_timers(Instant now, AttemptOutput& out) {
  if (may_force() && now >= *ladder_.due()) {
    if (ladder_.rung() == Rung::asked) {
      note_its_end(out);
      terminate(now, out);
    } else {
      kill_now(out);
    }
  }
  look_for_progress(now, out);
  if (log_.due() && now >= *log_.due()) {
    give_up_log("the daemon did not take it within " +
                    std::to_string(rules_.log_within.in_micros() / 1'000'000) + " s",
                out);
  }
  reports_.check_timer(now);
}

void AttemptMachine::notice(Notice::Level level, const std::string& text, AttemptOutput& out) const {
  out.effects.emplace_back(Notice{level, attempt_text(spec_.key) + ": " + text});
}

}  // namespace hpsearch::workers
