#include "experiment/trials/first_failures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/text.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

std::string_view last_line(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t end = text.find_last_not_of(blank);
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  const std::size_t line = text.rfind('\n');
  text.remove_prefix(line == std::string_view::npos ? 0 : line + 1);
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  return text;
}

/// Times, process numbers and addresses differ from one attempt to the next.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      out += c;
    } else if (out.empty() || out.back() != '0') {
      out += '0';
    }
  }
  return out;
}

/// Signals that a program brings upon itself.
bool is_own_fault(int signal) {
  constexpr int illegal = 4;
  constexpr int aborted = 6;
  constexpr int bus = 7;
  constexpr int arithmetic = 8;
  constexpr int segment = 11;
  return signal == illegal || signal == aborted || signal == bus || signal == arithmetic || signal == segment;
}

bool is_silent(const LiveAttempt& live) {
  return !live.reported;
}

void note_again(FailureHistory& history, const std::string& way, WorkerId where) {
  if (way.empty() || history.way != way) {
    history.way = way;
    history.alike = way.empty() ? 0 : 1;
    history.elsewhere = false;
  } else {
    ++history.alike;
    history.elsewhere = history.elsewhere || history.alike_on != where;
  }
  history.alike_on = where;
}

std::uint64_t enough_not_finite(const ExperimentRecord& record) {
  return std::max(most_not_finite_trials, record.config.pause_on_failures);
}

bool nothing_is_left(const ExperimentRecord& record) {
  return record.running.empty() && record.pending.empty() &&
         std::holds_alternative<Finished>(record.searcher->next());
}

std::string kind_of_failure(const ExitReport& exit, const LiveAttempt& live) {
  using Cause = ExitReport::Cause;
  const bool for_certain = exit.cause == Cause::exited || exit.cause == Cause::could_not_start ||
                           (exit.cause == Cause::signaled && is_own_fault(exit.code)) ||
                           (exit.cause == Cause::no_progress && live.reported);
  if (!for_certain) {
    return "";
  }
  const std::string_view said = last_line(exit.log_tail);
  return std::to_string(static_cast<int>(exit.cause)) + ' ' + std::to_string(exit.code) + ' ' +
         without_numbers(said.empty() ? last_line(exit.message) : said);
}

/// How far it came is part of it.
std::string way_of_failure(const std::string& kind, const LiveAttempt& live) {
  return kind.empty() ? "" : std::to_string(count(live.reached)) + ' ' + kind;
}

}  // namespace

std::string failure_in_one_line(const std::string& message, const std::string& log_tail) {
  const std::string_view said = last_line(log_tail);
  return message + (message.empty() || said.empty() ? "" : ": ") + std::string(said.substr(0, 300));
}

void note_failure(const EngineState& state, ExperimentRecord& record, TrialRecord& trial,
                  const ExitReport& exit, WorkerId where) {
  FirstFailures& first = record.first_failures;
  ++first.failed;
  if (state.trusts_workers) {
    return;  // They are simulated: chance fails them, and no user would resume the search.
  }
  const LiveAttempt& live = *trial.live;
  const std::string kind = kind_of_failure(exit, live);
  const std::string way = way_of_failure(kind, live);
  const std::string why = failure_in_one_line(exit.message, exit.log_tail);
  if (!kind.empty()) {
    record.failure_causes.note(kind, why, live.key.trial);
  }
  if (is_silent(live)) {  // One that trained before has shown that its program can start.
    note_again(trial.failure_history.ensure(), trial.reached == Units{} ? way : std::string(), where);
  }
  if (first.over || (is_silent(live) && first.reported)) {
    return;  // Others of its attempts get on.
  }
  if (way.empty() || first.way != way) {
    first.alike.clear();
    first.elsewhere = false;
    first.worker = where;
  }
  first.way = way;
  if (!way.empty()) {
    first.alike.insert(live.key.trial);
  }
  first.elsewhere = first.elsewhere || first.worker != where;
  first.why = why;
}

void note_unmeasured(ExperimentRecord& record, TrialNumber trial, const std::string& why) {
  ++record.first_failures.unmeasured;
  record.first_failures.why = why;
  record.failure_causes.note(without_numbers(why), why, trial);
}

void note_sign_of_life(ExperimentRecord& record) {
  FirstFailures& first = record.first_failures;
  if (std::exchange(first.reported, true)) {
    return;
  }
  first.alike.clear();
  first.way.clear();
}

void note_measurement(ExperimentRecord& record, const LiveAttempt& live, const Measurement& measured) {
  if (std::isfinite(measured.metric) && live.first_step && measured.step > *live.first_step) {
    record.first_failures.got_on = true;
  }
}

