#include <algorithm>
#include <string>
#include <utility>

#include "experiment/report_digest.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

enum class Standing {
  live,
  over,
  lost,  ///< Its lease ended while its worker was silent, and no other attempt has its place yet.
  superseded,
  unknown,
};

/// The sender's part of an attempt on several workers is over; others' are not.
Standing standing_in_gang(const Gang& gang, WorkerId worker) {
  const Gang::Member* member = gang.member_on(worker);
  return member != nullptr && member->exited ? Standing::over : Standing::superseded;
}

/// The relation of the sender of `key` to its trial.
Standing standing_of(const EngineState& state, const AttemptKey& key, WorkerId worker) {
  const TrialRecord* known = find_granted_trial(state, worker, key);
  if (known == nullptr) {
    const auto sender = state.workers.find(worker);
    const bool disowned = sender != state.workers.end() && sender->second.disowned.contains(key);
    const bool is_deleted = state.deleted.contains(key.experiment);
    return disowned || is_deleted ? Standing::superseded : Standing::unknown;
  }
  const TrialRecord& trial = *known;
  if (trial.live && trial.live->key == key) {
    if (trial.live->part_on(worker)) {
      return Standing::live;
    }
    if (trial.live->gang) {
      return standing_in_gang(*trial.live->gang, worker);
    }
  }
  if (trial.failure_history && trial.failure_history->lost && trial.failure_history->lost->key == key &&
      trial.failure_history->lost->worker == worker) {
    return Standing::lost;
  }
  return trial.last_lease == key.lease && !trial.live && trial.exited ? Standing::over : Standing::superseded;
}

