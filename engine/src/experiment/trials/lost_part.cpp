// A store that was brought back from an older copy lacks the last part of its log, and with it the attempts
// that were leased there and the time that others held their slots. Workers have the attempts that still run,
// and say how long they have had them; what ran there and is over is unknown.

#include <algorithm>
#include <string>
#include <vector>

#include "applier.hpp"
#include "event_checks.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

/// Members of an attempt on several workers give their slots back one by one.
std::uint64_t slots_held(const LiveAttempt& live) {
  if (!live.gang) {
    return live.slots.size();
  }
  std::uint64_t slots = 0;
  for (const Gang::Member& member : live.gang->members) {
    slots += member.gone ? 0 : member.slots.size();
  }
  return slots;
}

}  // namespace

void apply(const Applier& applier, const StoreRestored& restored) {
  EngineState& state = applier.state;
  // This event's own Lsn may have been a lease's in what is lost.
  state.numbering.begin_anew(Lsn(applier.event.lsn.number() - 1), restored.numbers_from);
  applier.leave_out(restored.uncounted);
  for (const ExperimentId id : state.going) {
    ExperimentRecord& record = applier.experiment(id);
    record.ran_unlogged = true;
    for (std::size_t i = 0; i < record.trials.size(); ++i) {
      TrialRecord& trial = record.trials[i];
      trial.ran_unlogged = trial.ran_unlogged || !is_closed(trial.state);
      if (trial.live) {
        trial.live->lacks_time = true;
      }
      if (trial.failure_history && trial.failure_history->lost) {
        trial.failure_history->lost->lacks_time = true;
      }
    }
  }
}

std::string problem_with(const EventChecks& checks, const StoreRestored& restored) {
  return checks.state.numbering.may_begin_anew(checks.state.last_lsn, restored.numbers_from)
             ? checks.uncounted(restored.uncounted)
             : "the numbers from " + std::to_string(restored.numbers_from) + " on are given out already";
}

void add_lost_time(Step& step, WorkerId worker, const std::vector<HeldAttempt>& held) {
  for (const HeldAttempt& attempt : held) {
    const TrialRecord* trial = find_trial(step.state(), attempt.key);
    if (trial == nullptr || !trial->live || !trial->live->lacks_time || trial->live->worker != worker ||
        trial->live->known_as() != attempt.key || attempt.held_for <= Duration{}) {
      continue;
    }
    const LiveAttempt& live = *trial->live;
    const Duration counted = live.held_before + (step.now() - live.leased_at);
    // Its worker's clock may be mad: it is not older than its experiment.
    const Duration most = live.leased_at - step.state().experiments.at(attempt.key.experiment).created_at;
    const Duration lacking = Duration::micros(attempt.held_for.in_micros() - counted.in_micros());
    const Duration more = std::clamp(lacking, Duration{}, most);
    step.emit(LeaseTimeAdded{live.key, Duration::millis(more.in_micros() / 1'000)});  // As events have it.
  }
}

void apply(const Applier& applier, const LeaseTimeAdded& added) {
  ExperimentRecord& record = applier.experiment(added.key.experiment);
  LiveAttempt& live = *record.trials[added.key.trial.number()].live;
  live.lacks_time = false;
  live.leased_at = Instant::from_micros(live.leased_at.micros() - added.more.in_micros());
  const Duration more = slots_for(added.more, slots_held(live));
  record.slot_time.add(more, applier.event.at);
  workspace_named(applier.state, record.workspace->name).slot_time.add(more, applier.event.at);
}

std::string problem_with(const EventChecks& checks, const LeaseTimeAdded& added) {
  if (std::string missing = checks.live(added.key); !missing.empty()) {
    return missing;
  }
  const LiveAttempt& live = *checks.find(added.key.experiment, added.key.trial)->live;
  return added.more <= live.leased_at - checks.find(added.key.experiment)->created_at
             ? ""
             : "a lease is not older than its experiment";
}

}  // namespace hpsearch::engine
