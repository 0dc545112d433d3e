// A trial's course: what a reached length, an exit or a loss means for it.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/trials/first_failures.hpp"
#include "experiment/trials/retention.hpp"
#include "experiment/trials/trained_length.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/experiment/absent_metric.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

const ExperimentRecord& experiment_of(const Step& step, ExperimentId id) {
  return step.state().experiments.at(id);
}

void end(Step& step, ExperimentId experiment, TrialNumber number, TrialState state, Reason reason) {
  step.emit(TrialEnded{experiment, number, state, std::move(reason)});
}

Reason because(Reason::Why why, std::string detail) {
  Reason reason;
  reason.why = why;
  reason.detail = std::move(detail);
  return reason;
}

/// Runs again, unless its experiment is paused or ending.
void run_again(Step& step, ExperimentId id, TrialNumber number) {
  const ExperimentRecord& record = experiment_of(step, id);
  switch (record.state) {
    case ExperimentState::active:
      step.emit(TrialQueued{id, number});
      return;
    case ExperimentState::paused:
      step.emit(TrialPaused{id, number,
                            record.reason.empty() ? because(Reason::Why::user, "the experiment is paused")
                                                  : because(Reason::Why::paused_itself, "")});
      return;
    case ExperimentState::stopping:
    case ExperimentState::completed:
    case ExperimentState::canceled:
    case ExperimentState::failed:
      break;
  }
  const bool user = record.stopping_as == ExperimentState::canceled;
  end(step, id, number, TrialState::canceled,
      because(user ? Reason::Why::user : Reason::Why::experiment_end, record.reason));
}

void exit_early(Step& step, ExperimentId id, TrialNumber number, ExitReason exit, TrialState state,
                const std::string& detail, bool unmeasured = false) {
  close_all_that_can_be(step, id);
  step.emit(TrialExitedEarly{id, number, exit, detail, unmeasured});
  end(step, id, number, state, because(Reason::Why::early_exit, detail));
}

/// It failed because the searcher's metric was not reported.
void fail_unmeasured(Step& step, ExperimentId id, TrialNumber number, const std::string& detail) {
  exit_early(step, id, number, ExitReason::errored, TrialState::failed, detail, true);
  pause_if_unmeasured(step, id);
}

/// The same after an attempt that may have been fruitless: the trial waits a while, or has had too many.
void run_again_after(Step& step, ExperimentId id, TrialNumber number,
                     const std::optional<FruitlessEnd>& fruitless) {
  if (!fruitless) {
    run_again(step, id, number);
    return;
  }
  const std::uint64_t times =
      fruitless->evicted || fruitless->again_there ? 0 : fruitless_with(step.state(), *fruitless);
  if (times >= most_fruitless_attempts && experiment_of(step, id).state == ExperimentState::active) {
    exit_early(step, id, number, ExitReason::errored, TrialState::failed,
               std::to_string(times) + " attempts in a row ended without a report" +
                   (fruitless->why.empty() ? "" : "; the last: " + fruitless->why));
  } else {
    run_again(step, id, number);
  }
  delayed(step, *fruitless);
}

std::string amount(const ExperimentRecord& record, Units units) {
  return amount(units, record.config.unit);
}

/// The metrics that it reported instead of the searcher's.
std::vector<std::string_view> others_reported(const TrialRecord& trial) {
  std::vector<std::string_view> names;
  std::string_view rest = trial.other_metrics ? std::string_view(*trial.other_metrics) : std::string_view();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return names;
}

/// The trial is at its length: its searcher is asked what becomes of it.
void judge(Step& step, const ExperimentRecord& record, TrialNumber number, Units at,
           std::optional<double> metric, bool ended = false) {
  const TrialRecord& trial = record.trials[number.number()];
  const bool was_running = trial.live && trial.state == TrialState::running;
  step.emit(LengthReached{record.id, number, trial.length, at, metric, ended});
  Verdict verdict = record.searcher->verdict(number);
  if (ended && verdict.action == Verdict::Action::stop) {
    verdict.reason.detail =
        "its program ended at " + amount(record, at) + " of " + amount(record, trial.length);
  }
  switch (verdict.action) {
    case Verdict::Action::train_on:
      step.emit(TrialPromoted{record.id, number, verdict.length, was_running, std::move(verdict.reason)});
      break;
    case Verdict::Action::pause:
      step.emit(TrialPaused{record.id, number, std::move(verdict.reason)});
      break;
    case Verdict::Action::stop: {
      const bool full = trial.length >= record.config.searcher.max_length;
      end(step, record.id, number, full ? TrialState::completed : TrialState::stopped,
          std::move(verdict.reason));
      break;
    }
  }
}

