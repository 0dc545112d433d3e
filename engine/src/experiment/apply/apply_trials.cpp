#include <algorithm>
#include <optional>
#include <utility>

#include "applier.hpp"
#include "event_checks.hpp"
#include "experiment/trials/first_failures.hpp"
#include "experiment/trials/retention.hpp"
#include "experiment/trials/trained_length.hpp"

namespace hpsearch::engine {

void move(ExperimentRecord& experiment, TrialRecord& trial, TrialMove step) {
  const Result<TrialState> next = next_state(trial.state, step);
  HPSEARCH_CHECK(next.has_value(), "events move trials only where they can go");
  --experiment.by_state[static_cast<std::size_t>(trial.state)];
  trial.state = next.value();
  ++experiment.by_state[static_cast<std::size_t>(trial.state)];
  if (is_closed(trial.state)) {
    experiment.tally.closed(trial);
  }
}

void decide(TrialRecord& trial, Lsn id, Directive directive, bool may_finish) {
  if (!trial.live) {
    return;
  }
  if (trial.live->is_ending() && directive <= trial.live->decision->directive) {
    return;
  }
  trial.live->decision = Decision{id, directive, trial.length, may_finish};
}

void hurry(TrialRecord& trial, Lsn id) {
  if (trial.live && trial.live->is_ending() && trial.live->decision->may_finish) {
    trial.live->decision = Decision{id, trial.live->decision->directive, trial.length, false};
  }
}

void note_settled(ExperimentRecord& record, TrialNumber number) {
  const TrialRecord& trial = record.trials[number.number()];
  if (is_settled(trial) && trial.checkpoints && !trial.checkpoints->kept.empty()) {
    record.uncollected.insert(number);
  }
}

void note_best(ExperimentRecord& record, Instant now) {
  const Measurement& best = *record.trials[record.best->number()].best;
  std::vector<BestPoint>& history = record.best_history;
  const bool smaller = record.config.searcher.smaller_is_better;
  if (history.empty() ||
      (smaller ? best.metric < history.back().metric : best.metric > history.back().metric)) {
    const Instant since = record.slot_time.since();
    history.push_back({*record.best, best.step, best.metric, now,
                       record.slot_time.until(std::max(now, since)), record.trials.size()});
  }
}

void note_invalid(ExperimentRecord& record, TrialNumber number, Instant now) {
  TrialRecord& trial = record.trials[number.number()];
  if (trial.invalid) {
    return;
  }
  trial.invalid = true;
  trial.best = {};
  for (std::size_t i = 0; trial.checkpoints && i < trial.checkpoints->kept.size(); ++i) {
    record.best_checkpoints.gone(record.trials, number, trial.checkpoints->kept[i].path);
  }
  std::erase_if(record.best_history, [number](const BestPoint& point) { return point.trial == number; });
  if (record.best != number) {
    return;
  }
  record.best.reset();
  const bool smaller = record.config.searcher.smaller_is_better;
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    const std::optional<Measurement>& held = record.trials[i].best;
    if (!held) {
      continue;
    }
    const double metric = held->metric;
    const double best = record.best ? record.trials[record.best->number()].best->metric : metric;
    if (!record.best || (smaller ? metric < best : metric > best)) {
      record.best = TrialNumber(i);
    }
  }
  if (record.best) {
    note_best(record, now);
  }
}

void apply(const Applier& applier, const TrialCreated& created) {
  ExperimentRecord& record = applier.experiment(created.experiment);
  TrialRecord trial;
  trial.id = created.id;
  trial.length = created.length;
  trial.reason = created.reason;
  trial.created_at = applier.event.at;
  record.trials.push_back(std::move(trial));
  record.tally.created(record.trials, created.length);
  record.hparams.push_back(created.hparams);
  record.pending.insert(created.trial);
  ++record.by_state[static_cast<std::size_t>(TrialState::pending)];
  applier.state.last_trial_id = std::max(applier.state.last_trial_id, created.id.number());
  record.searcher->on_event(TrialWasCreated{created.trial, created.hparams, created.length});
}

std::string problem_with(const EventChecks& checks, const TrialCreated& created) {
  const ExperimentRecord* record = checks.find(created.experiment);
  if (record == nullptr) {
    return checks.experiment(created.experiment);
  }
  if (const std::string over = checks.going(created.experiment); !over.empty()) {
    return over;
  }
  return created.trial.number() == record->trials.size() ? checks.reason(created.reason)
                                                         : "trials count up by one";
}

