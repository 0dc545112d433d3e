#include "hpsearch/workers/core/attempt_machine.hpp"

#include <algorithm>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/workers/core/log_text.hpp"

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
      length_(spec_.length),
      spool_(rules.spool_within),
      reports_(spec_.key, {rules.first_resend, rules.longest_resend, rules.batch_bytes}) {
}

engine::HeldAttempt AttemptMachine::held() const {
  return {.key = spec_.key,
          .exited = phase_ == Phase::exited && all_written(),
          .last_seq = spool_.on_disk().reports,
          .last_decision = last_decision_,
          .first_seq = reports_.acked() + 1,
          .slots = spec_.slots,
          .length = spec_.length,
          .unkillable = reports_leaked_processes(),
          .waits = phase_ == Phase::waiting || phase_ == Phase::preparing};
}

engine::Duration AttemptMachine::held_for(Instant now) const noexcept {
  const Instant until = held_until_ == Instant{} ? now : held_until_;
  return held_since_ == Instant{} ? engine::Duration{} : std::max(until - held_since_, engine::Duration{});
}

std::optional<Instant> AttemptMachine::next_wake() const noexcept {
  std::optional<Instant> wake = reports_.next_wake();
  if (may_force()) {
    wake = wake ? std::min(*wake, *force_at_) : *force_at_;
  }
  if (const auto due = progress_due()) {
    wake = wake ? std::min(*wake, *due) : *due;
  }
  if (log_due_) {
    wake = wake ? std::min(*wake, *log_due_) : *log_due_;
  }
  if (const auto due = may_spool() ? spool_.next_wake() : std::nullopt) {
    wake = wake ? std::min(*wake, *due) : *due;
  }
  return wake;
}

void AttemptMachine::start() {
  HPSEARCH_CHECK(phase_ == Phase::waiting, "an attempt starts once");
  phase_ = Phase::preparing;
  spool_.ask_at_once();  // The intent first: a program nobody knows of would hold its slots for ever.
}

void AttemptMachine::attach(AttemptOutput& out) {
  HPSEARCH_CHECK(found_, "only a found attempt has a program to attach to");
  if (phase_ == Phase::starting || leaked_processes_) {
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
  printed_.began(now);
  was_started_ = true;
  if (!fenced_) {
    out.messages.emplace_back(proto::Started{spec_.key});
  }
  if (forcing_ == Forcing::killed) {
    out.effects.emplace_back(SignalProgram{spec_.key, true});
  } else if (forcing_ == Forcing::terminated) {
    out.effects.emplace_back(SignalProgram{.key = spec_.key, .grace = rules_.grace});
    force_at_ = now + rules_.grace;
  } else if (found_) {
    obey_stored(now, out);
  }
  answer_ahead(out);
}

/// What was decided before the agent died and may not have been carried out.
void AttemptMachine::obey_stored(Instant now, AttemptOutput& out) {
  report_checkpoints(now, out);  // Those who have heard of theirs have closed the question.
  publish_next(out);
  if (kill_decided_) {
    kill_now(out);
  } else if (no_progress_ || ended_here_) {
    terminate(now, out);
  } else if (end_as_) {
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
  } else if (std::find(unacked_decisions_.begin(), unacked_decisions_.end(), decision.id) ==
             unacked_decisions_.end()) {
    unacked_decisions_.push_back(decision.id);
  }
  if (decision.id <= last_decision_) {
    return;
  }
  last_decision_ = decision.id;
  spool_.ask_at_once();
  if (phase_ == Phase::ended || phase_ == Phase::exited || fenced_) {
    return;
  }
  switch (decision.directive) {
    case Directive::train_on: {
      length_ = std::max(length_, decision.length);
      if (end_as_ && !told_ && forcing_ <= Forcing::asked) {
        end_as_.reset();
        finishes_ = false;
        forcing_ = Forcing::none;
        force_at_.reset();
      }
      answer_ahead(out);  // First: after the answer, no later one may name the length of before.
      for (const QuestionId question : std::exchange(asking_, {})) {
        answer(question, now, out);
      }
      break;
    }
    case Directive::pause:
    case Directive::stop:
      if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
        never_ran(ExitReport::Cause::ended_by_agent, "it was told to end before it started", out);
        return;
      }
      end_as_ = decision.directive;
      finishes_ = decision.may_finish;
      answer_ahead(out);
      ask_to_end(now, out);
      break;
    case Directive::kill:
      kill_decided_ = true;
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
  } else if (!publishing_ && !leaked_processes_ && !log_pending()) {
    finish(had_exited_, out);
  }
}

void AttemptMachine::hold() noexcept {
  on_hold_ = true;
  reports_.forget_sent();
  take_log_back();
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
        proto::Started{spec_.key});  // It may have begun behind the HELLO, before there was a session.
  }
}

void AttemptMachine::check_timers(Instant now, AttemptOutput& out) {
  if (may_force() && now >= *force_at_) {
    if (forcing_ == Forcing::asked) {
      note_its_end(out);
      terminate(now, out);
    } else {
      kill_now(out);
    }
  }
  look_for_progress(now, out);
  if (log_due_ && now >= *log_due_) {
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