/// The value that counts at the trial's length: the first one from there on, as far as it is kept.
std::optional<Measurement> measured_at_length(const ExperimentRecord& record, TrialNumber number) {
  const TrialRecord& trial = record.trials[number.number()];
  if (const auto ahead = record.ahead.find(number); ahead != record.ahead.end()) {
    const auto first = std::find_if(ahead->second.begin(), ahead->second.end(),
                                    [&](const Measurement& one) { return one.step >= trial.length; });
    if (first != ahead->second.end()) {
      return *first;
    }
  }
  return trial.latest && trial.latest->step >= trial.length ? trial.latest : std::nullopt;
}

/// The program ended well.
void after_good_exit(Step& step, ExperimentId id, TrialNumber number, const Course& course) {
  const ExperimentRecord& record = experiment_of(step, id);
  const Units reached = course.reached;
  const TrialRecord& trial = record.trials[number.number()];
  if (!trial.latest) {
    fail_unmeasured(step, id, number,
                    "the program exited with code 0, but it " +
                        absent_metric_text(others_reported(trial), record.config.searcher.metric));
    return;
  }
  if (trial.latest->step >= trial.length) {  // By its end it was clear that its steps count from 0.
    step.emit(TrialQueued{id, number, /*judged=*/true});
    reach_lengths(step, id, number);
    return;
  }
  const bool as_others = ends_where_others_do(record, trial);
  const bool ends_early = course.went_on || as_others;
  if (!as_others && count(reached) + 1 == count(trial.length) && trial.latest->step == reached) {
    step.emit(TrialQueued{id, number, /*judged=*/true});
    judge(step, record, number, reached,
          trial.latest->metric);  // It counts from 0, or left the last one out.
    if (course.went_on && trial.state == TrialState::pending) {  // And trains no further than that.
      judge(step, record, number, trial.reached, trial.latest->metric, /*ended=*/true);
      reach_lengths(step, id, number);
    }
    return;
  }
  if (!course.measured && reached < course.granted) {
    exit_early(step, id, number, ExitReason::user_stopped, TrialState::stopped,
               "its program exited at " + amount(record, reached) + " of " + amount(record, course.granted));
    return;
  }
  if (!ends_early && reached >= course.granted && trial.length > course.granted) {
    run_again(step, id, number);  // Promoted in place, but it knew only the length it was started for.
    return;
  }
  step.emit(TrialQueued{id, number, /*judged=*/true});
  if (reached >= trial.length) {  // At its length, but without the metric there: its last value counts.
    judge(step, record, number, reached,
          course.measured ? std::optional(trial.latest->metric) : std::nullopt);
    reach_lengths(step, id, number);
    return;
  }
  // Another report was due before its length, or there is no length behind that one: it trains no further.
  const bool is_over = ends_early || count(trial.length) - count(reached) >= count(course.stride) ||
                       trial.length >= record.config.searcher.max_length;
  judge(step, record, number, reached, trial.latest->metric, is_over);
  if (is_over) {
    reach_lengths(step, id, number);
  }
}

}  // namespace

