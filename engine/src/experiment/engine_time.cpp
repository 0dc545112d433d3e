// Engine time stands still while no daemon runs. The instants of events do not: they follow the wall clock at
// each start, for people to read. So the first event of a start says how much of the time before it does not
// count, and whatever waits for a time, or adds time up, moves by that.

#include <string>

#include "applier.hpp"
#include "event_checks.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

/// Only experiments that wait for a time have anything to move.
bool somebody_waits(const EngineState& state, Instant now) {
  if (!state.going.empty()) {
    return true;
  }
  for (const auto& [id, worker] : state.workers) {
    if (worker.rests_until > now) {
      return true;
    }
  }
  return false;
}

/// O(its trials that run or wait for a slot). A trial that is paused in the middle of a wait may have waited
/// enough when it is resumed: that is minutes.
void move_by(ExperimentRecord& record, Duration span, Instant before) {
  if (record.first_lease_at != Instant{}) {
    record.uncounted = record.uncounted + span;
  }
  if (Instant& start = record.first_failures.first_start; start != Instant{} && before < start + first_look) {
    start = start + span;
  }
  record.slot_time.skip(span, before);
  for (const TrialNumber number : record.running) {
    LiveAttempt& live = *record.trials[number.number()].live;
    live.leased_at = live.leased_at + span;
  }
  for (const TrialNumber number : record.pending) {
    TrialRecord& trial = record.trials[number.number()];
    if (trial.failure_history && trial.failure_history->not_before > before) {
      trial.failure_history->not_before = trial.failure_history->not_before + span;
    }
  }
}

}  // namespace

Status continue_time(Step& step) {
  const EngineState& state = step.state();
  const Duration away = step.now() - state.last_instant;
  const Duration uncounted = Duration::millis(away.in_micros() / 1'000);  // As events have it.
  if (state.last_lsn != Lsn{} && uncounted > Duration{} && somebody_waits(state, state.last_instant)) {
    step.emit(TimeNoted{uncounted});
  }
  return Done{};
}

Status note_time(Step& step) {
  if (step.now() > step.state().last_instant) {
    step.emit(TimeNoted{});
  }
  return Done{};
}

void Applier::leave_out(Duration uncounted) const {
  if (uncounted == Duration{}) {
    return;
  }
  const Instant before = Instant::from_micros(event.at.micros() - uncounted.in_micros());
  for (const ExperimentId id : state.going) {
    move_by(experiment(id), uncounted, before);
  }
  for (auto& [name, workspace] : state.workspaces) {
    workspace.slot_time.skip(uncounted, before);
  }
  for (auto& [id, worker] : state.workers) {
    if (worker.start_failures > 0) {
      worker.last_start_failure = worker.last_start_failure + uncounted;
    }
    if (worker.rests_until > before) {
      worker.rests_until = worker.rests_until + uncounted;
    }
  }
  note_delayed_starts(state, event.at);
}

std::string EventChecks::uncounted(Duration time) const {
  return time <= at - state.last_instant ? ""
                                         : "more time does not count than has passed since the event before";
}

void apply(const Applier& applier, const TimeNoted& noted) {
  applier.leave_out(noted.uncounted);
}

std::string problem_with(const EventChecks& checks, const TimeNoted& noted) {
  return checks.uncounted(noted.uncounted);
}

}  // namespace hpsearch::engine
