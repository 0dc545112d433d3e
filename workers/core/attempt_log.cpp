// AttemptMachine: what outlives this worker of its output.

#include "hpsearch/workers/core/attempt_machine.hpp"

namespace hpsearch::workers {

using engine::Instant;

void AttemptMachine::hand_over_log(Instant now, AttemptOutput& out) {
  if (log_ != Log::waits) {
    return;
  }
  log_ = Log::under_way;
  log_due_ = now + rules_.log_within;
  // A little less, so that the shell can still say what was in the way.
  const engine::Duration within = engine::Duration::micros(rules_.log_within.in_micros() / 30 * 29);
  out.effects.emplace_back(HandOverLog{spec_.key, ++delivery_, within});
}

void AttemptMachine::log_handed_over(std::uint64_t delivery, const std::string& problem, AttemptOutput& out) {
  if (log_ != Log::under_way || delivery != delivery_) {
    return;  // Of a session that is over, or too late.
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

/// With its session the key is gone by which the daemon takes it: it is sent again in the next one.
void AttemptMachine::take_log_back() noexcept {
  if (log_ == Log::under_way) {
    log_ = Log::waits;
    log_due_.reset();
  }
}

void AttemptMachine::session_lost() noexcept {
  reports_.forget_sent();
  take_log_back();
}

void AttemptMachine::log_over(AttemptOutput& out) {
  log_ = Log::over;
  log_due_.reset();
  if (phase_ == Phase::exited && (fenced_ || reports_.empty()) && !leaked_processes_) {
    finish(true, out);
  }
}

}  // namespace hpsearch::workers