void apply(const Applier& applier, const TrialPromoted& promoted) {
  ExperimentRecord& record = applier.experiment(promoted.experiment);
  TrialRecord& trial = record.trials[promoted.trial.number()];
  const bool goes_back = !promoted.in_place && trial.state == TrialState::running;
  move(record, trial, goes_back ? TrialMove::run_again : TrialMove::promote);
  const std::optional<Units> own = own_length(trial);
  const Units before = std::exchange(trial.length, promoted.length);
  record.tally.asked(record.trials, before, promoted.length);
  record.tally.own(record.trials, own, own_length(trial));
  trial.reason = promoted.reason;
  if (promoted.in_place) {
    decide(trial, applier.decision_id(), Directive::train_on);
  } else {
    record.pending.insert(promoted.trial);
  }
  record.searcher->on_event(TrialWasPromoted{promoted.trial, promoted.length});
}

std::string problem_with(const EventChecks& checks, const TrialPromoted& promoted) {
  const TrialRecord* record = checks.find(promoted.experiment, promoted.trial);
  const bool goes_back = record != nullptr && !promoted.in_place && record->state == TrialState::running;
  const std::string stays = checks.moves(promoted.experiment, promoted.trial,
                                         goes_back ? TrialMove::run_again : TrialMove::promote);
  if (!stays.empty()) {
    return stays;
  }
  if (const std::string over = checks.going(promoted.experiment); !over.empty()) {
    return over;
  }
  const std::string who = "trial " + std::to_string(promoted.trial.number());
  if (promoted.in_place && record->state != TrialState::running) {
    return who + " does not run, and goes on where it is";
  }
  if (!may_be_promoted(*checks.find(promoted.experiment), promoted.trial)) {
    return who + " does not wait for a promotion";
  }
  return checks.reason(promoted.reason);
}

void apply(const Applier& applier, const LengthReached& reached) {
  ExperimentRecord& record = applier.experiment(reached.experiment);
  if (reached.metric) {
    note_length_with(record, reached.trial, *reached.metric);
  }
  if (reached.ended) {
    end_at(record, reached.trial, reached.step);
  } else if (count(reached.step) + 1 == count(reached.length)) {
    complete_last_unit(record, reached.trial);
  }
  record.searcher->on_event(TrialValidated{
      reached.trial, reached.length, Score::from_metric(reached.metric, record.config.searcher.goal())});
}

std::string problem_with(const EventChecks& checks, const LengthReached& reached) {
  const TrialRecord* record = checks.find(reached.experiment, reached.trial);
  if (record == nullptr) {
    return checks.trial(reached.experiment, reached.trial);
  }
  return reached.length == record->length ? "" : "its trial was asked for another length";
}

void apply(const Applier& applier, const TrialPaused& paused) {
  ExperimentRecord& record = applier.experiment(paused.experiment);
  TrialRecord& trial = record.trials[paused.trial.number()];
  move(record, trial, TrialMove::pause);
  stop_waiting(record, paused.trial);
  trial.reason = paused.reason;
  trial.awaits_resume =
      paused.reason.why == Reason::Why::user || paused.reason.why == Reason::Why::paused_itself;
  if (!trial.awaits_resume) {
    decide(trial, applier.decision_id(), Directive::pause, /*may_finish=*/true);
  }
}

std::string problem_with(const EventChecks& checks, const TrialPaused& paused) {
  const std::string stays = checks.moves(paused.experiment, paused.trial, TrialMove::pause);
  return stays.empty() ? checks.reason(paused.reason) : stays;
}

void apply(const Applier& applier, const TrialQueued& queued) {
  ExperimentRecord& record = applier.experiment(queued.experiment);
  TrialRecord& trial = record.trials[queued.trial.number()];
  if (trial.state == TrialState::canceled) {  // With its experiment, which goes on now.
    record.tally.reopened(trial);
    Reason reason;
    reason.why = Reason::Why::user;
    reason.detail = "its experiment continues";
    trial.reason = reason;
    trial.ended_at = {};
    record.uncollected.erase(queued.trial);
  }
  move(record, trial, TrialMove::run_again);
  trial.awaits_resume = false;
  wait_for_slot(applier.state, record, queued.trial, applier.event.at);
}