void reach_lengths(Step& step, ExperimentId id, TrialNumber number) {
  for (;;) {
    const ExperimentRecord& record = experiment_of(step, id);
    const TrialRecord& trial = record.trials[number.number()];
    const std::optional<Measurement> measured = measured_at_length(record, number);
    const bool open = trial.state == TrialState::running || trial.state == TrialState::pending;
    const bool over = !trial.live && trial.exited;
    const bool ended = over && trial.latest && trial.reached < trial.length &&
                       (trial.trains_no_further || ends_where_others_do(record, trial));
    const bool there = measured || ended || (trial.reached >= trial.length && over);
    if (!open || !there || is_ended(record.state) || record.state == ExperimentState::stopping) {
      return;
    }
    const std::optional<Measurement> counts = ended && !measured ? trial.latest : measured;
    judge(step, record, number, measured ? measured->step : trial.reached,
          counts ? std::optional(counts->metric) : std::nullopt, ended && !measured);
    pause_if_unmeasured(step, id);
  }
}

namespace {

/// With this code (EX_CONFIG of sysexits.h) a worker says that an attempt could not start for a reason that
/// no other trial and no other try escapes: the experiment is wrong, not the machine.
constexpr int same_everywhere = 78;

}  // namespace

namespace {

/// All of these metrics were reported before.
bool reports_nothing_new(const TrialRecord& trial, const MetricsReport& report) {
  const std::vector<std::string_view> known = others_reported(trial);
  return !report.metrics.empty() &&
         std::all_of(report.metrics.begin(), report.metrics.end(), [&known](const auto& named) {
           return std::find(known.begin(), known.end(), named.first) != known.end();
         });
}

}  // namespace

bool is_overdue(const ExperimentRecord& record, const TrialRecord& trial, const MetricsReport& report) {
  // A rung may be shorter than a program's steps between two measurements: these are waited for.
  constexpr std::uint64_t patience = 4;
  const std::uint64_t longest = count(record.config.searcher.max_length);
  const std::uint64_t length = count(trial.length);
  const std::uint64_t unmeasured = length > longest / patience ? longest : length * patience;
  const std::uint64_t measured = trial.latest ? count(trial.latest->step) : 0;
  const std::uint64_t again = measured > INT64_MAX / 2 ? INT64_MAX : 2 * measured;
  const std::uint64_t before = count(trial.live->reached);
  const bool passes = before >= std::max(unmeasured, again) && count(report.step) > before;
  // A client that stands at its length; of a worker's program UnmeasuredReport tells.
  const bool stands = trial.live->external && !trial.latest && before >= length &&
                      count(report.step) >= length && reports_nothing_new(trial, report);
  return trial.state == TrialState::running && record.state == ExperimentState::active &&
         find_metric(report.metrics, record.config.searcher.metric) == nullptr && (passes || stands);
}

void take_unmeasured(Step& step, ExperimentId id, TrialNumber number, Units at) {
  const ExperimentRecord& record = experiment_of(step, id);
  const TrialRecord& trial = record.trials[number.number()];
  if (trial.state != TrialState::running || record.state != ExperimentState::active || at < trial.length) {
    return;  // The decision that it waits for is made already.
  }
  if (trial.latest) {
    judge(step, record, number, at, trial.latest->metric);
    return;
  }
  fail_unmeasured(step, id, number,
                  "at " + amount(record, at) + ", its length, it reports again and again, and it has " +
                      absent_metric_text(others_reported(trial), record.config.searcher.metric));
}

void fail_overdue(Step& step, ExperimentId id, TrialNumber number) {
  const ExperimentRecord& record = experiment_of(step, id);
  const TrialRecord& trial = record.trials[number.number()];
  const std::string& metric = record.config.searcher.metric;
  const std::string there =
      "at " + amount(record, trial.reached) + ", beyond its length of " + amount(record, trial.length) + ",";
  fail_unmeasured(step, id, number,
                  trial.latest ? there + " the search's metric \"" + metric + "\" was last reported at " +
                                     amount(record, trial.latest->step)
                               : there + " it had " + absent_metric_text(others_reported(trial), metric));
}

Course course_of(const LiveAttempt& live) {
  return {live.granted_length, live.reached, live.stride, live.went_on, live.measured};
}

