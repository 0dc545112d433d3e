#include "cli/results/attempt_history.hpp"

#include <string.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cli/render/text.hpp"

namespace hpsearch::cli {

namespace {

using engine::Value;

std::string signal_text(std::uint64_t number) {
  const char* const name = ::sigabbrev_np(static_cast<int>(std::min<std::uint64_t>(number, 1'000)));
  return "signal " + std::to_string(number) + (name == nullptr ? "" : " (SIG" + std::string(name) + ")");
}

bool is_lost(const Value& exit) {
  return text_at(exit, "cause") == "lost";
}

/// `wanted`: its trial had more to do.
void end_by(const Value& exit, bool measured, bool wanted, AttemptHistory& attempt) {
  const std::string cause = text_at(exit, "cause");
  const std::uint64_t code = count_at(exit, "code");
  attempt.message = text_at(exit, "message");
  attempt.log_tail = text_at(exit, "log_tail");
  attempt.failed = cause != "ended_by_agent";
  if (cause == "exited" && code == 0) {
    attempt.failed = !measured;
    attempt.cause = measured ? "exit code 0" : "missing metric";
  } else if (cause == "exited") {
    attempt.cause = "exit code " + std::to_string(code);
  } else if (cause == "signaled") {
    attempt.cause = signal_text(code);
  } else if (cause == "out_of_memory") {
    attempt.cause = "out-of-memory";
  } else if (cause == "ended_by_agent") {
    attempt.cause = wanted ? "preempted" : "stopped";
  } else if (cause == "no_progress") {
    attempt.cause = "no progress";
  } else if (cause == "checkpoint_gone") {
    attempt.cause = "checkpoint gone";
  } else if (cause == "could_not_start") {
    attempt.cause = "could not start";
  } else {
    attempt.cause = cause;
  }
}

}  // namespace

std::vector<AttemptHistory> attempts_in(const Value::List& history, const Value::List& points,
                                        const std::string& metric) {
  std::set<std::uint64_t> measured;
  for (const Value& point : points) {
    if (!member(member(point, "metrics"), metric).is_null()) {
      measured.insert(count_at(point, "attempt"));
    }
  }
  std::map<std::uint64_t, AttemptHistory> attempts;
  bool wanted = true;
  for (const Value& event : history) {
    const std::string type = text_at(event, "type");
    const std::uint64_t number = count_at(event, "attempt");
    const double at = number_at(event, "at");
    if (type == "lease_granted") {
      AttemptHistory& attempt = attempts[number];
      attempt.number = number;
      attempt.worker = count_at(event, "worker");
      attempt.workers = {attempt.worker};
      for (const Value& other : list_at(event, "others")) {
        attempt.workers.push_back(count_at(other, "worker"));
      }
      attempt.granted_at = at;
    } else if (type == "attempt_adopted") {  // It was lost and has been adopted.
      AttemptHistory found;
      found.number = number;
      found.worker = count_at(event, "worker");
      found.workers = {found.worker};
      found.granted_at = attempts[number].granted_at;
      attempts[number] = std::move(found);
    } else if (type == "attempt_lost") {
      AttemptHistory& attempt = attempts[number];
      attempt.cause = "lost";
      attempt.message = text_at(event, "why");
      attempt.ended_at = at;
      attempt.failed = true;
    } else if (type == "member_lost") {  // It explains the failures of the members that lost it.
      AttemptHistory& attempt = attempts[number];
      attempt.worker = count_at(event, "worker");
      attempt.cause = "lost";
      attempt.message = text_at(event, "why");
      attempt.ended_at = at;
      attempt.failed = true;
    } else if (type == "member_exited" && (!attempts[number].failed || is_lost(member(event, "exit")))) {
      AttemptHistory ended = attempts[number];
      ended.ended_at = at;
      end_by(member(event, "exit"), true, wanted, ended);
      if (ended.failed) {
        ended.worker = count_at(event, "worker");
        attempts[number] = std::move(ended);
      }
    } else if (type == "report_taken" && text_at(member(event, "report"), "type") == "exit") {
      AttemptHistory& attempt = attempts[number];
      if (attempt.failed && !is_lost(member(event, "report"))) {
        continue;  // Another of its members ended it before.
      }
      attempt.ended_at = at;
      end_by(member(event, "report"), measured.contains(number), wanted, attempt);
    } else if (type == "trial_ended") {
      wanted = false;
      if (!attempts.empty() && attempts.rbegin()->second.ended_at == at &&
          attempts.rbegin()->second.cause == "preempted") {
        attempts.rbegin()->second.cause = "stopped";  // Its trial's end waited only for its exit.
      }
    }
  }
  std::vector<AttemptHistory> in_order;
  in_order.reserve(attempts.size());
  for (auto& [number, attempt] : attempts) {
    in_order.push_back(std::move(attempt));
  }
  return in_order;
}

}  // namespace hpsearch::cli
