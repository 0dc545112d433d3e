// A trial's course: what a reached length, an exit or a loss means for it.

#include <optional>
#include <string>
#include <utility>

#include "experiment/retention.hpp"
#include "hpsearch/engine/base/amount.hpp"
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
      step.emit(TrialPaused{id, number, because(Reason::Why::user, "the experiment is paused")});
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
                const std::string& detail) {
  close_all_that_can_be(step, id);
  step.emit(TrialExitedEarly{id, number, exit, detail});
  end(step, id, number, state, because(Reason::Why::early_exit, detail));
}

/// The same after an attempt that may have been fruitless: the trial waits a while, or has had too many.
void run_again_after(Step& step, ExperimentId id, TrialNumber number,
                     const std::optional<FruitlessEnd>& fruitless) {
  if (!fruitless) {
    run_again(step, id, number);
    return;
  }
  const std::uint64_t times = fruitless_with(step.state(), *fruitless);
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

/// The program ended well; `reached` is what this attempt reported, `granted` what it was started for.
void after_good_exit(Step& step, ExperimentId id, TrialNumber number, Units granted, Units reached) {
  const ExperimentRecord& record = experiment_of(step, id);
  const TrialRecord& trial = record.trials[number.number()];
  const std::string& metric = record.config.searcher.metric;
  if (!trial.latest) {
    const std::string others =
        trial.other_metrics ? "; it reported " + *trial.other_metrics : "; it reported no metrics";
    exit_early(
        step, id, number, ExitReason::errored, TrialState::failed,
        "the program exited with code 0 but never reported searcher.metric \"" + metric + "\"" + others);
    return;
  }
  if (reached < granted) {
    exit_early(step, id, number, ExitReason::user_stopped, TrialState::stopped,
               "its program exited at " + amount(record, reached) + " of " + amount(record, granted));
    return;
  }
  if (count(trial.latest->step) <
      count(granted)) {  // At its length, but without the metric there: ranks as worst.
    step.emit(TrialQueued{id, number});
    reach_lengths(step, id, number);
    return;
  }
  run_again(step, id, number);  // Promoted in place, but it knew only the length it was started for.
}

}  // namespace

void reach_lengths(Step& step, ExperimentId id, TrialNumber number) {
  for (;;) {
    const ExperimentRecord& record = experiment_of(step, id);
    const TrialRecord& trial = record.trials[number.number()];
    const bool has_metric = trial.latest && trial.latest->step >= trial.length;
    const bool open = trial.state == TrialState::running || trial.state == TrialState::pending;
    const bool there = has_metric || (trial.reached >= trial.length && !trial.live && trial.exited);
    if (!open || !there || is_ended(record.state) || record.state == ExperimentState::stopping) {
      return;
    }
    const bool was_running = trial.live && trial.state == TrialState::running;
    step.emit(LengthReached{id, number, trial.length, has_metric ? trial.latest->step : trial.reached,
                            has_metric ? std::optional(trial.latest->metric) : std::nullopt});
    Verdict verdict = record.searcher->verdict(number);
    switch (verdict.action) {
      case Verdict::Action::train_on:
        step.emit(TrialPromoted{id, number, verdict.length, was_running, std::move(verdict.reason)});
        break;
      case Verdict::Action::pause:
        step.emit(TrialPaused{id, number, std::move(verdict.reason)});
        break;
      case Verdict::Action::stop: {
        const bool full = trial.length >= record.config.searcher.max_length;
        end(step, id, number, full ? TrialState::completed : TrialState::stopped, std::move(verdict.reason));
        break;
      }
    }
  }
}

void after_exit(Step& step, const AttemptKey& key, Units granted, Units reached, const ExitReport& report,
                Exit exit, const std::optional<FruitlessEnd>& fruitless) {
  const ExperimentRecord& record = experiment_of(step, key.experiment);
  const TrialRecord& trial = record.trials[key.trial.number()];
  if (trial.state != TrialState::running) {
    return;  // Its fate was decided before it ended: paused at a rung, promoted meanwhile, or closed.
  }
  if (record.state == ExperimentState::stopping) {
    run_again(step, key.experiment, key.trial);
    return;
  }
  if (exit == Exit::failed) {
    const std::string cause = report.message.empty() ? "its program failed" : report.message;
    if (trial.restarts > record.config.max_restarts) {
      exit_early(step, key.experiment, key.trial, ExitReason::errored, TrialState::failed, cause);
    } else {
      run_again_after(step, key.experiment, key.trial, fruitless);
    }
    return;
  }
  const bool well = report.cause == ExitReport::Cause::exited && report.code == 0;
  if (well && exit == Exit::by_itself && record.state == ExperimentState::active) {
    after_good_exit(step, key.experiment, key.trial, granted, reached);
    return;
  }
  run_again_after(step, key.experiment, key.trial, fruitless);
}

Status end_trial(Step& step, const EndTrial& command) {
  const auto found = step.state().experiments.find(command.experiment);
  if (found == step.state().experiments.end()) {
    return Error{Errc::not_found, "there is no experiment " + std::to_string(command.experiment.number())};
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

void revoke_attempt(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why) {
  lose(step, key, worker, why, false, std::nullopt);
}

void end_gang(Step& step, const AttemptKey& key) {
  const TrialRecord& trial = trial_of(step.state(), key.experiment, key.trial);
  if (!trial.live->gang->all_gone()) {
    return;
  }
  const Gang gang = *trial.live->gang;
  const Units granted = trial.live->granted_length;
  const Units reached = trial.live->reached;
  const bool lost = gang.ending == Gang::Ending::none || gang.ending == Gang::Ending::lost;
  const std::optional<FruitlessEnd> fruitless =
      fruitless_end(trial, step.now(), lost ? gang.ended_by : WorkerId{},
                    lost && gang.exit.message.empty() ? "a part of it was lost" : gang.exit.message);
  step.emit(GangEnded{key});
  // Not one that was saved since.
  if (gang.exit.cause == ExitReport::Cause::checkpoint_gone && has_own_checkpoint(trial)) {
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
      after_exit(step, key, granted, reached, gang.exit,
                 gang.ending == Gang::Ending::by_itself ? Exit::by_itself : Exit::asked_for, fruitless);
      return;
    case Gang::Ending::failed:
      judge_worker(step, gang.ended_by);  // First: what a bad worker did is not the trial's failure.
      after_exit(step, key, granted, reached, gang.exit, Exit::failed, fruitless);
      return;
  }
}

}  // namespace hpsearch::engine