void after_exit(Step& step, const AttemptKey& key, const Course& course, const ExitReport& report, Exit exit,
                const std::optional<FruitlessEnd>& fruitless) {
  const ExperimentRecord& record = experiment_of(step, key.experiment);
  const TrialRecord& trial = record.trials[key.trial.number()];
  if (trial.state != TrialState::running) {  // Its fate was decided before it ended.
    if (trial.state == TrialState::pending && trial.trains_no_further) {
      reach_lengths(step, key.experiment, key.trial);  // Promoted meanwhile.
    }
    return;
  }
  if (record.state == ExperimentState::stopping) {
    run_again(step, key.experiment, key.trial);
    return;
  }
  if (exit == Exit::failed && report.cause == ExitReport::Cause::could_not_start &&
      report.code == same_everywhere && record.tally.trained() == 0) {
    // Once a trial has trained, it is the worker that differs.
    const std::string cause = report.message;
    exit_early(step, key.experiment, key.trial, ExitReason::errored, TrialState::failed, cause);
    if (record.state != ExperimentState::stopping && !is_ended(record.state)) {
      stop_experiment(step, key.experiment, ExperimentState::failed, /*at_once=*/true, cause);
    }
    return;
  }
  if (exit == Exit::failed) {
    const std::string cause = report.message.empty() ? "its program failed" : report.message;
    if (pause_if_all_fail(step, key.experiment)) {
      run_again(step, key.experiment, key.trial);  // Once it is resumed: nothing is lost of the search.
    } else if (fails_for_certain(step.state(), record, trial)) {
      exit_early(step, key.experiment, key.trial, ExitReason::errored, TrialState::failed,
                 cause + "; it failed twice in the same way before its first report");
    } else if (trial.restarts > record.config.max_restarts && !(fruitless && fruitless->again_there)) {
      exit_early(step, key.experiment, key.trial, ExitReason::errored, TrialState::failed, cause);
    } else {
      run_again_after(step, key.experiment, key.trial, fruitless);
    }
    return;
  }
  const bool well = report.cause == ExitReport::Cause::exited && report.code == 0;
  if (well && exit == Exit::by_itself && record.state == ExperimentState::active) {
    after_good_exit(step, key.experiment, key.trial, course);
    return;
  }
  run_again_after(step, key.experiment, key.trial, fruitless);
}

Status end_trial(Step& step, const EndTrial& command) {
  const auto found = step.state().experiments.find(command.experiment);
  if (found == step.state().experiments.end()) {
    return no_experiment(step.state(), command.experiment);
  }
  const ExperimentRecord& record = found->second;
  if (command.trial.number() >= record.trials.size()) {
    return Error{Errc::not_found, "experiment " + std::to_string(record.id.number()) + " has no trial " +
                                      std::to_string(command.trial.number())};
  }
  const TrialState state = record.trials[command.trial.number()].state;
  const bool canceled = command.reason == ExitReason::user_canceled;
  if (!canceled && command.reason != ExitReason::user_stopped) {
    return Error{Errc::bad_request, "a user ends a trial as user_canceled or user_stopped, not as " +
                                        std::string(name_of(command.reason))};
  }
  if (is_closed(state)) {
    return state == TrialState::canceled || state == TrialState::stopped
               ? Status(Done{})  // Asking twice is not an error.
               : Status(Error{Errc::wrong_state, "trial " + std::to_string(command.trial.number()) +
                                                     " has ended as " + std::string(name_of(state))});
  }
  close_all_that_can_be(step, record.id);
  if (is_closed(record.trials[command.trial.number()].state)) {
    return Done{};  // Its rung was over already.
  }
  exit_early(step, record.id, command.trial, command.reason,
             canceled ? TrialState::canceled : TrialState::stopped,
             canceled ? "canceled by a user" : "stopped by a user");
  return Done{};
}