void note_length_with(ExperimentRecord& record, TrialNumber trial, double metric) {
  FirstFailures& first = record.first_failures;
  if (std::isfinite(metric)) {
    first.over = true;
    first.alike.clear();
  } else if (!record.trials[trial.number()].best && first.not_finite.size() < enough_not_finite(record)) {
    first.not_finite.insert(trial);
  }
}

void forget_first_failures(ExperimentRecord& record, Instant now) {
  record.failure_causes.clear();
  FirstFailures& first = record.first_failures;
  first.alike.clear();
  first.way.clear();
  first.unmeasured = 0;
  first.first_start = Instant{};
  first.not_finite_known = first.not_finite_known || first.not_finite.size() >= enough_not_finite(record);
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    if (Box<FailureHistory>& history = record.trials[i].failure_history; history) {
      history->alike = 0;
      history->fruitless = 0;
      // Not by record.delayed: what leaves that without an event is still in it when the log is replayed.
      if (!record.pending.contains(TrialNumber(i)) || history->not_before <= now) {
        history->not_before = Instant{};
      }
    }
  }
}

bool fails_for_certain(const EngineState& state, const ExperimentRecord& record, const TrialRecord& trial) {
  const Box<FailureHistory>& history = trial.failure_history;
  return history && history->alike >= 2 &&
         (history->elsewhere || !others_serve(state, record.config.resources, history->alike_on));
}

bool takes_first_look(const ExperimentRecord& record, Instant now) {
  const FirstFailures& first = record.first_failures;
  return !record.config.resources.external && !first.got_on && !first.over && !record.running.empty() &&
         now < first.first_start + first_look;
}

std::uint64_t most_first_trials(const ExperimentRecord& record, bool at_first_look) {
  constexpr std::uint64_t least = 3;  // One at a time would leave slots idle for programs that are in order.
  constexpr std::uint64_t most_at_first_look = 8;
  const std::uint64_t pause = record.config.pause_on_failures;
  if (at_first_look) {
    return pause == 0 ? most_at_first_look : std::clamp(pause, least, most_at_first_look);
  }
  return pause == 0 ? std::numeric_limits<std::uint64_t>::max() : std::max(pause, least);
}

bool holds_back(const ExperimentRecord& record, Instant now, bool looks) {
  const FirstFailures& first = record.first_failures;
  const std::uint64_t running = record.running.size();
  const std::uint64_t alike = first.alike.size();
  if (looks && takes_first_look(record, now)) {
    return std::max(alike, first.unmeasured) + running >= most_first_trials(record, true);
  }
  return !first.reported && alike > 0 && running > 0 && alike + running >= most_first_trials(record, false);
}

bool lets_others_try(const ExperimentRecord& record, TrialNumber number) {
  const std::set<TrialNumber>& alike = record.first_failures.alike;
  const TrialRecord& trial = record.trials[number.number()];
  return alike.size() < record.config.pause_on_failures && alike.contains(number) &&
         (trial.failure_history || trial.restarts > 1);
}

bool pause_if_all_fail(Step& step, ExperimentId id) {
  const EngineState& state = step.state();
  const ExperimentRecord& record = state.experiments.at(id);
  const FirstFailures& first = record.first_failures;
  const bool everywhere = first.elsewhere || !others_serve(state, record.config.resources, first.worker);
  const std::uint64_t enough = record.config.pause_on_failures;
  if (record.state != ExperimentState::active || enough == 0 || first.alike.size() < enough || !everywhere) {
    return false;
  }
  const std::size_t trials = first.alike.size();
  const std::string which =
      trials == 1 ? " trial failed: " : " " + std::to_string(trials) + " trials failed in the same way: ";
  step.emit(ExperimentPaused{id, "its first" + which + first.why});
  return true;
}

bool pause_if_unmeasured(Step& step, ExperimentId id) {
  const ExperimentRecord& record = step.state().experiments.at(id);
  const FirstFailures& first = record.first_failures;
  const bool unmeasured = first.unmeasured >= most_unmeasured_trials;
  const bool not_finite = first.not_finite.size() >= enough_not_finite(record) && !first.not_finite_known;
  if (record.state != ExperimentState::active || record.best || first.over || step.state().trusts_workers ||
      record.config.pause_on_failures == 0 || !(unmeasured || not_finite) || nothing_is_left(record)) {
    return false;
  }
  const std::string& metric = record.config.searcher.metric;
  step.emit(ExperimentPaused{
      id, unmeasured ? "its first trials ended without a value of the search's metric: " + first.why
                     : "its first trials reached their lengths, and every " + metric +
                           " that they reported was NaN or infinite"});
  return true;
}

}  // namespace hpsearch::engine