std::string problem_with(const EventChecks& checks, const TrialQueued& queued) {
  const std::string stays = checks.moves(queued.experiment, queued.trial, TrialMove::run_again);
  return stays.empty() ? checks.going(queued.experiment) : stays;
}

void apply(const Applier& applier, const TrialRetried& retried) {
  ExperimentRecord& record = applier.experiment(retried.experiment);
  TrialRecord& trial = record.trials[retried.trial.number()];
  record.tally.reopened(trial);
  move(record, trial, TrialMove::retry);
  Reason reason;
  reason.why = Reason::Why::user;
  reason.detail = retried_by_user;
  trial.reason = reason;
  trial.ended_at = {};
  trial.awaits_resume = false;
  record.uncollected.erase(retried.trial);
  record.first_failures.alike.erase(retried.trial);  // It waits for no others: a user wants it.
  wait_for_slot(applier.state, record, retried.trial, applier.event.at);
  record.searcher->on_event(
      TrialWasRetried{retried.trial, record.hparams[retried.trial.number()], trial.length});
}

std::string problem_with(const EventChecks& checks, const TrialRetried& retried) {
  const std::string stays = checks.moves(retried.experiment, retried.trial, TrialMove::retry);
  if (!stays.empty()) {
    return stays;
  }
  const std::string over = checks.going(retried.experiment);
  return over.empty() ? checks.find(retried.experiment)->searcher->obstacle_to_retry(retried.trial) : over;
}

void apply(const Applier& applier, const TrialExitedEarly& exited) {
  ExperimentRecord& record = applier.experiment(exited.experiment);
  if (exited.exit == ExitReason::invalid_hp) {
    note_invalid(record, exited.trial, applier.event.at);
  }
  if (exited.unmeasured) {
    note_unmeasured(record, exited.trial, exited.detail);
  }
  record.searcher->on_event(TrialExited{exited.trial, exited.exit});
}

std::string problem_with(const EventChecks& checks, const TrialExitedEarly& exited) {
  return checks.trial(exited.experiment, exited.trial);
}

namespace {

bool is_searchers_decision(Reason::Why why) {
  return why != Reason::Why::early_exit && why != Reason::Why::user && why != Reason::Why::paused_itself &&
         why != Reason::Why::experiment_end;
}

/// Its program has not reached its length, and has nothing to finish there.
bool is_early_stop(Reason::Why why) {
  return why == Reason::Why::worse_than_others || why == Reason::Why::no_improvement;
}

}  // namespace

void apply(const Applier& applier, const TrialEnded& ended) {
  ExperimentRecord& record = applier.experiment(ended.experiment);
  TrialRecord& trial = record.trials[ended.trial.number()];
  const bool waited_at_rung = trial.state == TrialState::paused && !trial.awaits_resume;
  move(record, trial, move_that_ends(ended.state));
  trial.awaits_resume = ended.state == TrialState::canceled && !waited_at_rung;
  stop_waiting(record, ended.trial);
  trial.reason = ended.reason;
  trial.ended_at = applier.event.at;
  trial.failure_history.reset();
  if (trial.best && (ended.state == TrialState::completed || ended.state == TrialState::stopped)) {
    record.first_failures.over = true;
    record.first_failures.alike.clear();
  }
  record.ahead.erase(ended.trial);
  note_settled(record, ended.trial);
  const bool searcher_decided = is_searchers_decision(ended.reason.why);
  if (record.stop_at_once) {
    decide(trial, applier.decision_id(), Directive::kill);
  } else {
    decide(trial, applier.decision_id(), Directive::stop,
           /*may_finish=*/searcher_decided && !is_early_stop(ended.reason.why));
  }
  if (searcher_decided) {
    record.searcher->on_event(TrialWasClosed{ended.trial});
  }
}

std::string problem_with(const EventChecks& checks, const TrialEnded& ended) {
  if (!is_closed(ended.state)) {
    return "it does not end by that";
  }
  const std::string stays = checks.moves(ended.experiment, ended.trial, move_that_ends(ended.state));
  if (!stays.empty()) {
    return stays;
  }
  const ExperimentRecord& record = *checks.find(ended.experiment);
  // It does not hear of what ends with its experiment.
  const bool unknown_to_searcher = record.state != ExperimentState::stopping &&
                                   !is_searchers_decision(ended.reason.why) &&
                                   may_be_promoted(record, ended.trial);
  return unknown_to_searcher ? "its searcher has not heard why" : checks.reason(ended.reason);
}

}  // namespace hpsearch::engine