Status retry_trial(Step& step, const RetryTrial& command) {
  const auto found = step.state().experiments.find(command.experiment);
  if (found == step.state().experiments.end()) {
    return no_experiment(step.state(), command.experiment);
  }
  const ExperimentRecord& record = found->second;
  const std::string which = "trial " + std::to_string(command.trial.number());
  if (command.trial.number() >= record.trials.size()) {
    return Error{Errc::not_found, "experiment " + std::to_string(record.id.number()) + " has no " + which};
  }
  if (record.state != ExperimentState::active && record.state != ExperimentState::paused) {
    return Error{Errc::wrong_state, "experiment " + std::to_string(record.id.number()) + " is " +
                                        std::string(name_of(record.state)) +
                                        "; a trial is retried only before its experiment ends"};
  }
  const TrialState state = record.trials[command.trial.number()].state;
  if (state != TrialState::failed) {
    return Error{Errc::wrong_state,
                 which + " is " + std::string(name_of(state)) + "; only a trial that has failed is retried"};
  }
  if (const std::string why = record.searcher->obstacle_to_retry(command.trial); !why.empty()) {
    return Error{Errc::wrong_state, which + " cannot be retried: " + why};
  }
  close_all_that_can_be(step, record.id);  // By the ranks that they have now.
  step.emit(TrialRetried{record.id, command.trial});
  if (record.state == ExperimentState::paused) {
    run_again(step, record.id, command.trial);
  }
  return Done{};
}

namespace {

void lose(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why, bool may_return,
          const std::optional<FruitlessEnd>& fruitless) {
  if (trial_of(step.state(), key.experiment, key.trial).live->gang) {
    step.emit(MemberLost{key, worker, why});
    end_gang(step, key);
    return;
  }
  step.emit(AttemptLost{key, why, may_return});
  if (trial_of(step.state(), key.experiment, key.trial).state == TrialState::running) {
    run_again_after(step, key.experiment, key.trial, fruitless);
  }
}

}  // namespace

void lose_attempt(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why,
                  bool may_return) {
  const TrialRecord& trial = trial_of(step.state(), key.experiment, key.trial);
  lose(step, key, worker, why, may_return, fruitless_end(trial, step.now(), WorkerId{}, why));
}

void lose_attempt_there(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why) {
  const TrialRecord& trial = trial_of(step.state(), key.experiment, key.trial);
  lose(step, key, worker, why, false, fruitless_end(trial, step.now(), worker, why));
}

void evict_attempt(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why) {
  std::optional<FruitlessEnd> end =
      fruitless_end(trial_of(step.state(), key.experiment, key.trial), step.now(), worker, why);
  if (end) {
    end->evicted = true;
  }
  lose(step, key, worker, why, false, end);
}

void revoke_attempt(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why) {
  lose(step, key, worker, why, false, std::nullopt);
}

void end_gang(Step& step, const AttemptKey& key) {
  const TrialRecord& trial = trial_of(step.state(), key.experiment, key.trial);
  if (!trial.live->gang->all_gone()) {
    return;
  }
  const Gang gang = *trial.live->gang;
  const Course course = course_of(*trial.live);
  const bool lost = gang.ending == Gang::Ending::none || gang.ending == Gang::Ending::lost;
  const bool evicted = gang.exit.cause == ExitReport::Cause::ended_by_agent;
  std::optional<FruitlessEnd> fruitless =
      fruitless_end(trial, step.now(), lost || evicted ? gang.ended_by : WorkerId{},
                    lost && gang.exit.message.empty() ? "a part of it was lost" : gang.exit.message);
  if (fruitless) {
    fruitless->evicted = evicted;
  }
  const Units began_at = trial.live->began_at;
  step.emit(GangEnded{key});
  // Not one that was saved since.
  if (gang.exit.cause == ExitReport::Cause::checkpoint_gone && has_own_checkpoint(trial) &&
      trial.checkpoints->latest_step == began_at) {
    forget_latest_checkpoint(step, key.experiment, key.trial);
  }
  switch (gang.ending) {
    case Gang::Ending::none:
    case Gang::Ending::lost:
      if (trial.state == TrialState::running) {
        run_again_after(step, key.experiment, key.trial, fruitless);
      }
      return;
    case Gang::Ending::by_itself:
    case Gang::Ending::asked_for:
      after_exit(step, key, course, gang.exit,
                 gang.ending == Gang::Ending::by_itself ? Exit::by_itself : Exit::asked_for, fruitless);
      return;
    case Gang::Ending::failed:
      judge_worker(step, gang.ended_by);  // First: what a bad worker did is not the trial's failure.
      after_exit(step, key, course, gang.exit, Exit::failed, fruitless);
      return;
  }
}

}  // namespace hpsearch::engine