/// As it is kept: metrics in order, and no step beyond the longest length there is.
void tidy(Report& report) {
  if (auto* metrics = std::get_if<MetricsReport>(&report)) {
    metrics->step = std::min(metrics->step, Units{INT64_MAX});
    std::stable_sort(metrics->metrics.begin(), metrics->metrics.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
}

/// Its program failed on this worker before, without a report, and had no chance to show elsewhere whose
/// fault that is. A worker on which every program fails would use up all tries of every trial that no user
/// else has a slot for.
bool fails_again_there(const EngineState& state, const ExperimentRecord& record, const TrialRecord& trial,
                       WorkerId worker) {
  constexpr std::uint32_t most = 120;  // An hour, as long as the others are busy with something else.
  return !state.trusts_workers && !trial.live->gang && !trial.live->external && trial.failure_history &&
         trial.failure_history->crashes > 0 && trial.failure_history->crashes <= most &&
         trial.failure_history->crashed_on == worker && others_serve(state, record.config.resources, worker);
}

/// One report of a live attempt. False when it was the last one.
bool take(Step& step, const AttemptKey& key, std::uint64_t seq, Report report) {
  tidy(report);
  const ExperimentRecord& record = step.state().experiments.at(key.experiment);
  const TrialRecord& trial = record.trials[key.trial.number()];
  const auto* exit = std::get_if<ExitReport>(&report);
  const bool never_ran = exit != nullptr && is_never_run(*exit);
  if (!trial.live->started && !never_ran) {
    step.emit(AttemptStarted{key});  // Its own message was lost; this one says it too.
  }
  if (exit != nullptr) {
    const ExitReport copy = blamed_on_its_end(step.state(), *trial.live, trial.live->worker, *exit);
    const bool failed = is_failure(trial, copy);
    // An attempt that may have come further than is known here ended for unknown reasons, too.
    const bool asked = trial.live->has_unlogged_decision || trial.live->is_ending();
    const Course course = course_of(*trial.live);
    const WorkerId worker = trial.live->worker;
    const AttemptKey as_known = trial.live->known_as();
    const std::vector<SlotIndex> slots = trial.live->slots;
    const bool in_gang = trial.live->gang.has_value();
    const bool workers_own = !failed && !trial.live->external && copy.cause != ExitReport::Cause::exited &&
                             copy.cause != ExitReport::Cause::checkpoint_gone;
    std::optional<FruitlessEnd> fruitless =
        fruitless_end(trial, step.now(), workers_own ? worker : WorkerId{}, copy.message);
    if (fruitless) {
      fruitless->evicted = copy.cause == ExitReport::Cause::ended_by_agent;
      fruitless->again_there = failed && fails_again_there(step.state(), record, trial, worker);
    }
    const bool on_probation = is_on_probation(step.state(), worker, key);
    step.emit(ReportTaken{key, seq, copy});
    if (copy.unkillable) {
      quarantine_slots(step, worker, as_known, slots);
    }
    if (in_gang) {
      end_gang(step, key);
      return false;
    }
    if (copy.cause == ExitReport::Cause::checkpoint_gone) {
      forget_latest_checkpoint(step, key.experiment, key.trial);
    }
    if (failed) {
      judge_worker(step, worker);  // First: what a bad worker did is not the trial's failure.
    }
    if (on_probation && fruitless && (failed || fruitless->culprit != WorkerId{}) && !fruitless->evicted) {
      end_probation(step, worker, false);
    }
    after_exit(step, key, course, copy,
               failed  ? Exit::failed
               : asked ? Exit::asked_for
                       : Exit::by_itself,
               fruitless);
    return false;
  }
  const auto* invalid = std::get_if<InvalidHparamsReport>(&report);
  const std::string why = invalid != nullptr ? invalid->why : "";
  const auto* metrics = std::get_if<MetricsReport>(&report);
  const bool measured =
      metrics != nullptr && find_metric(metrics->metrics, record.config.searcher.metric) != nullptr;
  const bool overdue = metrics != nullptr && is_overdue(record, trial, *metrics);
  const bool is_invalid = invalid != nullptr;
  const bool speaks_well = !std::holds_alternative<NoteReport>(report);
  const WorkerId where = trial.live->worker;
  const WorkerId marked_on =
      speaks_well && trial.failure_history ? trial.failure_history->marked_on : WorkerId{};
  const auto* unmeasured = std::get_if<UnmeasuredReport>(&report);
  const std::optional<Units> stands_at =
      unmeasured != nullptr ? std::optional(unmeasured->step) : std::nullopt;
  step.emit(ReportTaken{key, seq, std::move(report)});
  if (marked_on != WorkerId{}) {
    judge_worker(step, marked_on);
  }
  if (speaks_well && is_on_probation(step.state(), where, key)) {
    end_probation(step, where, true);
  }
  if (trial.state != TrialState::running) {
    return true;  // Late: on record, but its fate is decided.
  }
  if (is_invalid && record.state != ExperimentState::stopping) {
    const std::string detail = "invalid hyperparameters" + (why.empty() ? std::string() : ": " + why);
    close_all_that_can_be(step, key.experiment);
    step.emit(TrialExitedEarly{key.experiment, key.trial, ExitReason::invalid_hp, detail});
    Reason reason;
    reason.why = Reason::Why::early_exit;
    reason.detail = detail;
    step.emit(TrialEnded{key.experiment, key.trial, TrialState::stopped, reason});
    give_up_if_hopeless(step, key.experiment);
  } else if (measured) {
    if (!stop_if_diverged(step, key.experiment, key.trial)) {
      reach_lengths(step, key.experiment, key.trial);
      stop_by_rule(step, key.experiment, key.trial);
    }
  } else if (overdue) {
    fail_overdue(step, key.experiment, key.trial);
  } else if (stands_at) {
    take_unmeasured(step, key.experiment, key.trial, *stands_at);
  }
  return true;
}

/// The report taken last comes again under its number, and is another one: whoever speaks for this attempt
/// counts wrongly, so nothing it says can be trusted to count once.
bool contradicts(const LiveAttempt& live, TakeReports& command) {
  if (live.applied_seq < command.first_seq ||
      live.applied_seq - command.first_seq >= command.reports.size() || live.last_digest == 0) {
    return false;
  }
  Report& again = command.reports[live.applied_seq - command.first_seq];
  tidy(again);
  return digest_of(again) != live.last_digest;
}

}  // namespace

Status confirm_start(Step& step, const ConfirmStart& command) {
  switch (standing_of(step.state(), command.key, command.worker)) {
    case Standing::live:
      if (const AttemptPart part = *trial_of(step.state(), command.key.experiment, command.key.trial)
                                        .live->part_on(command.worker);
          !part.started) {
        step.emit(AttemptStarted{command.key, part.rank > 0 ? command.worker : WorkerId{}});
      }
      break;
    case Standing::over:
      break;
    case Standing::lost:
      step.effects().orders.emplace_back(GreetAgain{command.worker});
      break;
    case Standing::superseded:
      step.effects().orders.emplace_back(FenceAttempt{command.worker, command.key});
      break;
    case Standing::unknown:
      step.effects().orders.emplace_back(HoldAttempt{command.worker, command.key});
      break;
  }
  return Done{};
}

Status take_reports(Step& step, TakeReports command) {
  const AttemptKey& key = command.key;
  auto& orders = step.effects().orders;
  switch (standing_of(step.state(), key, command.worker)) {
    case Standing::live:
      break;
    case Standing::over:
      // Its exit was taken, which is the last report: of a rank above 0, another number than its trial's.
      orders.emplace_back(AckReports{command.worker, key,
                                     std::max(trial_of(step.state(), key.experiment, key.trial).last_seq,
                                              command.first_seq + command.reports.size() - 1)});
      return Done{};
    case Standing::lost:
      orders.emplace_back(GreetAgain{command.worker});  // All that it holds is checked at once.
      return Done{};
    case Standing::superseded:
      orders.emplace_back(FenceAttempt{command.worker, key, command.reports.size()});
      return Done{};
    case Standing::unknown:
      orders.emplace_back(HoldAttempt{command.worker, key});
      return Done{};
  }
  const LiveAttempt& live = *trial_of(step.state(), key.experiment, key.trial).live;
  if (live.part_on(command.worker)->rank > 0) {
    take_member_reports(step, command);
    return Done{};
  }
  const std::uint64_t applied = live.applied_seq;
  if (contradicts(live, command)) {
    orders.emplace_back(FenceAttempt{command.worker, key, command.reports.size()});
    lose_attempt(step, key, command.worker,
                 "its worker sent two different reports as number " + std::to_string(applied));
    return Done{};
  }
  if (command.first_seq > applied + 1) {
    orders.emplace_back(ResendReports{command.worker, key, applied + 1});
    return Done{};
  }
  std::uint64_t seq = command.first_seq;
  for (Report& report : command.reports) {
    if (seq > applied && !take(step, key, seq, std::move(report))) {
      break;
    }
    ++seq;
  }
  orders.emplace_back(
      AckReports{command.worker, key, trial_of(step.state(), key.experiment, key.trial).last_seq});
  return Done{};
}

}  // namespace hpsearch::engine
